"""Why every job of a run waited, in pieces of time that add up to its wait."""

import numpy as np
import polars as pl

from forebay.algorithms.waiting import PIECE
from forebay.core.units import format_seconds
from forebay.explain._causes import causes_of
from forebay.explain._dependencies import before_the_queue
from forebay.explain._policy import front_of
from forebay.explain._replay import scene
from forebay.explain._words import REASONS, table_of
from forebay.results import Result

COLUMNS = ("job_id", "leg", "start", "end", "seconds", "reason", "slurm", "missing", "detail", "blocker")
_KIND, _REASON = pl.col("kind").cast(pl.String), pl.col("reason").cast(pl.String)


def reasons(result: Result) -> pl.DataFrame:
    """Why each job of a run waited: a row for each piece of time with one reason, by job and start.

    Columns: `job_id`, `leg` (that it waited for), `start`, `end`, `seconds`, `reason` (one of `REASONS`), `slurm` (what
    `squeue` would show), `missing` (what is short, or null), `detail` (a sentence) and `blocker` (the job in the way
    for longest, or null). Of one job, all but `stage_in` and `dependency` add up to its `total_wait`, and all but
    `stage_in` up to its first start to its `waiting_time`. A job that started as soon as it came has no row.

    Examples
    --------
    >>> result = fb.simulate("table1", policy="fcfs-easy")
    >>> why = fb.explain.reasons(result)
    >>> why.filter(job_id=3).select("seconds", "reason", "blocker").rows()
    [(540.0, 'burst_buffer', 1)]
    """
    front = front_of(result)
    found = scene(result, front)
    table = table_of(result, found, _lasting(causes_of(found)), front)
    both = pl.concat([table, _staging(result), before_the_queue(result)]).sort("job_id", "start", maintain_order=True)
    wanted = result.jobs.select(pl.col("job_id").cast(pl.Int64))
    return (
        both.join(wanted, on="job_id", how="semi", maintain_order="left")  # of a window, those in it
        .with_columns(pl.col("slurm").fill_null(pl.col("reason").replace_strict(REASONS, return_dtype=pl.String)))
        .select(COLUMNS)
    )


def _lasting(pieces: np.ndarray) -> np.ndarray:
    """Pieces that last longer than an instant: a shorter one is the rounding of its ends."""
    width = np.minimum(1e-9 * np.maximum(1.0, np.abs(pieces["end"])), 1e-6)
    lasting: np.ndarray = pieces[pieces["end"] - pieces["start"] > width]
    return lasting


def longest(result: Result, most: int) -> pl.DataFrame:
    """The longest reasons of each job, so many at most: those in the same words are one.

    Columns: `job_id`, `reason`, `detail` and `seconds`, by job, the longest first. The same can be had of `reasons`;
    but a long queue has hundreds of thousands of pieces, and here only the longest that differ are put into words.
    """
    front = front_of(result)
    found = scene(result, front)
    table = table_of(result, found, _together(causes_of(found), found.waits.table["job"], _WORDED * most), front)
    keys = ["job_id", "reason", "detail"]
    both = pl.concat([one.select(*keys, "seconds") for one in (table, _staging(result))])
    return (
        both.lazy()
        .join(result.jobs.lazy().select(pl.col("job_id").cast(pl.Int64)), on="job_id", how="semi")
        .group_by(keys, maintain_order=True)  # so that sums are the same every time
        .agg(pl.col("seconds").sum())
        .filter(pl.col("seconds") > 0)
        .sort("job_id", "seconds", "reason", "detail", descending=[False, True, False, False])
        .group_by("job_id", maintain_order=True)
        .head(most)
        .collect()
    )


_WORDED = 8
"""Pieces that are put into words for each that is wanted: some differ in numbers, and not in words."""


def _together(pieces: np.ndarray, jobs: np.ndarray, most: int) -> np.ndarray:
    """Pieces of a wait that differ in nothing but when they were, as one that lasts as long: it begins at 0.

    Of each job the longest, so many at most.
    """
    names = [name for name in PIECE.names or () if name not in ("start", "end")]
    columns = {name: pieces[name] for name in names} | {"end": pieces["end"] - pieces["start"]}
    merged = (
        pl.LazyFrame(columns | {"job": jobs[pieces["wait"]]})
        .group_by("job", *names, maintain_order=True)
        .agg(pl.col("end").sum())
        .sort("end", descending=True, maintain_order=True)
        .group_by("job", maintain_order=True)
        .head(most)
        .collect()
    )
    table = np.zeros(merged.height, PIECE)
    for name in (*names, "end"):
        table[name] = merged[name].to_numpy()
    return table


def _staging(result: Result) -> pl.DataFrame:
    """When jobs staged data in by legs of their own, before they had nodes: they run then, but a user waits."""
    log = result.log.lazy().select(
        "time", pl.col("job").cast(pl.Int64), "leg", "amount", kind=_KIND, reason=_REASON, resource="resource"
    )
    without = log.filter((pl.col("kind") == "start") & (pl.col("amount") == 0)).select("job", "leg").unique()
    phases = log.filter(pl.col("reason") == "stage_in").join(without, on=["job", "leg"], how="semi")
    rows = phases.select("time", "job", "leg", "kind", "amount").collect().sort("job", "time", maintain_order=True)
    begun, ended = (rows.filter(pl.col("kind") == kind) for kind in ("begin_phase", "end_phase"))
    pairs = pl.concat(
        [begun.select("job", "leg", start="time"), ended.select(end="time", amount="amount")], how="horizontal"
    ).filter(pl.col("end") > pl.col("start"))
    took = pl.col("end") - pl.col("start")
    return pairs.select(
        job_id="job",
        leg=pl.col("leg").cast(pl.Int64),
        start="start",
        end="end",
        seconds=took,
        reason=pl.lit("stage_in"),
        slurm=pl.lit(None, pl.String),
        missing=pl.lit(None, pl.String),
        detail=pl.format("its data are staged in for {}", took.map_elements(format_seconds, return_dtype=pl.String)),
        blocker=pl.lit(None, pl.Int64),
    )


def summary_of(why: pl.DataFrame) -> pl.DataFrame:
    """The reasons of each job together: a row for each job and reason, the longest first.

    Columns: `job_id`, `reason`, `slurm`, `seconds`, `share` (of all rows of the job) and `blocker` (that of the longest
    piece that has one).

    Parameters
    ----------
    why
        What `reasons` gave.

    Examples
    --------
    >>> why = fb.explain.reasons(fb.simulate("table1", policy="fcfs-easy"))
    >>> fb.explain.summary_of(why).filter(job_id=4).select("reason", "seconds", "blocker").rows()
    [('reserved', 420.0, 3), ('nodes', 120.0, 6)]
    """
    longest = pl.col("blocker").sort_by("seconds", descending=True, nulls_last=True, maintain_order=True)
    return (
        why.lazy()
        .group_by("job_id", "reason", "slurm", maintain_order=True)
        .agg(pl.col("seconds").sum(), blocker=longest.drop_nulls().first())
        .with_columns(share=pl.col("seconds") / pl.col("seconds").sum().over("job_id"))
        .sort("job_id", "seconds", descending=[False, True], maintain_order=True)
        .select("job_id", "reason", "slurm", "seconds", "share", "blocker")
        .collect()
    )
