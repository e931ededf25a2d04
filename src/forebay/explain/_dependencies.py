"""How long jobs waited before they joined the queue: for which other job, or outside because of a limit."""

import polars as pl

from forebay.results import Result

_NEVER = "DependencyNeverSatisfied"


def before_the_queue(result: Result) -> pl.DataFrame:
    """Pieces of each job from its submission until it joined the queue."""
    held = result.held.filter(pl.col("slurm").str.contains("SubmitJob", literal=True))
    away = held.group_by(job_id=pl.col("job").cast(pl.Int64), maintain_order=True).first()
    if not away.height:
        return _dependencies(result, _log(result))
    log = _log(result)
    comes = (pl.col("kind") == "eligible") & (pl.col("why") == "over_limit")
    ends = log.filter(comes | (pl.col("kind") == "cancel")).group_by("job_id", maintain_order=True).first()
    limited = away.join(ends.select("job_id", end="time"), on="job_id").select(
        "job_id",
        leg=pl.lit(0, pl.Int64),
        start="time",
        end="end",
        seconds=pl.col("end") - pl.col("time"),
        reason=pl.col("reason"),
        slurm=pl.col("slurm"),
        missing=pl.lit(None, pl.String),
        detail=pl.format("{}: it waits to be submitted again", pl.col("detail")),
        blocker=pl.lit(None, pl.Int64),
    )
    # From here on those that came back are as if they had been submitted then, and those withdrawn outside as if never.
    left = away.join(log.filter(comes), on="job_id", how="anti")["job_id"]
    again = log.with_columns(kind=pl.when(comes).then(pl.lit("submit")).otherwise("kind"))
    again = again.filter(~pl.col("job_id").is_in(left.implode()))
    return pl.concat([limited.filter(pl.col("seconds") > 0), _dependencies(result, again)])


def _log(result: Result) -> pl.DataFrame:
    return result.log.select("time", "amount", job_id=pl.col("job").cast(pl.Int64), kind=pl.col("kind").cast(pl.String),
                             why=pl.col("reason").cast(pl.String))  # fmt: skip


def _dependencies(result: Result, log: pl.DataFrame) -> pl.DataFrame:
    """A piece for each job from its submission until the last of those that it waits for was done."""
    free, never = pl.col("kind") == "eligible", (pl.col("kind") == "reject") & (pl.col("why") == "dependency")
    outside = pl.lit(False)
    if "eligible_time" in result.jobs.columns:
        gone = result.jobs.filter(pl.col("eligible_time").is_null())["job_id"].cast(pl.Int64)
        outside = (pl.col("kind") == "cancel") & pl.col("job_id").is_in(gone.implode())
    submits = log.filter(pl.col("kind") == "submit").group_by("job_id").agg(start=pl.col("time").max())
    ends = log.filter(free | never | outside).join(submits, on="job_id", how="left", maintain_order="left")
    parent = pl.when(free | never).then(pl.col("amount").cast(pl.Int64))
    return ends.filter(pl.col("time") > pl.col("start")).select(
        "job_id",
        leg=pl.lit(0, pl.Int64),
        start="start",
        end="time",
        seconds=pl.col("time") - pl.col("start"),
        reason=pl.lit("dependency"),
        slurm=pl.when(never).then(pl.lit(_NEVER)).otherwise(pl.lit(None, pl.String)),
        missing=pl.lit(None, pl.String),
        detail=pl.when(free)
        .then(pl.format("it may start only after job {}, the last that it waited for", parent))
        .when(never)
        .then(pl.format("it may start only after job {}, and what it waits for can never happen", parent))
        .otherwise(pl.lit("it may start only after others, and was withdrawn before")),
        blocker=parent,
    )
