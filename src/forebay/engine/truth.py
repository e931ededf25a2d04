"""Truth: what only the engine knows, above all how long things really take and what is still to come."""

from typing import NamedTuple

import numba
import numpy as np

from forebay.algorithms.heap import TIMER
from forebay.core.tables import JOB

CURSOR = np.dtype(
    [
        ("next_submit", "i8"),
        ("n_timers", "i8"),
        ("seq", "i8"),
        ("n_open", "i8"),  # jobs submitted and not yet ended
        ("n_ended", "i8"),
        ("n_decisions", "i8"),
        ("n_log", "i8"),
        ("n_placed", "i8"),
        ("n_wakes", "i8"),
        ("next_action", "i8"),
        ("refusal", "i8"),
        ("refused_job", "i8"),
        ("refused_resource", "i8"),
    ],
    align=True,
)
STEP = np.dtype(
    [
        ("walltime", "f8"),
        ("seconds", "f8"),  # all phases together
        ("number", "i8"),
        ("phase", "i8"),  # the next one to begin
        ("last_phase", "i8"),
        ("kills", "i1"),  # whether the job is killed when the leg reaches its walltime
    ],
    align=True,
)
"""A leg as it really is; `legs` in State shows a policy the part it may know."""
PHASE = np.dtype([("seconds", "f8"), ("amount", "i8"), ("resource", "i4"), ("kind", "i4")], align=True)
"""A phase; at its end `amount` of `resource` is given back (resource -1: nothing)."""
LOG = np.dtype(
    [
        ("time", "f8"),
        ("amount", "i8"),
        ("job", "i4"),
        ("leg", "i2"),
        ("resource", "i2"),
        ("kind", "i1"),
        ("reason", "i1"),
    ],
    align=True,
)
PLACEMENT = np.dtype([("job", "i4"), ("low", "i4"), ("high", "i4")], align=True)
"""Nodes low..high went to a job."""

MAX_WAKES = 4096


class Truth(NamedTuple):
    """The engine's tables. `demands`, `releases`, `carries` are int64[leg, resource]."""

    cursor: np.ndarray  # CURSOR, one row
    jobs: np.ndarray  # JOB, as they will arrive
    steps: np.ndarray  # STEP
    demands: np.ndarray
    releases: np.ndarray
    carries: np.ndarray  # what a leg keeps at its end for the next one
    phases: np.ndarray  # PHASE, those of a leg side by side
    timers: np.ndarray  # TIMER heap; slot 2j = job j's phase, 2j + 1 = its walltime
    where: np.ndarray  # int64[slot], see algorithms.heap
    wakes: np.ndarray  # float64, ascending; the first n_wakes
    due: np.ndarray  # int64 scratch: jobs whose walltime is up in this instant
    log: np.ndarray  # LOG
    placements: np.ndarray  # PLACEMENT buffer, emptied by the caller


def empty_truth(n_jobs: int, n_legs: int, n_phases: int, n_resources: int, n_log: int, n_placements: int) -> Truth:
    """Tables of the right size, blank."""
    shape = (n_legs, n_resources)
    return Truth(
        cursor=np.zeros(1, CURSOR),
        jobs=np.zeros(n_jobs, JOB),
        steps=np.zeros(n_legs, STEP),
        demands=np.zeros(shape, np.int64),
        releases=np.zeros(shape, np.int64),
        carries=np.zeros(shape, np.int64),
        phases=np.zeros(n_phases, PHASE),
        timers=np.zeros(2 * n_jobs + 1, TIMER),
        where=np.full(2 * n_jobs, -1, np.int64),
        wakes=np.zeros(MAX_WAKES),
        due=np.zeros(n_jobs, np.int64),
        log=np.zeros(n_log, LOG),
        placements=np.zeros(n_placements, PLACEMENT),
    )


TRUTH = numba.typeof(empty_truth(1, 1, 1, 1, 1, 1))
