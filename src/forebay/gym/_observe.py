"""What a learner sees: the window of waiting jobs and the machine, as arrays of numbers between 0 and 1, or about."""

import math

import numpy as np

from forebay.core.actions import Actions
from forebay.core.view import View

AHEAD = (600.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
"""Seconds from now at which the nodes that will be free are reported, as far as walltimes tell."""
_LONG = math.log1p(7 * 86400.0)


def n_job_features(n_resources: int) -> int:
    """Of each job: whether there is one, its demands, its walltime, how long it waits, whether it fits now."""
    return 4 + n_resources


def n_machine_features(n_resources: int) -> int:
    """What is free now of each resource, nodes ahead, how many wait and run."""
    return n_resources + len(AHEAD) + 2


def _scaled(seconds: float) -> float:
    """Seconds to a week as 0 to 1, each doubling alike."""
    return math.log1p(max(seconds, 0.0)) / _LONG if math.isfinite(seconds) else 2.0


def window_of(view: View, act: Actions, jobs: list[int], size: int) -> np.ndarray:
    """A row for each of the first jobs that wait."""
    capacity = np.maximum(view.capacity, 1)
    table = np.zeros((size, n_job_features(len(view.resources))), np.float32)
    for row, job in zip(table, jobs, strict=False):
        waited = view.now - float(view.jobs["queued_since"][job])
        row[0], row[1], row[2], row[3] = 1, act.fits(job), _scaled(view.walltime(job)), _scaled(waited)
        row[4:] = view.demand(job) / capacity
    return table


def machine_of(view: View, act: Actions) -> np.ndarray:
    """The machine after what this decision has started."""
    capacity = np.maximum(view.capacity, 1)
    free, running = np.array(act.free, float), view.running
    ends, nodes = running["end"], view.releases[running["leg"], 0]
    ahead = [(free[0] + nodes[ends <= view.now + seconds].sum()) / capacity[0] for seconds in AHEAD]
    counts = [_scaled(len(view.queue)), _scaled(len(running))]
    return np.array([*(free / capacity), *ahead, *counts], np.float32)
