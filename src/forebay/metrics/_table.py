"""What every metric starts from: the jobs that count, the measures taken of each, and the nodes they held."""

import math
from typing import Any

import numpy as np
import polars as pl

from forebay.core.codes import FINAL_STATE, NEVER_BEGUN
from forebay.errors import InputError, nearest
from forebay.results import Result
from forebay.results._waits import RUN_ALONE, WAIT, completed

NODES = "requested_number_of_resources"
WALLTIME = "requested_time"
RUNNING = "running_since"

_turnaround = pl.col("turnaround_time")


def bounded_slowdown(bound: float) -> pl.Expr:
    """max(1, turnaround / max(run alone, bound)), with the bound in seconds."""
    if not bound > 0:
        raise InputError(f"the bound of a bounded slowdown is {bound}; write seconds above 0, such as 10 or 600")
    return pl.max_horizontal(1.0, _turnaround / pl.max_horizontal(RUN_ALONE, pl.lit(float(bound)))).alias("value")


MEASURES = {
    "wait": WAIT,
    "waiting_time": pl.col("waiting_time"),
    "total_wait": pl.col("total_wait"),
    "turnaround_time": _turnaround,
    # A job of no length has no slowdown; one such job would make every mean infinite.
    "slowdown": pl.when(RUN_ALONE > 0).then(_turnaround / RUN_ALONE),
    "bounded_slowdown_10s": bounded_slowdown(10),
    "bounded_slowdown_10min": bounded_slowdown(600),
    "stage_in_time": pl.col("stage_in_time"),
    "planned_time": pl.col("planned_time"),
    "io_time": pl.col("io_time"),
    "requested_nodes": pl.col(NODES),
}
"""What can be taken of each job, by its name in tables and summaries."""

_NEVER_BEGUN = [FINAL_STATE[state] for state in NEVER_BEGUN]

STAGING = ("stage_in_time", "io_time")
"""Measures whose columns only some runs have."""


def measure(name: str) -> pl.Expr:
    """The expression of a measure."""
    if name not in MEASURES:
        raise InputError(f"unknown measure {name!r}: {nearest(name, MEASURES)}")
    return MEASURES[name]


def counted(result: Result) -> pl.LazyFrame:
    """The jobs that enter means: killed ones do, those that never began or that ran before the policy came do not."""
    columns = result.jobs.columns
    missing = [pl.lit(None, pl.Float64).alias(name) for name in STAGING if name not in columns]
    jobs = (
        completed(result.jobs.lazy(), columns).filter(~pl.col("final_state").is_in(_NEVER_BEGUN)).with_columns(missing)
    )
    return jobs.filter(pl.col(RUNNING).is_null()) if is_warm(result) else jobs


def is_warm(result: Result) -> bool:
    """Whether the run is of a period that began with jobs under way: second 0 is where it begins."""
    return RUNNING in result.jobs.columns


def span(result: Result) -> tuple[float, float] | None:
    """The seconds over which use is averaged: the result's window, else the makespan; None without jobs."""
    if "window" in result.facts:
        start, end = result.facts["window"]
        return float(start), float(end)
    ends = pl.col("submission_time").min().alias("start"), pl.col("finish_time").max().alias("end")
    start, end = counted(result).select(*ends).collect().row(0)
    if start is None or end is None:
        return None
    return max(float(start), 0.0) if is_warm(result) else float(start), float(end)


def stages(result: Result) -> bool:
    """Whether jobs of the run stage data; nodes that merely talk to one another do not count."""
    return set(STAGING) <= set(result.jobs.columns)


def fails(result: Result) -> bool:
    """Whether nodes of the run may fail, or jobs of it were interrupted."""
    return "failures" in result.facts or "n_attempts" in result.jobs.columns


def tiers_of(result: Result) -> list[str]:
    """The tiers that jobs may run on, the file system first; none where there was nothing to choose."""
    ways: list[str] = result.facts["platform"]["ways"] if "tier" in result.jobs.columns else []
    return ways


def number(frame: pl.LazyFrame, value: pl.Expr) -> float | None:
    """One number of a frame; None where there is nothing to take it from."""
    found: Any = frame.select(value).collect().item()
    return None if found is None or math.isnan(found) else float(found)


def changes(result: Result, resource: str) -> pl.LazyFrame:
    """Every change in what jobs hold of a resource: the log's rows with `amount` below 0 where it is given back."""
    gives = pl.col("kind").is_in(["end", "release"])
    takes = pl.col("kind").is_in(["start", "acquire"])
    return (
        result.log.lazy()
        .filter((pl.col("resource") == resource) & (gives | takes))
        .select("time", "job", amount=pl.when(gives).then(-pl.col("amount")).otherwise(pl.col("amount")))
    )


def with_node_seconds(result: Result) -> pl.LazyFrame:
    """`counted` jobs with the `node_seconds` they held; where jobs share nodes, core-seconds.

    Taken from the log: a leg may hold no nodes, and nodes may go back early.
    """
    rows = changes(result, result.unit).select("job", area=pl.col("time") * pl.col("amount")).collect()
    jobs_of_rows, place = np.unique(rows["job"].to_numpy(), return_inverse=True)
    # The area under a step function that begins and ends at 0 is minus the sum of time x change. Summed by rows, as
    # sums of floats differ in their last bits with the order, which threads would decide.
    area = -np.bincount(place, rows["area"].to_numpy(), len(jobs_of_rows))
    job_id = pl.Series("job_id", jobs_of_rows).cast(result.jobs.schema["job_id"])
    held = pl.LazyFrame({"job_id": job_id, "node_seconds": area})
    jobs = counted(result).join(held, on="job_id", how="left", maintain_order="left")
    return jobs.with_columns(pl.col("node_seconds").fill_null(0.0))
