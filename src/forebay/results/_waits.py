"""The wait of a job, and its run time alone, for the headline numbers: from the columns of the job table.

A job waits whenever it is not on nodes doing work that counts. Stages, checkpoints and reconfigurations are part of a
run; work that is lost to a failure or to the policy, and reading a checkpoint back, are not.
"""

import numpy as np
import polars as pl

SOMETIMES = (
    "planned_time", "n_legs", "n_attempts", "n_resizes", "lost_time", "checkpoint_time", "recovery_time", "run_alone",
)  # fmt: skip
"""Columns read here that not every job table has."""

_first, _turnaround, _checkpoints = pl.col("waiting_time"), pl.col("turnaround_time"), pl.col("checkpoint_time")
_legs, _attempts = pl.col("n_legs").fill_null(1), pl.col("n_attempts")
_ONCE = (_legs <= 1) & _attempts.is_null()
"""Jobs of one leg, where no job was interrupted: the table has their wait and run, to the last bit."""
_nothing = pl.col("lost_time").fill_null(0.0) + pl.col("recovery_time").fill_null(0.0)
_again = pl.col("total_wait") - pl.coalesce("planned_time", "waiting_time")  # for later legs, and after interrupts

WAIT = pl.when(_ONCE).then(_first).otherwise(_first + _again) + _nothing
"""Turnaround less the time on nodes doing work that counted."""
RUN_ALONE = pl.coalesce(
    "run_alone", pl.when(_ONCE).then(pl.col("execution_time")).otherwise(_turnaround - WAIT)
)  # fmt: skip
"""The run of a job by itself, without interruption, at the size that it asked for; for rigid jobs, the one it had."""


def completed(jobs: pl.LazyFrame, columns: list[str]) -> pl.LazyFrame:
    """A job table with `columns`, and with nulls for those of SOMETIMES that it lacks."""
    return jobs.with_columns(pl.lit(None, pl.Float64).alias(name) for name in SOMETIMES if name not in columns)


def with_run_alone(jobs: pl.DataFrame, alone: np.ndarray | None) -> pl.DataFrame:
    """The job table with `run_alone`, where jobs have applications or were interrupted; else unchanged.

    `alone` are seconds known from elsewhere, NaN where they are not: of jobs with applications by their job model, of
    jobs that were given up as recorded. Others would run as long as they did, less their checkpoints.
    """
    if alone is None and "n_attempts" not in jobs.columns:
        return jobs
    known = pl.Series("known", np.full(jobs.height, np.nan) if alone is None else alone).fill_nan(None)
    once = (_attempts.fill_null(_legs) <= _legs) & (_nothing == 0)
    whole = (_legs <= 1) & once & (_again == 0) & (_checkpoints.fill_null(0) == 0)
    ran = pl.when(whole).then(pl.col("execution_time")).otherwise(_turnaround - WAIT - _checkpoints.fill_null(0))
    # A sum over tasks counts concurrent ones twice. But no job of a constant size is faster than alone.
    steady = once & (pl.col("n_resizes").fill_null(0) == 0)
    given = (
        pl.when(pl.col("known").is_null() | (pl.col("final_state").cast(pl.String) == "COMPLETED_KILLED"))
        .then(ran)
        .when(steady)
        .then(pl.min_horizontal("known", ran))
        .otherwise("known")
    )
    table = completed(jobs.lazy(), jobs.columns).with_columns(known)
    return jobs.with_columns(table.select(run_alone=given).collect().to_series())
