"""A period of a trace as the machine met it: with the jobs that ran already when it began, and those that waited."""

import math
from dataclasses import replace

import polars as pl

from forebay._support.text import counted
from forebay.errors import InputError
from forebay.workload import dates
from forebay.workload._source import later
from forebay.workload.dates import Moment
from forebay.workload.operations import only
from forebay.workload.workload import Workload

_ENDS = pl.col("recorded_start") + pl.col("run_time")


def period(w: Workload, start: Moment, end: Moment) -> Workload:
    """Jobs submitted from `start` up to, not including, `end`, and those that ran or waited when it began.

    Second 0 is the beginning of the period. Jobs that ran already have the time of their start in `running_since`, and
    end as they did; jobs that waited have submit times before 0. What is not recorded cannot be known: jobs without a
    recorded start from before the period are left out, unless they were cancelled in it.
    """
    since, until = dates.seconds_of(w, start), dates.seconds_of(w, end)
    if not since < until:
        raise InputError(f"{w.name}: the period from {start} to {end} is empty; give a start before its end")
    if "recorded_start" not in w.jobs.columns or w.jobs["recorded_start"].is_nan().all():
        raise InputError(
            f"{w.name}: a warm start needs the times at which jobs started, and the trace does not tell them; take the "
            "period without one"
        )
    if w.legs is not None or w.applications is not None:
        raise InputError(f"{w.name}: a warm start is for jobs of one size in one leg; take the period without one")
    before, known = pl.col("submit") < since, pl.col("recorded_start").is_not_nan()
    runs = before & known & (pl.col("recorded_start") < since) & (since < _ENDS)
    withdrawn = ~known & (pl.col("submit") + pl.col("cancel") > since)
    waits = before & ((known & (pl.col("recorded_start") >= since)) | withdrawn)
    lost = before & ~known & pl.col("cancel").is_infinite()
    inside = ~before & (pl.col("submit") < until)
    parts = w.jobs.select(runs=runs, waits=waits & ~lost, lost=lost, inside=inside)
    if not parts["inside"].any():
        raise InputError(f"{w.name}: no job is submitted in the period; its {dates.span_text(w)}")
    jobs = w.jobs.with_columns(running_since=pl.when(runs).then("recorded_start").otherwise(float("nan")))
    # A job that runs already ends as it did: neither its limit nor a slip of its submission can be right against that.
    jobs = jobs.with_columns(
        walltime=pl.when(runs).then(pl.max_horizontal("walltime", "run_time")).otherwise("walltime"),
        submit=pl.when(runs).then(pl.min_horizontal("submit", "recorded_start")).otherwise("submit"),
    ).filter(parts["runs"] | parts["waits"] | parts["inside"])
    part = only(w, later(jobs, -since))
    lines, notes = _remarks(w, jobs, parts, (since, until))
    return replace(part, epoch=w.epoch + since, provenance=(*w.provenance, *lines), notes=(*w.notes, *notes))


def _remarks(
    w: Workload, jobs: pl.DataFrame, parts: pl.DataFrame, edges: tuple[float, float]
) -> tuple[list[str], list[str]]:
    """A line on where the jobs of a period come from, and notes on those of before it."""
    ends = [None if math.isinf(one) else dates.date_of(w, one) or f"{one:g} s" for one in edges]
    at = ", ".join(one or "the end" for one in ends) + (") UTC" if dates.is_dated(w) else ")")
    n_runs, n_waits, n_lost = (int(parts[name].sum()) for name in ("runs", "waits", "lost"))
    held = int(jobs.filter(pl.col("running_since").is_not_nan())["nodes"].sum())
    then = f"{n_runs:,} running and {n_waits:,} waiting as it begins"
    line = f"period [{at}: {len(jobs):,} of {counted(len(w), 'job')}, {then}"
    runners = f"{counted(n_runs, 'job that runs', 'jobs that run')} already, on {counted(held, 'node')}"
    note = f"the period begins with {runners}, and {counted(n_waits, 'job that waits', 'jobs that wait')}"
    lost = [f"{counted(n_lost, 'job')} from before the period without a recorded start: left out"] if n_lost else []
    return [line], [note, *lost]
