"""When jobs that wait for others became eligible: by the record when these had begun or ended by it, else as simulated.

The time before is not waiting for nodes, and in a simulation parents end at other times: it would be an error of the
parents' waits, counted once more for each of their children.
"""

import polars as pl

from forebay.workload import Workload

_BEGUN = "after"  # of the kinds, the one that waits for a beginning
_SUBMITTED = "think"  # and the one whose jobs are not submitted before


def recorded_waits(w: Workload) -> pl.DataFrame:
    """Each job's `recorded_wait`: from its submission, or from when the jobs that it waits for let it go.

    Of parents of which no start is known nothing is taken. A job that started before its parents let it go, as its
    dependency was taken away, has not waited.
    """
    jobs = w.jobs.select("submit", "run_time", "recorded_start", job_id="id")
    if w.dependencies is None:
        return jobs.with_columns(recorded_wait=pl.col("recorded_start") - pl.col("submit"))
    found = jobs.join(_freed(w, jobs), on="job_id", how="left", maintain_order="left")
    free = pl.max_horizontal("submit", "free")  # which leaves out what is null
    eligible = pl.when(pl.col("free").is_null()).then("submit").otherwise(pl.min_horizontal(free, "recorded_start"))
    wait = pl.when(pl.col("recorded_start") < pl.col("submit")).then(pl.col("submit")).otherwise(eligible)
    return found.with_columns(recorded_wait=pl.col("recorded_start") - wait).drop("free")


def _freed(w: Workload, jobs: pl.DataFrame) -> pl.DataFrame:
    """When the parents of each job that has any had begun or ended by the record: the last, or where one will do the
    first."""
    assert w.dependencies is not None
    parents = jobs.select("recorded_start", "run_time", parent="job_id").filter(pl.col("recorded_start").is_not_nan())
    edges = w.dependencies.filter(pl.col("kind") != _SUBMITTED).join(parents, on="parent")
    ran = pl.when(pl.col("kind") == _BEGUN).then(0.0).otherwise("run_time")
    at = pl.col("recorded_start") + ran + pl.col("delay")
    free = pl.when(pl.col("any").first()).then(pl.col("at").min()).otherwise(pl.col("at").max())
    return edges.with_columns(at=at).group_by("job").agg(free=free).rename({"job": "job_id"})


def simulated_wait(w: Workload, columns: list[str]) -> pl.Expr:
    """From when a job that waits for others joined the queue; of others from their submission."""
    if w.dependencies is None or "planned_time" not in columns:
        return pl.col("waiting_time")
    dependent = w.dependencies.filter(pl.col("kind") != _SUBMITTED)["job"].unique()
    return pl.when(pl.col("job_id").is_in(dependent.implode())).then("planned_time").otherwise("waiting_time")
