"""The bound by squashed areas and the shortest rest first: the least sum of ends that any schedule can have.

It holds for schedules that interrupt jobs, too; for jobs of equal weight only.
"""

import numpy as np

from forebay._bounds._found import Found, mixes
from forebay._bounds._jobs import Jobs
from forebay._bounds._objective import MAKESPAN, objectives
from forebay._bounds._preemptive import least_completion

NAME = "squashed, shortest rest first"


def srpt(jobs: Jobs, metric: str) -> list[Found]:
    """One for each resource; only where all jobs count alike."""
    if metric == MAKESPAN or not len(jobs):
        return []
    objective = objectives(jobs, metric)[0]
    if np.ptp(objective.weight) > 0:
        return []
    found = []
    for mix in mixes(jobs):
        ends = least_completion(jobs.ready, mix.load(jobs, jobs.area))
        # A job that takes nothing of this ends, here, when it is ready; all others end with their legs.
        ran = np.where(mix.load(jobs, jobs.area) > 0, jobs.seconds, 0.0)
        delay = float(objective.weight[0]) * (ends - float((jobs.ready + ran).sum()))
        found.append(Found(metric, NAME, objective.value(max(delay, 0.0)), mix.name))
    return found
