"""What running jobs do, as counters of a machine show it: tables that the engine fills where a policy asks for them.

A scheduler sees which phase a job is in, the bytes of the transfer under way, and the rates at which they move. It does
not see what a job will do next, nor how long that takes. Who begins a transfer says how much it moves.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from forebay._numba.jit import kernel
from forebay.core.codes import JobState

IO = "io"
"""What a policy writes in its `needs` to have these tables filled before each of its decisions."""

NO_PHASE = -1

DOING = np.dtype(
    [
        ("moved", "f8"),  # bytes of the phase under way, all nodes together; 0 of one that computes
        ("left", "f8"),  # and those still to move
        ("rate", "f8"),  # bytes/s now
        ("beside_left", "f8"),  # bytes of what runs beside its phases, such as drains
        ("beside_rate", "f8"),
        ("done", "i8"),  # phases of its leg that are over, of an application its rounds; -1 once it was killed
        ("phase", "i8"),  # PhaseKind; -1 = it does not run, or waits before a round
    ],
    align=True,
)
"""What a job does. Rates are what the links give now, with what began in this instant and before what is decided."""

LINK_LOAD = np.dtype([("capacity", "f8"), ("load", "f8"), ("streams", "i8")], align=True)
"""A shared link: bytes/s that it can carry and that cross it now, and the parallel streams of the jobs on it."""

TIER_LOAD = np.dtype([("load", "f8"), ("streams", "i8"), ("resource", "i8")], align=True)
"""A tier of storage: bytes/s to and from it, the streams, and the resource that its room is counted as; -1 = none."""

KNOWN_IO = np.dtype([("seconds", "f8"), ("io", "f8"), ("bytes", "f8"), ("period", "f8")], align=True)
"""Of a whole job alone on the machine: how long it takes, how long of that it reads or writes, the bytes that it moves,
and the mean time from the beginning of one of its I/O phases to that of the next; inf = it has none."""


class Io(NamedTuple):
    """All of it; empty where the policy does not ask."""

    jobs: np.ndarray  # DOING[job]
    links: np.ndarray  # LINK_LOAD, in the order of the machine's names of links
    tiers: np.ndarray  # TIER_LOAD: the file system if there is one, then the stores in the platform's order
    stores: np.ndarray  # int64[1 + way]: the tier that is the file system, then of each way to run its store; -1 = none
    rows: np.ndarray  # int64: the jobs of which something is shown, the first n
    n: np.ndarray  # int64[1]


class Labels(NamedTuple):
    """The names of what State knows by number."""

    links: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # a workload's own: those of State.columns
    words: Mapping[str, tuple[str, ...]] = {}  # of a column of text: what its codes 0, 1, ... stand for


NO_LABELS = Labels()


def empty_io(n_jobs: int = 0, n_links: int = 0, n_tiers: int = 0, n_ways: int = 0) -> Io:
    """Tables of the right size, blank."""
    jobs = np.zeros(n_jobs, DOING)
    jobs["phase"] = NO_PHASE
    return Io(
        jobs=jobs,
        links=np.zeros(n_links, LINK_LOAD),
        tiers=np.zeros(n_tiers, TIER_LOAD),
        stores=np.full(1 + n_ways, -1, np.int64),
        rows=np.zeros(n_jobs, np.int64),
        n=np.zeros(1, np.int64),
    )


@kernel
def held_of(state, j, r):
    """What job `j`, which runs or waits between its legs, holds of resource `r`."""
    job = state.jobs[j]
    if r == 0:
        return job["held"]
    if job["state"] != JobState.RUNNING and job["state"] != JobState.QUEUED:
        return 0
    # What a leg carries on is what the next one holds beyond what it takes itself.
    amount, running = 0, job["state"] == JobState.RUNNING
    for leg in range(job["leg"], job["last_leg"] + 1):
        amount += state.releases[leg, r]
        if leg > job["leg"] or not running:
            amount -= state.demands[leg, r]
    return amount
