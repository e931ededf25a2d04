"""Partitions whose state changes, or that let no job start: their jobs wait until one of theirs is up.

Only who has not begun is held back: it may run where one of its partitions that are up has nodes. When nothing else is
to come, those that still wait for a partition are turned away (see `kernels`): a run ends, their wait would not.
"""

from typing import NamedTuple

import numpy as np

from forebay._numba.jit import kernel
from forebay.core.tables import instant_width

SHUT = np.dtype([("start", "f8"), ("end", "f8"), ("partition", "i8")], align=True)
"""From a start to an end no job starts by a partition."""


class Doors(NamedTuple):
    """All of them; empty where every partition is up for good."""

    table: np.ndarray  # SHUT
    atoms: np.ndarray  # int64[partition]: its nodes, as bits
    of: np.ndarray  # int64[job]: partitions that take it, as bits
    away: np.ndarray  # bool[job]: its partitions take none when it is submitted
    left: np.ndarray  # bool[job]: it still waited for one at the end


def make_doors(n_shut: int = 0, n_partitions: int = 0, n_jobs: int = 0) -> Doors:
    """Tables of the right size, blank."""
    return Doors(
        table=np.zeros(n_shut, SHUT),
        atoms=np.zeros(n_partitions, np.int64),
        of=np.zeros(n_jobs, np.int64),
        away=np.zeros(n_jobs, np.bool_),
        left=np.zeros(n_jobs, np.bool_),
    )


@kernel
def shut_to(doors, j, now):
    """The row of a partition of job `j` that is shut now, -1 if none is; and the atoms of those that are not."""
    first, left, atoms = -1, doors.of[j], 0
    for d in range(len(doors.table)):
        shut = doors.table[d]
        begun = now >= shut["start"] - instant_width(shut["start"])
        if begun and now < shut["end"] - instant_width(shut["end"]) and (left >> shut["partition"]) & 1:
            left &= ~(1 << shut["partition"])
            if first < 0:
                first = d
    for k in range(len(doors.atoms)):
        if (left >> k) & 1:
            atoms |= doors.atoms[k]
    return first, atoms


@kernel
def takes_none(truth, j):
    """Whether no partition of job `j` takes any when it is submitted."""
    return len(truth.doors.away) > 0 and truth.doors.away[j]
