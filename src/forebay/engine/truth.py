"""Truth: what only the engine knows, above all how long things really take and what is still to come."""

from typing import NamedTuple

import numpy as np

from forebay._numba.pointer import pointer_type
from forebay.algorithms.heap import TIMER
from forebay.core.tables import JOB, LEG, PICK
from forebay.engine.network import Network, make_network
from forebay.engine.paths import Paths, no_paths

CURSOR = np.dtype(
    [
        ("next_submit", "i8"),
        ("next_cancel", "i8"),
        ("n_timers", "i8"),
        ("seq", "i8"),
        ("n_open", "i8"),  # jobs submitted and not yet ended
        ("n_ended", "i8"),
        ("n_decisions", "i8"),
        ("n_log", "i8"),
        ("n_placed", "i8"),
        ("n_wakes", "i8"),
        ("next_action", "i8"),
        ("n_hidden", "i8"),
        ("admitted", "i1"),  # whether this decision's actions have been held against the limits
        ("again", "i1"),  # whether some were put off, so that the policy must decide again
        ("refusal", "i8"),
        ("refused_job", "i8"),
        ("refused_resource", "i8"),
    ],
    align=True,
)
STEP = np.dtype(
    [
        ("walltime", "f8"),
        ("seconds", "f8"),  # all phases together; inf where transfers decide
        ("number", "i8"),
        ("tier", "i8"),  # of storage
        ("phase", "i8"),  # the next one to begin
        ("last_phase", "i8"),
        ("kills", "i1"),  # whether the job is killed when the leg reaches its walltime
        ("logged", "i1"),  # whether its phases are
    ],
    align=True,
)
"""A leg as it really is; `legs` in State shows a policy the part it may know."""
PHASE = np.dtype(
    [
        ("seconds", "f8"),
        ("bytes", "f8"),  # to move, all nodes together
        ("communication", "f8"),  # bytes from each node to each other node
        ("amount", "i8"),  # of `resource` given back at its end
        ("resource", "i4"),  # -1 = none
        ("kind", "i4"),
    ],
    align=True,
)
ACTIVITY = np.dtype(
    [
        ("first", "i8"),  # transfer of the phase under way; -1 = none
        ("streams", "i8"),  # of its transfers, those not yet over
        ("drains", "i8"),  # transfers that run beside the phases
        ("final", "i1"),  # JobState to end the leg with once the drains are over; 0 = phases are still to come
    ],
    align=True,
)
"""What a running job is doing."""
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
CANCEL = np.dtype([("time", "f8"), ("job", "i8")], align=True)
"""A user withdraws a job."""
LIMITS = np.dtype(
    [("run_time", "f8"), ("user_jobs", "i8"), ("user_nodes", "i8"), ("rejects", "i1"), ("active", "i1")], align=True
)
"""What a user may ask for and have running; `rejects`: who has all of it running may not submit more."""
PLACEMENT = np.dtype([("job", "i4"), ("low", "i4"), ("high", "i4")], align=True)
"""Nodes low..high went to a job."""

MAX_WAKES = 4096


class Truth(NamedTuple):
    """The engine's tables. `demands`, `releases`, `carries` are int64[leg, resource]."""

    cursor: np.ndarray  # CURSOR, one row
    jobs: np.ndarray  # JOB, as they will arrive
    legs: np.ndarray  # LEG, as they will be shown
    steps: np.ndarray  # STEP
    demands: np.ndarray
    releases: np.ndarray
    carries: np.ndarray  # what a leg keeps at its end for the next one
    phases: np.ndarray  # PHASE, those of a leg side by side
    timers: np.ndarray  # TIMER heap; slot 2j = job j's phase, 2j + 1 = its walltime
    where: np.ndarray  # int64[slot], see algorithms.heap
    wakes: np.ndarray  # float64, ascending; the first n_wakes
    cancels: np.ndarray  # CANCEL, by time
    limits: np.ndarray  # LIMITS, one row
    person: np.ndarray  # int64[job]: its user, counted from 0; -1 = unknown; empty without limits
    begun: np.ndarray  # int64[person, 2]: jobs that have begun and not ended, and their nodes
    hidden: np.ndarray  # int64: jobs that limits hold back, the first n_hidden
    due: np.ndarray  # int64 scratch: jobs whose walltime is up in this instant
    log: np.ndarray  # LOG
    placements: np.ndarray  # PLACEMENT buffer, emptied by the caller
    activities: np.ndarray  # ACTIVITY
    paths: Paths
    network: Network
    ended: np.ndarray  # int64 scratch: transfers that end in this instant
    room: np.ndarray  # int64[server] scratch for placing
    picks: np.ndarray  # PICK scratch for placing


def empty_truth(
    n_jobs: int,
    n_legs: int,
    n_phases: int,
    n_resources: int,
    n_log: int,
    n_placements: int,
    n_servers: int,
    n_picks: int,
    paths: Paths,
    network: Network,
    n_cancels: int = 0,
    n_limited: int = 0,
    n_persons: int = 0,
) -> Truth:
    """Tables of the right size, blank."""
    shape = (n_legs, n_resources)
    return Truth(
        cursor=np.zeros(1, CURSOR),
        jobs=np.zeros(n_jobs, JOB),
        legs=np.zeros(n_legs, LEG),
        steps=np.zeros(n_legs, STEP),
        demands=np.zeros(shape, np.int64),
        releases=np.zeros(shape, np.int64),
        carries=np.zeros(shape, np.int64),
        phases=np.zeros(n_phases, PHASE),
        timers=np.zeros(2 * n_jobs + 1, TIMER),
        where=np.full(2 * n_jobs, -1, np.int64),
        wakes=np.zeros(MAX_WAKES),
        cancels=np.zeros(n_cancels, CANCEL),
        limits=np.zeros(1, LIMITS),
        person=np.zeros(n_limited, np.int64),
        begun=np.zeros((n_persons, 2), np.int64),
        hidden=np.zeros(n_limited, np.int64),
        due=np.zeros(n_jobs, np.int64),
        log=np.zeros(n_log, LOG),
        placements=np.zeros(n_placements, PLACEMENT),
        activities=np.zeros(n_jobs, ACTIVITY),
        paths=paths,
        network=network,
        ended=np.zeros(len(network.transfers), np.int64),
        room=np.zeros(n_servers, np.int64),
        picks=np.zeros(n_picks, PICK),
    )


TRUTH = pointer_type(empty_truth(1, 1, 1, 1, 1, 1, 0, 0, no_paths(), make_network([], [], 0)))
