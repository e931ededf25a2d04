"""Why jobs waited: what Slurm wrote down as a job's last reason, against the last one in the simulation.

Slurm keeps the last reason other than that others go first or that nodes are busy; of a job that only waited for its
turn it keeps none. The same is taken of a simulated wait.
"""

import polars as pl

from forebay.explain import reasons
from forebay.results import Result

COLUMN = "recorded_reason"
TURN = "None"
"""The word of a job that waited for nothing but its turn."""
_USUAL = ("None", "Priority", "Resources")

SCHEMA = {
    "recorded": pl.String,
    "jobs": pl.Int64,
    "same": pl.Int64,
    "share": pl.Float64,
    "mostly": pl.String,
}


def agreement(recorded: pl.DataFrame, jobs: pl.DataFrame, result: Result) -> pl.DataFrame | None:
    """A row for each recorded reason, the one of most jobs first; None where the trace has none.

    `same` counts the jobs that have it in the simulation too, `mostly` is the reason that most of them have there.
    """
    if COLUMN not in recorded.columns:
        return None
    said = pl.when(pl.col(COLUMN).is_in(["", *_USUAL])).then(pl.lit(TURN)).otherwise(COLUMN)
    ours = (
        reasons(result)
        .filter(~pl.col("slurm").is_in(_USUAL))
        .sort("job_id", "end", maintain_order=True)
        .group_by("job_id")
        .agg(simulated=pl.col("slurm").last())
    )
    both = (
        jobs.select("job_id")
        .join(recorded.select(said.alias("recorded"), job_id="id"), on="job_id", how="left")
        .join(ours, on="job_id", how="left")
        .with_columns(pl.col("simulated").fill_null(TURN))
    )
    counts = both.group_by("recorded", "simulated").len().sort("len", "simulated", descending=[True, False])
    rows = counts.group_by("recorded", maintain_order=True).agg(
        jobs=pl.col("len").sum().cast(pl.Int64),
        same=pl.col("len").filter(pl.col("simulated") == pl.col("recorded")).sum().cast(pl.Int64),
        mostly=pl.col("simulated").first(),
    )
    rows = rows.with_columns(share=pl.col("same") / pl.col("jobs")).sort("jobs", "recorded", descending=[True, False])
    return rows.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def numbers(found: pl.DataFrame | None) -> dict[str, float | None]:
    """The share of jobs with the same reason in both."""
    if found is None or found.is_empty():
        return {"reason_agreement": None}
    same, jobs = (sum(map(int, found[name])) for name in ("same", "jobs"))
    return {"reason_agreement": same / jobs}
