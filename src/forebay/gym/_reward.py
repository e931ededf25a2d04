"""What a learner is rewarded with: step by step, so that all steps of an episode add up to one number of its run."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from forebay._run.simulation import Simulation
from forebay.core.codes import JobState
from forebay.errors import InputError, nearest, wrong_type
from forebay.metrics import summary
from forebay.metrics._listing import about

Score = Callable[[Simulation], float]
"""Of a run so far; a step is rewarded with how much it has grown."""


def waiting(sim: Simulation) -> float:
    """Minus the seconds that jobs have waited for their start so far, the mean over all jobs of the workload."""
    jobs = sim.view.jobs
    begun = np.isfinite(jobs["start"]) & (jobs["state"] != JobState.UNSUBMITTED)
    waits = np.where(begun, jobs["start"], np.where(jobs["state"] == JobState.QUEUED, sim.now, jobs["submit"]))
    return -float((waits - jobs["submit"]).sum()) / len(jobs)


def slowdown(sim: Simulation) -> float:
    """Minus the slowdowns of jobs that have ended, bounded at 10 s, each counted once it is known, over all jobs."""
    jobs = sim.view.jobs
    ended = jobs[np.isfinite(jobs["start"]) & (jobs["state"] >= JobState.COMPLETED)]
    seconds = np.maximum(ended["finish"] - ended["start"], 10.0)
    return -float(np.maximum((ended["finish"] - ended["submit"]) / seconds, 1.0).sum()) / len(jobs)


_DENSE = {"waiting": waiting, "slowdown": slowdown}


def score_of(reward: Any) -> tuple[Score | None, str]:
    """The score of runs that are under way, or the metric of those that are over: a name with its sign before it."""
    if callable(reward):
        return reward, ""
    if isinstance(reward, str):
        if reward in _DENSE:
            return _DENSE[reward], ""
        about(reward.removeprefix("-"))  # refuses what is none
        return None, reward
    words = " or ".join(f'"{word}"' for word in _DENSE)
    raise wrong_type("the reward", reward, f'{words}, a metric ("-mean_waiting_time", "utilisation"), or a function')


def of_result(sim: Simulation, metric: str) -> float:
    """A number of a run that is over; with a minus before it, the less the better."""
    numbers, name = summary(sim.result()), metric.removeprefix("-")
    if name not in numbers:
        raise InputError(f"the reward is {metric}, and the summary has no number {name!r}: {nearest(name, numbers)}")
    return finite(numbers[name], metric, sim) * (-1 if metric.startswith("-") else 1)


def finite(value: Any, what: str, sim: Simulation) -> float:
    """A reward, if it is a number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(
            f"the reward {what} is {value!r} at t = {sim.now:.10g} s; give a finite number, such as "
            '"-mean_waiting_time" or a function of the run that returns one'
        )
    return float(value)
