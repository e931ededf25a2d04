"""What an I/O scheduler goes by: the jobs that ask for the file system, and what their I/O has taken."""

from typing import NamedTuple

import numpy as np

SETS = 32
"""Sets of jobs that share by weights: one for each power of ten."""
PLAN = np.dtype([("scheduler", "i8"), ("n", "i8"), ("turn", "i8")], align=True)
"""Which of IO_SCHEDULERS decides; how many requests there are; the turn of the next."""
REQUEST = np.dtype(
    [
        ("job", "i8"),
        ("turn", "i8"),  # in order of arrival; who was interrupted goes before those that wait
        ("grant", "f8"),  # what each of its streams counts as; 0 = held
        ("given", "f8"),  # the same as its transfers run now; -1 = some of them have just begun
        ("known", "i1"),  # whether the scheduler has decided on it before
    ],
    align=True,
)
"""A job that reads or writes, or would."""
ACCOUNT = np.dtype(
    [
        ("period", "f8"),  # mean seconds from the beginning of one of its I/O phases to that of the next
        ("since", "f8"),  # when the I/O phase under way began; NaN = there is none
        ("taken", "f8"),  # seconds of I/O phases that are over
        ("alone", "f8"),  # seconds that those begun take alone on the machine
        ("asks", "i1"),  # whether it is among the requests
    ],
    align=True,
)
"""A job's reads and writes; what runs beside its phases keeps it from nothing, and does not count."""


class IoScheduling(NamedTuple):
    """All of it; empty where no scheduler of I/O is named, or nothing moves."""

    plan: np.ndarray  # PLAN, one row
    requests: np.ndarray  # REQUEST, the first n, in order of arrival
    jobs: np.ndarray  # ACCOUNT[job]
    first: np.ndarray  # int64[set]: the request that has the turn in it; -1 = none


def make_io(n_jobs: int = 0, scheduler: int = 0) -> IoScheduling:
    """Tables of the right size: no job asks."""
    some = 1 if n_jobs else 0
    made = IoScheduling(
        np.zeros(some, PLAN), np.zeros(n_jobs, REQUEST), np.zeros(n_jobs, ACCOUNT), np.full(some * SETS, -1, np.int64)
    )
    made.plan["scheduler"], made.jobs["since"] = scheduler, np.nan
    return made
