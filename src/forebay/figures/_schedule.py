"""A schedule as data: rectangles of jobs on nodes, and which transfers cross the file system."""

import polars as pl

from forebay.figures import _steps
from forebay.metrics.stays import stays
from forebay.results import Result
from forebay.results._waits import WAIT, completed

READS, WRITES = ("stage_in", "read", "recover"), ("drain", "stage_out", "write", "save")
FILES = "file system"


def rectangles(result: Result) -> pl.DataFrame:
    """Every stay of a job on neighbouring nodes, with the job's wait."""
    jobs = completed(result.jobs.lazy(), result.jobs.columns).select(pl.col("job_id").cast(pl.Int64), wait=WAIT)
    end = pl.lit(_steps.over(result)[1])
    return (
        stays(result)
        .lazy()
        .with_columns(pl.col("end").fill_null(end))
        .join(jobs, left_on="job", right_on="job_id", maintain_order="left")
        .collect()
    )


def has_phases(result: Result) -> bool:
    """Whether jobs do more than compute; writing checkpoints for some seconds is no reason for a lane."""
    moves = (pl.col("amount") > 0) | ~pl.col("reason").cast(pl.String).is_in(["save", "recover"])
    return not result.log.lazy().filter((pl.col("kind") == "end_phase") & moves).head(1).collect().is_empty()


def is_gpus(result: Result, name: str) -> bool:
    """Whether a resource counts GPUs of shared nodes."""
    return result.unit == "cores" and (name == "gpus" or name.startswith("gpus_"))
