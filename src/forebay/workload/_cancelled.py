"""Jobs that their users withdrew before they started: what all formats say of them, and how their times are taken.

Such a record has no run time. Kept, it is withdrawn as long after its submission as it was then; should it start
before, it needs some run time, and its walltime is taken, or where it has none the time until it is withdrawn.
"""

import polars as pl

from forebay._support.text import counted

DROPPED = "cancelled before it started"
"""Why such a record is left out."""

UNTOLD = "cancelled at once, or not known when"
"""Why one is left out even where they are kept."""


def kept_notes(count: int) -> list[str]:
    """What it means that such jobs are kept."""
    if not count:
        return []
    who = counted(count, "job cancelled before it started is", "jobs cancelled before they started are")
    return [
        f"{who} kept: withdrawn as long after submission as then",
        "the run time of cancelled jobs is not known: their walltime is taken, or without one their time until then",
    ]


def untimed(jobs: pl.DataFrame) -> pl.Series:
    """Which jobs are cancelled and have just the run time that is taken where none is known."""
    taken = pl.when(pl.col("walltime").is_finite()).then("walltime").otherwise("cancel")
    known = (pl.col("run_time") != taken) | (pl.col("flop") != 0)
    return jobs.select(untimed=pl.col("cancel").is_finite() & ~known)["untimed"]


def written_notes(jobs: pl.DataFrame) -> list[str]:
    """What becomes of cancelled jobs in a format that can tell of those only that never started."""
    without = untimed(jobs)
    others = int((jobs["cancel"].is_finite() & ~without).sum())
    notes = []
    if without.any():
        notes.append(
            f"{counted(int(without.sum()), 'cancelled job is', 'cancelled jobs are')} written as never started: read "
            "back, such records are left out unless you ask for them (--keep-cancelled)"
        )
    if others:
        notes.append(f"cancel of {counted(others, 'job')} with a known run time is not written, the run time is")
    return notes
