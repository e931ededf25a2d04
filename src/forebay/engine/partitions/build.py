"""The states of partitions over time, in the seconds of a workload: whom they take, and when they let jobs start."""

import math
from typing import Protocol

import numpy as np

from forebay._support.text import counted
from forebay.engine.partitions.tables import Doors, make_doors
from forebay.errors import InputError
from forebay.platforms.partitions import STARTS, TAKES, Partition
from forebay.platforms.platform import Platform
from forebay.workload.dates import seconds_of
from forebay.workload.workload import Workload

Stretch = tuple[float, float, str]

_SHUT = {
    "down": ("PartitionDown", "is down"),
    "inactive": ("PartitionInactive", "is inactive"),
}
"""What `squeue` shows of a job that waits for a partition, and a sentence of that."""


def stretches_of(workload: Workload, one: Partition) -> list[Stretch]:
    """The states of a partition: from when, to when, which."""
    try:
        later = sorted(((seconds_of(workload, change.at), change.state) for change in one.changes), key=lambda c: c[0])
    except InputError as error:
        raise InputError(f"partition {one.name}: {error}") from None
    begins = [-math.inf, *(time for time, _ in later)]
    states = [one.state, *(state for _, state in later)]
    return list(zip(begins, [*begins[1:], math.inf], states, strict=True))


def taken_by(workload: Workload, one: Partition) -> tuple[np.ndarray, str]:
    """Which jobs a partition takes by its state when they are submitted; and that of the first that it does not."""
    submit = workload.jobs["submit"].to_numpy()
    takes, why = np.zeros(len(submit), bool), ""
    for begin, end, state in stretches_of(workload, one):
        now = (submit >= begin) & (submit < end)
        takes |= now & (state in TAKES)
        why = why or (state if state not in TAKES and now.any() else "")
    return takes, "drained" if why == "drain" else why


def starts_after(workload: Workload, one: Partition) -> np.ndarray:
    """Whether a partition lets jobs start, ever, after each was submitted."""
    last = max((end for _, end, state in stretches_of(workload, one) if state in STARTS), default=-math.inf)
    after: np.ndarray = workload.jobs["submit"].to_numpy() < last
    return after


def _shut(workload: Workload, one: Partition) -> list[Stretch]:
    return [stretch for stretch in stretches_of(workload, one) if stretch[2] not in STARTS]


def are_open(platform: Platform) -> bool:
    """Whether jobs may start by every partition, at all times."""
    return all(state in STARTS for one in platform.partitions for state in [one.state, *(c.state for c in one.changes)])


class _Places(Protocol):
    taken: np.ndarray | None
    away: np.ndarray | None


def doors_of(workload: Workload, platform: Platform, places: _Places | None) -> Doors:
    """The stretches in which partitions let no job start, and whom they take."""
    if places is None or places.taken is None or places.away is None:
        return make_doors()
    rows = [] if are_open(platform) else _rows(workload, platform)
    if not rows and not places.away.any():
        return make_doors()
    doors = make_doors(len(rows), len(platform.partitions), len(workload))
    doors.table[:] = rows
    for a, atom in enumerate(platform.atoms):
        for k in range(len(platform.partitions)):
            doors.atoms[k] |= (atom.partitions >> k & 1) << a
    doors.of[:], doors.away[:] = places.taken, places.away
    return doors


def _rows(workload: Workload, platform: Platform) -> list[tuple[float, float, int]]:
    return [(begin, end, k) for k, one in enumerate(platform.partitions) for begin, end, _ in _shut(workload, one)]


def reasons_of(workload: Workload, platform: Platform) -> list[tuple[str, str, str]]:
    """Why each row of `Doors.table` holds jobs back: in a word, in Slurm's, and in a sentence."""
    return [
        ("partition", slurm, f"partition {one.name} {words}")
        for one in platform.partitions
        for _, _, state in _shut(workload, one)
        for slurm, words in [_SHUT[state]]
    ]


def never_started(platform: Platform, doors: Doors) -> list[str]:
    """How many jobs a run left waiting for partitions, and for which."""
    if not doors.left.any():
        return []
    shut = {int(k) for k, end in zip(doors.table["partition"], doors.table["end"], strict=True) if end == math.inf}
    names = [platform.partitions[k] for k in sorted(shut) if (doors.of[doors.left] >> k & 1).any()]
    states = [f"{one.name} is {one.changes[-1].state if one.changes else one.state}" for one in names]
    return [f"{counted(int(doors.left.sum()), 'job')} never started: partition {', partition '.join(states)}"]
