"""Programs in rounds: loops of phases, what a phase takes at each size, and how far each job has come.

Beside the table of phases stands one of steps, which says where a phase leads. Both are rows of the same numbers, and
that of steps is empty where no job has loops: a run without them pays for one comparison.
"""

from typing import NamedTuple

import numpy as np

from forebay.core.tables import FLEX, SIZE

POINT, WAITS, BESIDE, UNCOUPLED, ADDED, BY_ROUND, SERVED, MOVES = (1 << k for k in range(8))
"""What a step is, in bits: a scheduling point stands before each round of the loop that it begins; there what runs
beside is waited for; what follows does not wait for it; messages run beside the work; it runs on the nodes that were
added; requests differ from round to round; its bytes cross no link of the machine, and take its seconds; what it takes
depends on what the job holds, and on its sizes before and after a change."""

NOBODY, POLICY, WHEN_FREE, WHEN_IDLE = range(4)
"""Who answers jobs that ask for another size: nobody, the policy, or the machine, where enough nodes are free or only
while nobody waits."""

STEP = np.dtype(
    [
        ("rounds", "i8"),  # of the loop that it begins; 0 = it begins none
        ("back", "i8"),  # the first phase of the loop that it ends; -1 = it ends none
        ("scale", "i8"),  # the first of its rows in `scales`
        ("request", "i8"),  # the first of its rows in `requests`, where rounds begin with one; -1 = none
        ("flags", "i8"),
        ("stored", "f8"),  # bytes that the job holds before the first round of the loop that it begins
        ("stores", "f8"),  # and that each round adds
    ],
    align=True,
)
SCALE = np.dtype([("seconds", "f8"), ("bytes", "f8"), ("communication", "f8"), ("streams", "i8")], align=True)
"""A phase at a size."""
MOVE = np.dtype([("share", "f8"), ("seconds", "f8")], align=True)
"""What a change of size takes for every byte that the job holds: bytes moved, and seconds."""
PROGRESS = np.dtype(
    [
        ("left", "i8"),  # rounds of the loop under way, this one included
        ("last", "i8"),  # behind the last phase of what it is doing: its program, or a detour
        ("resume", "i8"),  # where a detour leads back to; -1 = it is on none
        ("added", "i8"),  # nodes, when it grew last
        ("before", "i8"),  # which of its sizes it had before its last change
        ("gives", "i8"),  # nodes that go back when its detour has ended
        ("beside", "i8"),  # first transfer that runs beside; -1 = none
        ("begun", "i1"),  # whether its first round has
        ("halted", "i1"),  # no phase is under way: it waits for what runs beside, or stands at a point
    ],
    align=True,
)
"""How far a job has come in its rounds."""


class Rounds(NamedTuple):
    """All of it. `jobs` and `sizes` are as they will be shown in State."""

    visits: np.ndarray  # int64[1]: who answers at points; only the policy is called at those without a request
    steps: np.ndarray  # STEP[phase]
    scales: np.ndarray  # SCALE
    requests: np.ndarray  # int64: nodes, by round (if BY_ROUND), then by size
    detours: np.ndarray  # int64[job, 3]: first phase of its reconfiguration, of its expansion, and behind both
    moves: np.ndarray  # MOVE: by size before, then by size after
    first_move: np.ndarray  # int64[job]: -1 = its changes move nothing that it holds; empty = nobody's do
    progress: np.ndarray  # PROGRESS[job]
    row: np.ndarray  # int64[job]
    jobs: np.ndarray  # FLEX
    sizes: np.ndarray  # SIZE


def loop_begins(steps: np.ndarray) -> np.ndarray:
    """Of each phase, the last one up to it that begins a loop; 0 if none does."""
    begins: np.ndarray = np.maximum.accumulate(np.where(steps["rounds"] > 0, np.arange(len(steps)), 0))
    return begins


def no_rounds() -> Rounds:
    """For runs without loops."""
    return make_rounds(0, 0)


def of_run(rounds: Rounds | None) -> Rounds:
    """The tables of a program for a run of its own: what runs change is copied."""
    if rounds is None:
        return no_rounds()
    return rounds._replace(visits=rounds.visits.copy(), progress=rounds.progress.copy())


def make_rounds(n_jobs: int, n_phases: int, n_scales: int = 0, n_flexible: int = 0, n_sizes: int = 0) -> Rounds:
    """Tables of the right size, blank."""
    progress = np.zeros(n_jobs, PROGRESS)
    progress["resume"] = progress["beside"] = -1
    return Rounds(
        visits=np.zeros(1, np.int64),
        steps=np.zeros(n_phases, STEP),
        scales=np.zeros(n_scales, SCALE),
        requests=np.zeros(0, np.int64),
        detours=np.zeros((n_jobs, 3), np.int64),
        moves=np.zeros(0, MOVE),
        first_move=np.zeros(0, np.int64),
        progress=progress,
        row=np.full(n_jobs if n_flexible else 0, -1, np.int64),
        jobs=np.zeros(n_flexible, FLEX),
        sizes=np.zeros(n_sizes, SIZE),
    )
