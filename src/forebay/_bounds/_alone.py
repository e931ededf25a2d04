"""The bound of an empty machine: every job starts when it is ready."""

import numpy as np

from forebay._bounds._found import Found
from forebay._bounds._jobs import Jobs
from forebay._bounds._objective import MAKESPAN, SLOWDOWNS, objectives

NAME = "alone"


def alone(jobs: Jobs, metric: str) -> Found:
    """No wait at all."""
    if metric == MAKESPAN:
        value = float((jobs.ready + jobs.rest).max() - beginning(jobs)) if len(jobs) else 0.0
    elif metric in SLOWDOWNS:
        value = max(objective.value(0.0) for objective in objectives(jobs, metric)) if len(jobs) else 1.0
    else:
        value = objectives(jobs, metric)[0].value(0.0)
    return Found(metric, NAME, value, "")


def beginning(jobs: Jobs) -> float:
    """What makespans count from: the first submission, or second 0 of a period that began with jobs under way."""
    first = np.argmin(jobs.submit)
    return float(jobs.submit[first]) if jobs.ready.min() <= jobs.submit[first] else float(jobs.ready.min())
