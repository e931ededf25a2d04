"""The bound by areas: all that is submitted from some moment on has to go through the machine after it."""

import numpy as np

from forebay._bounds._alone import beginning
from forebay._bounds._found import Found
from forebay._bounds._jobs import Jobs
from forebay._bounds._objective import MAKESPAN

NAME = "area"


def area(jobs: Jobs, metric: str) -> list[Found]:
    """Bounds on the makespan, one for each resource; other metrics have none of this kind."""
    if metric != MAKESPAN or not len(jobs):
        return []
    order = np.argsort(jobs.ready, kind="stable")
    found = []
    for r, name in enumerate(jobs.resources):
        if jobs.capacity[r] > 0 and jobs.all_area[:, r].any():
            after = np.cumsum(jobs.all_area[order[::-1], r])[::-1] / jobs.capacity[r]
            found.append(Found(metric, NAME, float((jobs.ready[order] + after).max() - beginning(jobs)), name))
    return found
