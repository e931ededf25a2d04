"""How jobs kept their deadlines: a column `deadline` of the workload, seconds on the clock of `submit`.

Jobs without one, null or -1, are in none of these; nor are rejected jobs and those cancelled before they began. A job
that is killed ends then.
"""

import numpy as np
import polars as pl

from forebay.core.schemas import DEADLINE, has_deadline
from forebay.metrics._metric import metric
from forebay.metrics._table import counted
from forebay.results import Result


def _are_set(result: Result) -> bool:
    """Whether any job has a deadline."""
    jobs = result.jobs
    return jobs.schema.get(DEADLINE) == pl.Float64 and bool(jobs.select(has_deadline().any()).item())


def tardiness(result: Result) -> pl.DataFrame:
    """How much later than its deadline each job that has one ended: 0 for those in time.

    Examples
    --------
    >>> columns = {"id": [1, 2], "submit": [0, 0], "walltime": [60, 60], "run_time": [60, 60], "nodes": [1, 1]}
    >>> jobs = fb.workload.job_table(columns | {"deadline": [90, 90]})
    >>> fb.metrics.tardiness(fb.simulate(fb.Workload("two", jobs), "flat:nodes=1")).rows()
    [(1, 0.0), (2, 30.0)]
    """
    late = (pl.col("finish_time") - pl.col(DEADLINE)).clip(0).alias("tardiness")
    if not _are_set(result):
        return pl.DataFrame(schema={"job_id": result.jobs.schema["job_id"], "tardiness": pl.Float64})
    return counted(result).filter(has_deadline()).select("job_id", late).collect()


def _seconds(result: Result) -> np.ndarray:
    return tardiness(result)["tardiness"].to_numpy()


@metric(unit="jobs", group="deadlines", needs=_are_set)
def missed_deadlines(result: Result) -> int:
    """Jobs that ended after their deadlines."""
    return int((_seconds(result) > 0).sum())


@metric(unit="share", group="deadlines", needs=_are_set)
def missed_deadlines_share(result: Result) -> float | None:
    """The same as a share of the jobs that have one."""
    late = _seconds(result)
    return float((late > 0).mean()) if late.size else None


@metric(unit="s", group="deadlines", needs=_are_set)
def mean_tardiness(result: Result) -> float | None:
    """Mean tardiness of the jobs that have a deadline."""
    late = _seconds(result)
    return float(late.mean()) if late.size else None


@metric(unit="s", group="deadlines", needs=_are_set)
def max_tardiness(result: Result) -> float | None:
    """The largest tardiness."""
    late = _seconds(result)
    return float(late.max()) if late.size else None
