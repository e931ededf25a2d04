"""Ad-hoc file systems: what their servers cost, what changes of their number moved, what went past the file system."""

import polars as pl

from forebay.metrics._metric import metric
from forebay.metrics._table import counted, number
from forebay.results import Result


def _has_servers(result: Result) -> bool:
    """Whether jobs could have file systems of their own."""
    return "mean_servers" in result.jobs.columns


@metric(unit="node-hours", group="servers", needs=_has_servers)
def server_node_hours(result: Result) -> float | None:
    """Nodes that only served other nodes of their jobs x the hours for which they did."""
    return number(counted(result), (pl.col("mean_servers") * pl.col("execution_time")).sum() / 3600)


def _ended(result: Result) -> pl.LazyFrame:
    """Phases of the result's jobs that have ended: their kind, and the bytes that they moved."""
    ends = result.log.lazy().filter(pl.col("kind") == "end_phase")
    jobs = result.jobs.lazy().select(job="job_id")
    amount, kind = pl.col("amount").cast(pl.Int128), pl.col("reason").cast(pl.String)  # sums may exceed int64
    return ends.join(jobs, on="job", how="semi").select("job", amount, kind=kind)


@metric(unit="bytes", group="servers", needs=_has_servers)
def redistributed_bytes(result: Result) -> int:
    """Bytes moved between servers because their number changed."""
    return int(_ended(result).filter(pl.col("kind") == "reconfigure").select(pl.col("amount").sum()).collect().item())


@metric(unit="bytes", group="servers", needs=_has_servers)
def pfs_bytes_avoided(result: Result) -> int:
    """Bytes that jobs read from their servers and wrote to them, less those staged in and out for it.

    Without servers, so many more would have crossed the links of the file system.
    """
    on_servers, on_files = (pl.col("kind").is_in(kinds) for kinds in (("fetch", "checkpoint"), ("read", "write")))
    by_job = (
        _ended(result)
        .group_by("job")
        .agg(served=pl.col("amount").filter(on_servers).sum(), staged=pl.col("amount").filter(on_files).sum())
    )
    return int(by_job.filter(pl.col("served") > 0).select((pl.col("served") - pl.col("staged")).sum()).collect().item())
