"""How long jobs waited for others before they joined the queue, and for whom."""

import polars as pl

from forebay.results import Result

_NEVER = "DependencyNeverSatisfied"


def dependencies(result: Result) -> pl.DataFrame:
    """A piece for each job from its submission until the last of those that it waits for was done."""
    log = result.log.select("time", "amount", job_id=pl.col("job").cast(pl.Int64), kind=pl.col("kind").cast(pl.String),
                            why=pl.col("reason").cast(pl.String))  # fmt: skip
    free, never = pl.col("kind") == "eligible", (pl.col("kind") == "reject") & (pl.col("why") == "dependency")
    outside = pl.lit(False)
    if "eligible_time" in result.jobs.columns:
        gone = result.jobs.filter(pl.col("eligible_time").is_null())["job_id"].cast(pl.Int64)
        outside = (pl.col("kind") == "cancel") & pl.col("job_id").is_in(gone.implode())
    submits = log.filter(pl.col("kind") == "submit").select("job_id", start="time")
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
