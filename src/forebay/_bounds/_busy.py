"""The bound by squashed areas and mean busy times: a job that is not interrupted runs in one piece.

So the mean of the moments at which it runs is half its seconds after its start, while squashed it may be short and
early. Without release times this is the squashed area bound of Turek et al. (1994); with them, of Goemans (1996).
"""

import numpy as np

from forebay._bounds._found import Found, mixes
from forebay._bounds._jobs import Jobs
from forebay._bounds._objective import MAKESPAN, objectives
from forebay._bounds._preemptive import least_busy_moment

NAME = "squashed, mean busy time"


def busy(jobs: Jobs, metric: str) -> list[Found]:
    """One for each resource."""
    if metric == MAKESPAN or not len(jobs):
        return []
    found = []
    for objective in objectives(jobs, metric):
        for mix in mixes(jobs):
            load, moment = mix.load(jobs, jobs.area), mix.load(jobs, jobs.moment)
            middle = np.divide(moment, load, out=np.zeros_like(load), where=load > 0)
            least = least_busy_moment(jobs.ready, load, objective.weight)
            delay = least - float((objective.weight * (jobs.ready + middle)).sum())
            found.append(Found(metric, NAME, objective.value(max(delay, 0.0)), mix.name))
    return found
