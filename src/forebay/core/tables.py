"""State: what a scheduler may know, as a handful of tables. A policy reads these and writes actions, nothing else.

Rows of jobs that have not been submitted are blank: the engine fills them in on arrival, so no policy can look ahead.
"""

from typing import NamedTuple

import numba
import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay._numba.pointer import pointer_type

CLOCK = np.dtype(
    [
        ("now", "f8"),
        ("reason", "i8"),  # Reason bits of this instant
        ("n_queued", "i8"),
        ("queue_first", "i8"),  # the queue is queue[queue_first:queue_last], with holes of -1
        ("queue_begun", "i8"),  # where jobs that wait for a later leg end and new ones begin
        ("queue_last", "i8"),
        ("n_running", "i8"),
        ("n_actions", "i8"),
        ("n_free", "i8"),  # intervals of free nodes
        ("held_blank", "i8"),  # first unused row of `held`
        ("chunked", "i8"),  # the resource that lies in chunks on servers; -1 = none
        ("chunk_blank", "i8"),  # first unused row of `chunks`
        ("n_picks", "i8"),
        ("large", "i8"),  # the resource that counts nodes of the larger kind, those with the highest ids; -1 = none
        ("local", "i8"),  # the resource of which nodes have devices of two sizes, where they have
        ("small_device", "i8"),  # bytes in a node of the smaller kind
        ("large_device", "i8"),
    ],
    align=True,
)
JOB = np.dtype(
    [
        ("submit", "f8"),
        ("walltime", "f8"),
        ("priority", "f8"),
        ("start", "f8"),  # of the first leg
        ("finish", "f8"),
        ("queued_since", "f8"),  # when the current leg joined the queue
        ("waited", "f8"),  # time queued for any leg, until the last start
        ("leg_start", "f8"),
        ("id", "i8"),  # the number in the trace
        ("nodes", "i8"),  # the most that any of its legs holds
        ("leg", "i8"),  # row in `legs`: the one running, or waiting to
        ("last_leg", "i8"),
        ("at", "i8"),  # place in the queue
        ("held", "i8"),  # first interval of the nodes it holds; -1 = none
        ("chunks", "i8"),  # first run of the chunks it holds; -1 = none
        ("tier", "i8"),  # of storage, that it was started on
        ("user", "i8"),
        ("group", "i8"),
        ("queue", "i8"),
        ("state", "i1"),
    ],
    align=True,
)
LEG = np.dtype(
    [
        ("walltime", "f8"),
        ("moves", "f8"),  # bytes between its nodes and its tier of storage
        ("stages", "f8"),  # bytes between that tier and the slow one
        ("number", "i8"),  # which of its job's legs it is: 0, 1, ...
        ("chunk", "i8"),  # bytes of each chunk that it takes on servers; 0 = none
        ("tier", "i8"),  # of storage: 0 = the slow one
        ("last", "i8"),  # row of the last leg on this tier
        ("other", "i8"),  # of a first leg: row of the first leg on another tier; -1 = none
    ],
    align=True,
)
"""What the user said of a leg. A job that may run on several tiers of storage has legs for each; its row in `jobs`
names those of the first until it starts."""
TIER = np.dtype([("rate", "f8"), ("stage_rate", "f8"), ("resource", "i8")], align=True)
"""A tier of storage: bytes/s between it and all nodes, and between it and tier 0, the slow one; the resource that its
room is counted as, -1 where there is no end to it."""
RESOURCE = np.dtype([("capacity", "i8"), ("free", "i8")], align=True)
RUNNING = np.dtype([("end", "f8"), ("job", "i8"), ("leg", "i8")], align=True)
"""Running legs by expected end (start + walltime), ties in order of start."""
ACTION = np.dtype(
    [
        ("time", "f8"),
        ("job", "i8"),
        ("first_pick", "i8"),
        ("n_picks", "i8"),
        ("tier", "i8"),
        ("large", "i8"),
        ("verb", "i4"),
        ("why", "i4"),
    ],
    align=True,
)
"""A start may name its nodes and servers: rows of `picks`. Without any the engine picks them. It names a tier of
storage, which counts for a job's first leg. Where nodes are of two kinds it may say how many large ones it takes; with
-1 these are as few as they can be."""
INTERVAL = np.dtype([("low", "i8"), ("high", "i8"), ("next", "i8")], align=True)
"""Nodes low..high, both included; `next` chains the intervals of one job."""
CHUNK = np.dtype([("server", "i8"), ("count", "i8"), ("size", "i8"), ("next", "i8")], align=True)
"""`count` chunks of `size` bytes on a server; `next` chains those of one job, in the order of its nodes in `held`."""
PICK = np.dtype([("low", "i8"), ("count", "i8"), ("server", "i8")], align=True)
"""Nodes low, low + 1, ... and the server of their chunks (-1: they have none). low = -1: chunks without nodes."""


