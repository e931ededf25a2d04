"""How jobs fared: means, percentiles and weighted means of waits, turnarounds and slowdowns. None where no job counts.

Killed jobs are in all of them; rejected jobs and those cancelled before they began in none. All times in seconds.
"""

from typing import Literal

import numpy as np
import polars as pl

from forebay.errors import InputError, nearest
from forebay.metrics._metric import metric
from forebay.metrics._table import NODES, bounded_slowdown, counted, measure, with_node_seconds
from forebay.results import Result

WEIGHTS = ("nodes", "node_seconds")
PERCENTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99, "max": 1.0}
SPREAD = ("wait", "waiting_time", "turnaround_time", "slowdown", "bounded_slowdown_10s", "bounded_slowdown_10min")
MEDIAN_WAIT = "median_wait"
NODE_WEIGHTED = ("waiting_time", "turnaround_time", "bounded_slowdown_10min")


def _values(result: Result, value: pl.Expr) -> np.ndarray:
    """A measure of every job that has it, in order of rows.

    For NumPy: polars may reduce columns in pieces that threads decide, and their last bits then differ between runs.
    """
    return counted(result).select(value.drop_nulls()).collect().to_series().to_numpy()


def mean(result: Result, name: str) -> float | None:
    """Mean of a measure, over the jobs that have it.

    Parameters
    ----------
    name
        wait, waiting_time, total_wait, turnaround_time, slowdown, bounded_slowdown_10s or _10min, stage_in_time,
        io_time, planned_time.

    Examples
    --------
    >>> fb.metrics.mean(fb.simulate("table1"), "turnaround_time")
    352.5
    """
    return _mean_of(_values(result, measure(name)))


def _mean_of(values: np.ndarray) -> float | None:
    """Mean of the values of a measure."""
    return float(values.mean()) if values.size else None


def mean_wait(result: Result) -> float | None:
    """Mean of the wait: turnaround less the time on nodes doing work that counted."""
    return mean(result, "wait")


def _waits_for_others(result: Result) -> bool:
    """Whether some jobs of the run may start only after others."""
    return "planned_time" in result.jobs.columns


@metric(unit="s", group="jobs", needs=_waits_for_others)
def mean_planned_time(result: Result) -> float | None:
    """Mean time from the end of a job's wait for others to its start, as `Planned` in sacct."""
    return mean(result, "planned_time")


def mean_turnaround(result: Result) -> float | None:
    """Mean time from submission to finish."""
    return mean(result, "turnaround_time")


def mean_slowdown(result: Result) -> float | None:
    """Mean of turnaround / run time alone, at the size asked for, over jobs that run at all."""
    return mean(result, "slowdown")


def mean_bounded_slowdown(result: Result, bound: float) -> float | None:
    """Mean of max(1, turnaround / max(run time alone, bound)); the bound keeps short jobs from ruling the mean.

    Parameters
    ----------
    bound
        Seconds, such as 10 or 600.

    Examples
    --------
    >>> fb.metrics.mean_bounded_slowdown(fb.simulate("table1"), 240)
    1.3125
    """
    return _mean_of(_values(result, bounded_slowdown(bound)))


def ci95(result: Result, name: str) -> float | None:
    """Half-width of the 95 % interval of a mean over the jobs of one run: 1.96 s / sqrt(n).

    It treats jobs as independent, as the papers of the field do; jobs of one queue are not, so use it to compare with
    such papers, and repeated runs to compare policies.

    Parameters
    ----------
    name
        A measure, as `mean` takes it.

    Examples
    --------
    >>> round(fb.metrics.ci95(fb.simulate("table1"), "waiting_time"), 1)
    140.4
    """
    return _ci95_of(_values(result, measure(name)))


def _ci95_of(values: np.ndarray) -> float | None:
    """The same of the values of a measure."""
    return float(1.96 * values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None


def percentiles(result: Result, name: str = "wait") -> dict[str, float | None]:
    """p50, p95, p99 and max of a measure, interpolated between neighbours.

    Parameters
    ----------
    name
        A measure, as `mean` takes it.

    Examples
    --------
    >>> fb.metrics.percentiles(fb.simulate("table1"))["max"]
    540.0
    """
    return _percentiles_of(_values(result, measure(name)))


def _percentiles_of(values: np.ndarray) -> dict[str, float | None]:
    """The same of the values of a measure."""
    if values.size == 0:
        return dict.fromkeys(PERCENTILES)
    found = np.quantile(values, list(PERCENTILES.values()))
    return {key: float(value) for key, value in zip(PERCENTILES, found, strict=True)}


def weighted_mean(result: Result, name: str = "wait", by: Literal["nodes", "node_seconds"] = "nodes") -> float | None:
    """Mean of a measure in which large jobs count for more.

    Parameters
    ----------
    name
        A measure, as `mean` takes it.
    by
        "nodes" that a job asked for, or "node_seconds" that it held.

    Examples
    --------
    >>> fb.metrics.weighted_mean(fb.simulate("table1"), by="nodes")
    212.0
    """
    if by not in WEIGHTS:
        raise InputError(f"by is {by!r}: {nearest(by, WEIGHTS)}")
    jobs, weight = counted(result), pl.col(NODES)
    if by == "node_seconds":
        jobs, weight = with_node_seconds(result), pl.col("node_seconds")
    table = jobs.select(measure(name).alias("value"), weight.alias("weight")).drop_nulls().collect()
    return _weighted_mean_of(table["value"].to_numpy(), table["weight"].to_numpy())


def _weighted_mean_of(values: np.ndarray, weights: np.ndarray) -> float | None:
    """The same of the values of a measure."""
    total = float(weights.sum())
    return float((values * weights).sum()) / total if total > 0 else None


@metric(
    *(f"{statistic}_MEASURE" for statistic in ("mean", "ci95", *PERCENTILES)),
    MEDIAN_WAIT,
    "mean_total_wait",
    *(f"node_weighted_mean_{name}" for name in NODE_WEIGHTED),
    "node_seconds_weighted_mean_waiting_time",
    unit=lambda name: "" if "slowdown" in name else "s",
    group="jobs",
)
def _every_measure(result: Result) -> dict[str, float | None]:
    # All measures at once: where thousands of short runs are summed up, asking for each by itself takes half the time.
    wanted = [measure(name).alias(name) for name in (*SPREAD, "total_wait")]
    table = with_node_seconds(result).select(*wanted, NODES, "node_seconds").collect()
    numbers: dict[str, float | None] = {}
    for name in SPREAD:
        values = table[name].drop_nulls().to_numpy()
        numbers[f"mean_{name}"] = _mean_of(values)
        numbers[f"ci95_{name}"] = _ci95_of(values)
        for key, value in _percentiles_of(values).items():
            numbers[MEDIAN_WAIT if (key, name) == ("p50", "wait") else f"{key}_{name}"] = value
    numbers["mean_total_wait"] = _mean_of(table["total_wait"].drop_nulls().to_numpy())
    for name in NODE_WEIGHTED:
        numbers[f"node_weighted_mean_{name}"] = _weighted(table, name, NODES)
    numbers["node_seconds_weighted_mean_waiting_time"] = _weighted(table, "waiting_time", "node_seconds")
    return numbers


def _weighted(table: pl.DataFrame, name: str, by: str) -> float | None:
    both = table.select(name, by).drop_nulls()
    return _weighted_mean_of(both[name].to_numpy(), both[by].to_numpy())
