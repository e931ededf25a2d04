"""For whom a policy is good: waits of each queue, user and account under every policy, against the reference."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from forebay.experiments.comparison.common_jobs import Common
    from forebay.experiments.comparison.workspace import Workspace
    from forebay.results import Result

TABLE = "groups.csv"
COLUMNS = ("queue", "user", "account")


def of(
    documents: Sequence[dict[str, Any]], made: "Workspace", reference: str, common: "Common"
) -> "pl.DataFrame | None":
    """A row for each group and policy, groups with most node-hours first; None where the trace tells of no two groups.

    Over the jobs that ran under every policy. The last policy of a group is what was recorded, where that is known.
    `change` is that of the mean wait, as a share of the reference's.
    """
    import polars as pl

    from forebay.metrics.window import window
    from forebay.workload.recorded import AS_RECORDED

    found: dict[str, dict[str, pl.DataFrame]] = {}
    first: Result | None = None
    for document in documents:
        result = common.of(made.result(document["policy"]))
        if document["window"]:
            result = window(result, *document["window"])
        first = first or result
        for column in [name for name in COLUMNS if _tells(result, name)]:
            found.setdefault(column, {})[document["policy"]] = _of_one(result, column)
    if first is None or not found:
        return None
    frames = []
    for column, by_policy in found.items():
        recorded = _as_recorded(first, column)
        more = {} if recorded is None else {AS_RECORDED: recorded}
        frames.append(_together(column, by_policy | more, reference))
    return pl.concat(frames)


def _tells(result: "Result", column: str) -> bool:
    """Whether jobs are of two groups at least."""
    return column in result.jobs.columns and result.jobs.filter(result.jobs[column] >= 0)[column].n_unique() > 1


def _of_one(result: "Result", column: str) -> "pl.DataFrame":
    import polars as pl

    from forebay.metrics.groups import by_column

    rows = by_column(result, column)
    return _named(rows, column).select(
        "name",
        jobs="n",
        node_hours="node_hours",
        mean_wait="mean_wait",
        p95_wait="p95_wait",
        mean_bounded_slowdown_10min=pl.col("mean_bounded_slowdown_10min"),
    )


def _named(rows: "pl.DataFrame", column: str) -> "pl.DataFrame":
    """With the name of each group: what the trace calls it, else its number."""
    import polars as pl

    number = pl.when(pl.col(column) < 0).then(pl.lit("unknown")).otherwise(pl.col(column).cast(pl.String))
    names = [f"{column}_name"] if f"{column}_name" in rows.columns else []
    return rows.with_columns(name=pl.coalesce(*names, number))


def _as_recorded(result: "Result", column: str) -> "pl.DataFrame | None":
    """The same of the schedule of the trace, as far as it is recorded."""
    import polars as pl

    from forebay.metrics._table import counted

    if "recorded_start" not in result.jobs.columns:
        return None
    wait = pl.col("recorded_start") - pl.col("submission_time")
    jobs = _named(counted(result).with_columns(wait=wait).filter(pl.col("wait") >= 0).collect(), column)
    if jobs.is_empty():
        return None
    length = pl.col("wait") + pl.col("execution_time")
    slowdown = pl.max_horizontal(1.0, length / pl.max_horizontal("execution_time", 600.0))
    return (
        jobs.with_columns(slowdown=slowdown)
        .group_by("name", maintain_order=True)
        .agg(
            jobs=pl.len().cast(pl.Int64),
            node_hours=pl.lit(None, pl.Float64).first(),
            mean_wait=pl.col("wait").mean(),
            p95_wait=pl.col("wait").quantile(0.95, interpolation="linear"),
            mean_bounded_slowdown_10min=pl.col("slowdown").mean(),
        )
    )


def _together(column: str, by_policy: "Mapping[str, pl.DataFrame]", reference: str) -> "pl.DataFrame":
    """Below one another: group by group, and in each the policies in their order."""
    import polars as pl

    rows = pl.concat(
        frame.select(
            pl.lit(column).alias("by"), pl.col("name"), pl.lit(policy).alias("policy"), pl.exclude("name")
        ).with_columns(place=pl.lit(place))
        for place, (policy, frame) in enumerate(by_policy.items())
    )
    standard = by_policy[reference if reference in by_policy else next(iter(by_policy))]
    weights = standard.select("name", weight="node_hours", standard="mean_wait")
    rows = rows.join(weights, on="name", how="left").with_columns(
        change=pl.when(pl.col("standard") > 0).then(pl.col("mean_wait") / pl.col("standard") - 1)
    )
    order = rows.sort(["weight", "name", "place"], descending=[True, False, False], nulls_last=True)
    return order.drop("weight", "standard", "place")
