"""How groups of jobs fared: by size, by user, or by any column. Rejected jobs are in none."""

from itertools import pairwise

import numpy as np
import polars as pl

from forebay.errors import InputError, nearest
from forebay.metrics._metric import metric
from forebay.metrics._table import NODES, counted, measure, with_node_seconds
from forebay.results import Result


def _statistics() -> list[pl.Expr]:
    waits = {"wait": pl.col("wait"), "waiting_time": pl.col("waiting_time")}
    return [
        pl.len().cast(pl.Int64).alias("n"),
        *(wait.mean().alias(f"mean_{name}") for name, wait in waits.items()),
        *(wait.quantile(0.95, interpolation="linear").alias(f"p95_{name}") for name, wait in waits.items()),
        pl.col("slowdown").mean().alias("mean_bounded_slowdown_10min"),
        (pl.col("node_seconds").sum() / 3600).alias("node_hours"),
    ]


def _measured(result: Result) -> pl.LazyFrame:
    """Jobs with what `_statistics` asks for. Taken before grouping: polars 1.31 takes no literals inside groups."""
    return with_node_seconds(result).with_columns(wait=measure("wait"), slowdown=measure("bounded_slowdown_10min"))


def size_classes(nodes: int) -> tuple[list[int], list[str]]:
    """The classes of job sizes on a machine: 1, 2-4, 5-8, 9-16, ... up to all of it.

    Parameters
    ----------
    nodes
        Of the machine.

    Returns
    -------
    tuple of lists
        The largest size of each class, and its label.

    Examples
    --------
    >>> fb.metrics.size_classes(16)
    ([1, 4, 8, 16], ['1', '2-4', '5-8', '9-16'])
    """
    tops = [1]
    while tops[-1] < nodes:
        tops.append(min(nodes, max(4, 2 * tops[-1])))
    labels = ["1"]
    for below, top in pairwise(tops):
        labels.append(f"{below + 1}-{top}" if top > below + 1 else str(top))
    return tops, labels


def by_size_class(result: Result) -> pl.DataFrame:
    """A row a class of sizes, small to large, also where no job is of it: n, waits, bounded slowdown, node-hours.

    Examples
    --------
    >>> fb.metrics.by_size_class(fb.simulate("table1")).select("size_class", "n", "mean_wait").rows()
    [('1', 3, 0.0), ('2-4', 5, 228.0)]
    """
    tops, labels = size_classes(result.resources[result.unit])
    jobs = _measured(result).sort("job_id").collect()
    place = np.searchsorted(tops[:-1], jobs[NODES].to_numpy())  # past the last boundary is the last class
    placed = jobs.with_columns(pl.Series("place", place, dtype=pl.Int64))
    found = placed.group_by("place", maintain_order=True).agg(_statistics()).lazy()
    classes = pl.LazyFrame({"size_class": labels, "place": range(len(labels))}, schema_overrides={"place": pl.Int64})
    return (
        classes.join(found, on="place", how="left")
        .with_columns(pl.col("n", "node_hours").fill_null(0))
        .sort("place")
        .drop("place")
        .collect()
    )


def by_column(result: Result, column: str) -> pl.DataFrame:
    """A row for each value of a column of the job table, most node-hours first.

    Where the trace has names for the column's numbers, they stand beside them, as in `queue_name`.

    Parameters
    ----------
    column
        user, group, queue, account, qos, or any other.

    Examples
    --------
    >>> fb.metrics.by_column(fb.simulate("table1"), "final_state").select("final_state", "n").rows()
    [('COMPLETED_SUCCESSFULLY', 8)]
    """
    if column not in result.jobs.columns:
        raise InputError(f"the job table has no column {column!r}: {nearest(column, result.jobs.columns)}")
    keys = [name for name in (column, f"{column}_name") if name in result.jobs.columns]
    # Job by job, so that sums are the same to the last bit whichever threads take part.
    jobs = _measured(result).sort("job_id").collect()
    found = jobs.group_by(keys, maintain_order=True).agg(_statistics())
    return found.sort(["node_hours", column], descending=[True, False])


def by_user(result: Result) -> pl.DataFrame:
    """A row a user, most node-hours first; user -1 is unknown."""
    return by_column(result, "user")


def by_group(result: Result) -> pl.DataFrame:
    """A row a group, most node-hours first; group -1 is unknown."""
    return by_column(result, "group")


def by_queue(result: Result) -> pl.DataFrame:
    """A row a queue, most node-hours first; queue -1 is unknown.

    Examples
    --------
    >>> fb.metrics.by_queue(fb.simulate("table1")).select("queue", "n").rows()
    [(-1, 8)]
    """
    return by_column(result, "queue")


def _has_users(result: Result) -> bool:
    """Whether jobs of two or more users are known."""
    if "user" not in result.jobs.columns:
        return False
    known = result.jobs["user"].filter(result.jobs["user"] >= 0)
    return known.n_unique() > 1


def _of_users(result: Result) -> np.ndarray:
    """The mean bounded slowdown of each user, in order of their numbers."""
    slowdown = measure("bounded_slowdown_10min").alias("slowdown")
    jobs = counted(result).filter(pl.col("user") >= 0).select("user", slowdown).drop_nulls().collect()
    # Summed by rows: which threads take part does not change the last bits.
    _, place = np.unique(jobs["user"].to_numpy(), return_inverse=True)
    return np.bincount(place, jobs["slowdown"].to_numpy()) / np.bincount(place)


@metric(unit="share", group="users", needs=_has_users, better="higher")
def jain_slowdown(result: Result) -> float | None:
    """Jain's index of users' mean bounded slowdowns: 1 where all fare alike, 1 / n where one of n has all of it."""
    means = _of_users(result)
    return float(means.sum() ** 2 / (means.size * (means**2).sum())) if means.size > 1 else None


@metric(unit="", group="users", needs=_has_users)
def user_slowdown_spread(result: Result) -> float | None:
    """The 90th percentile of users' mean bounded slowdowns / the 10th: 1 where all fare alike."""
    means = _of_users(result)
    return float(np.quantile(means, 0.9) / np.quantile(means, 0.1)) if means.size > 1 else None