class State(NamedTuple):
    """The tables of a run that a policy sees. `demands` and `releases` are int64[leg, resource]."""

    clock: np.ndarray  # CLOCK, one row
    jobs: np.ndarray  # JOB
    legs: np.ndarray  # LEG
    demands: np.ndarray  # what a leg takes when it starts, beyond what it carried over
    releases: np.ndarray  # what a leg gives back when it ends; of large nodes, what it took when it started
    resources: np.ndarray  # RESOURCE; 0 = nodes
    queue: np.ndarray  # waiting jobs: first those that have begun, then the others in order of arrival; see CLOCK
    running: np.ndarray  # RUNNING, the first n_running
    actions: np.ndarray  # ACTION, the first n_actions
    free: np.ndarray  # INTERVAL, the first n_free, highest ids first
    held: np.ndarray  # INTERVAL, chained
    site: np.ndarray  # int32[node]: where it stands
    seats: np.ndarray  # int64[k, 3]: word, bits, site: ascending nodes that look for room alike, in words of 32 bits
    near: np.ndarray  # int64[site, server]: servers as a site looks for room, nearest first
    room: np.ndarray  # int64[server]: free bytes
    chunks: np.ndarray  # CHUNK, chained
    picks: np.ndarray  # PICK, the first n_picks
    tiers: np.ndarray  # TIER; empty where jobs have no choice


def empty_state(
    n_jobs: int,
    n_legs: int,
    n_resources: int,
    n_nodes: int,
    n_sites: int = 1,
    n_servers: int = 0,
    n_chunks: int = 0,
    n_seats: int = 0,
    n_tiers: int = 0,
) -> State:
    """Tables of the right size, blank. Nothing can be held in more pieces than there are nodes."""
    shape = (n_legs, n_resources)
    # Nodes, and chunks, can be picked once each in a decision; chunks of legs without nodes come on top.
    n_picks = n_nodes + n_chunks + 1
    clock = np.zeros(1, CLOCK)
    clock["large"] = -1
    return State(
        clock=clock,
        jobs=np.zeros(n_jobs, JOB),
        legs=np.zeros(n_legs, LEG),
        demands=np.zeros(shape, np.int64),
        releases=np.zeros(shape, np.int64),
        resources=np.zeros(n_resources, RESOURCE),
        # Twice the jobs: when an end is reached at least half is holes, so closing them costs O(1) a job.
        queue=np.zeros(2 * n_jobs + 16, np.int64),
        running=np.zeros(n_jobs + 1, RUNNING),
        actions=np.zeros(n_jobs + 1024, ACTION),
        free=np.zeros(n_nodes + 1, INTERVAL),
        held=np.zeros(n_nodes + 1, INTERVAL),
        site=np.zeros(n_nodes, np.int32),
        seats=np.zeros((n_seats, 3), np.int64),
        near=np.zeros((n_sites, n_servers), np.int64),
        room=np.zeros(n_servers, np.int64),
        chunks=np.zeros(n_chunks, CHUNK),
        picks=np.zeros(n_picks, PICK),
        tiers=np.zeros(n_tiers, TIER),
    )


STATE = pointer_type(empty_state(1, 1, 1, 1))
PARAMS = types.float64[::1]
MEMORY = types.Tuple((types.int64[:, ::1], types.float64[:, ::1]))
PICKS = numba.from_dtype(PICK)[::1]
RNG = numba.typeof(np.random.default_rng(0))
DECIDE = types.void(STATE, PARAMS, MEMORY, RNG)

policy_kernel = allocating_kernel(DECIDE)
"""Decorates a compiled policy: `decide(state, params, memory, rng)`."""


@kernel
def instant_width(time):
    """Events this close to the first are one instant: analytically equal times differ in their last bits."""
    return min(1e-9 * max(1.0, abs(time)), 1e-6)
