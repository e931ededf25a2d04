"""How the machine fared: makespan, use of each resource over time, throughput and counts of jobs."""

import numpy as np
import polars as pl

from forebay.errors import InputError, nearest
from forebay.metrics._metric import metric
from forebay.metrics._table import changes, counted, is_warm, number, span, tiers_of
from forebay.results import Result

KILLED = ("COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED")


@metric(unit="s", group="machine")
def makespan(result: Result) -> float | None:
    """Seconds from the first submission to the last finish; of a period that began with jobs under way, from there."""
    first = pl.col("submission_time").min()
    if is_warm(result):
        first = pl.max_horizontal(first, 0.0)
    return number(counted(result), pl.col("finish_time").max() - first)


@metric("throughput_per_hour", unit="jobs/h", group="machine", better="higher")
def throughput(result: Result) -> float | None:
    """Jobs finished per hour of the makespan."""
    length = makespan(result)
    finished = number(counted(result), pl.col("finish_time").count())
    return None if not length or finished is None else 3600 * finished / length


def usage(result: Result, resource: str) -> pl.DataFrame:
    """What all jobs hold of a resource over time: `amount` from each `time` on; 0 before the first.

    Parameters
    ----------
    resource
        One of `result.resources`.

    Examples
    --------
    >>> fb.metrics.usage(fb.simulate("table1"), "nodes").rows()[:3]
    [(0.0, 2), (120.0, 4), (600.0, 3)]
    """
    if resource not in result.resources:
        raise InputError(f"unknown resource {resource!r}: {nearest(resource, result.resources)}")
    return (
        changes(result, resource)
        .sort("time", maintain_order=True)
        .select("time", pl.col("amount").cum_sum())
        .filter(pl.col("time").shift(-1).ne_missing(pl.col("time")))  # the last row of an instant has its outcome
        .filter(pl.col("amount") != pl.col("amount").shift(1, fill_value=0))  # it may leave the use as it was
        .collect()
    )


def utilisation(result: Result, resource: str | None = None) -> float | None:
    """The share of a resource that jobs held, 0 to 1, over the makespan or the result's window.

    Parameters
    ----------
    resource
        One of `result.resources`; nodes by default, or cores where jobs share nodes.

    Examples
    --------
    >>> round(fb.metrics.utilisation(fb.simulate("table1"), "burst_buffer"), 3)
    0.873
    """
    resource = result.unit if resource is None else resource
    steps, during = usage(result, resource), span(result)
    capacity = result.resources[resource]
    if during is None or during[0] >= during[1] or capacity == 0:
        return None
    start, end = during
    edges = np.append(np.clip(steps["time"].to_numpy(), start, end), end)
    used = float(steps["amount"].to_numpy() @ np.diff(edges))
    return used / (capacity * (end - start))


@metric("utilisation_RESOURCE", unit="share", group="machine", better="higher")
def _every_utilisation(result: Result) -> dict[str, float | None]:
    return {f"utilisation_{name}": utilisation(result, name) for name in result.resources}


@metric(unit="", group="machine", needs=lambda result: "n_resizes" in result.jobs.columns)
def allocations_per_node(result: Result) -> float | None:
    """How many times a node was given to a job, on average: when the job started, or when it grew."""
    jobs = result.jobs.lazy().select(job="job_id")
    taken = number(changes(result, result.unit).join(jobs, on="job", how="semi"), pl.col("amount").clip(0).sum())
    return None if taken is None else taken / result.resources[result.unit]


@metric(unit="jobs", group="counts")
def n_jobs(result: Result) -> int:
    """Jobs of the result, rejected and cancelled ones too."""
    return result.jobs.height


@metric(unit="jobs", group="counts")
def n_started(result: Result) -> int:
    """Jobs that began to run, whatever became of them."""
    return int(result.jobs["starting_time"].count())


@metric(unit="jobs", group="counts")
def n_killed(result: Result) -> int:
    """Jobs stopped at their walltime, or by a decision."""
    return int(result.jobs["final_state"].is_in(KILLED).sum())


@metric(unit="jobs", group="counts")
def n_rejected(result: Result) -> int:
    """Jobs refused: never started, and in no mean."""
    return int((result.jobs["final_state"] == "REJECTED").sum())


@metric(unit="jobs", group="counts")
def n_cancelled(result: Result) -> int:
    """Jobs that their users withdrew before they began."""
    return int((result.jobs["final_state"] == "CANCELLED").sum())


@metric("n_on_TIER", unit="jobs", group="tiers")
def _jobs_on_tiers(result: Result) -> dict[str, int]:
    """The file system first."""
    return {f"n_on_{name}": int((result.jobs["tier"] == name).sum()) for name in tiers_of(result)}
