"""Jobs that waited unreasonably long: for their size (ten times their walltime) or outright (a day)."""

import polars as pl

from forebay.metrics._metric import metric
from forebay.metrics._table import NODES, WALLTIME, counted, measure, number
from forebay.results import Result

DAY = 86400.0


def _over_walltimes(times: float) -> pl.Expr:
    return (pl.col(WALLTIME) > 0) & (measure("wait") > times * pl.col(WALLTIME))


def _over(seconds: float) -> pl.Expr:
    return measure("wait") > seconds


def _count(result: Result, too_long: pl.Expr) -> int:
    return int(number(counted(result), too_long.sum()) or 0)


def _waiting(result: Result, too_long: pl.Expr) -> pl.DataFrame:
    """The jobs concerned, longest wait first."""
    return (
        counted(result)
        .filter(too_long)
        .select("job_id", "submission_time", NODES, WALLTIME, "waiting_time", wait=measure("wait"))
        .sort(["wait", "job_id"], descending=[True, False])
        .collect()
    )


def waiting_over_walltimes(result: Result, times: float = 10) -> pl.DataFrame:
    """Jobs that waited long for their size, longest wait first.

    Those without a walltime (below 0 or infinite) never do.

    Parameters
    ----------
    times
        So many times its walltime is too long for a job to wait.

    Examples
    --------
    >>> fb.metrics.waiting_over_walltimes(fb.simulate("table1"), times=8)["job_id"].to_list()
    [3]
    """
    return _waiting(result, _over_walltimes(times))


def waiting_over(result: Result, seconds: float = DAY) -> pl.DataFrame:
    """Jobs that waited longer than so many seconds, longest wait first.

    Parameters
    ----------
    seconds
        By default a day.

    Examples
    --------
    >>> fb.metrics.waiting_over(fb.simulate("table1"), 300)["job_id"].to_list()
    [3, 5]
    """
    return _waiting(result, _over(seconds))


@metric(unit="jobs", group="counts")
def n_waiting_over_10_walltimes(result: Result) -> int:
    """How many jobs waited more than ten walltimes."""
    return _count(result, _over_walltimes(10))


@metric(unit="jobs", group="counts")
def n_waiting_over_a_day(result: Result) -> int:
    """How many jobs waited more than a day."""
    return _count(result, _over(DAY))
