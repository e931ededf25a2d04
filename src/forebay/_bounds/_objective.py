"""What a metric asks of starts: the weight of each job's delay, and what comes on top whatever a policy does."""

from dataclasses import dataclass

import numpy as np

from forebay._bounds._jobs import Jobs
from forebay.errors import InputError, nearest

MEANS = (
    "mean_wait",
    "mean_turnaround_time",
    "node_weighted_mean_waiting_time",
    "node_weighted_mean_turnaround_time",
)
SLOWDOWNS = {"mean_bounded_slowdown_10s": 10.0, "mean_bounded_slowdown_10min": 600.0}
MAKESPAN = "makespan"
METRICS = (*MEANS, *SLOWDOWNS, MAKESPAN)
"""Names as in summaries."""
SHORT = {"mean_turnaround": "mean_turnaround_time"}
"""Names as of the functions in forebay.metrics."""
ON_REQUEST = ("mean_waiting_time",)
"""No job waits less in total than until its first start: a bound on one mean holds for the other."""


def metric_named(name: str) -> str:
    """The metric of a name."""
    found = SHORT.get(name, name)
    if found not in (*METRICS, *ON_REQUEST):
        raise InputError(f"no bound is known for the metric {name!r}: {nearest(name, [*METRICS, *SHORT])}")
    return found


def of_starts(metric: str) -> bool:
    """Whether it counts when jobs start, not when they end: then their first legs stand for them."""
    return "turnaround" not in metric


@dataclass(frozen=True)
class Objective:
    """metric >= (constant + the sum of weight x delay) / divisor; the delay of a job is its start less `ready`."""

    metric: str
    weight: np.ndarray  # float64[job]
    constant: float
    divisor: float

    def value(self, delay: float) -> float:
        """The metric, of a weighted sum of delays."""
        return (self.constant + delay) / self.divisor if self.divisor else 0.0


def objectives(jobs: Jobs, metric: str) -> list[Objective]:
    """What holds of a metric of `jobs`; of several the largest counts.

    Jobs that may leave before they run count with the least that a job can have: no wait, no time at all, a slowdown
    of 1. That holds whether they run or not, as no mean is below it.
    """
    if metric in SLOWDOWNS:
        return _slowdowns(jobs, metric)
    weighted = metric.startswith("node_weighted")
    weight = jobs.nodes.astype(float) if weighted else np.ones(len(jobs))
    more = jobs.uncertain_nodes if weighted else jobs.uncertain
    since = jobs.ready - jobs.submit + (0.0 if of_starts(metric) else jobs.rest)
    return [Objective(metric, weight, float((weight * since).sum()), float(weight.sum()) + more)]


def _slowdowns(jobs: Jobs, metric: str) -> list[Objective]:
    """max(1, x) is at least 1 and at least x: x where a job's time alone reaches the bound, or x of all jobs."""
    if not jobs.exact:
        raise InputError(
            f"{jobs.name}: no bound is known for {metric} where run times depend on what else runs, for a slowdown is "
            "less of a job that takes longer; run with --job-model alloc-only, or choose another metric"
        )
    bound = SLOWDOWNS[metric]
    each = 1 / np.maximum(jobs.total, bound)
    alone = each * (jobs.ready - jobs.submit + jobs.total)
    found = []
    for counts in (alone >= 1, np.ones(len(jobs), bool)):
        constant = np.where(counts, alone, 1.0).sum() + jobs.uncertain
        found.append(Objective(metric, np.where(counts, each, 0.0), float(constant), len(jobs) + jobs.uncertain))
    return found
