"""Meters: what jobs under one limit have running together, and how much that may be.

A limit of a QOS has one meter for all its jobs, or one for each of their users or accounts. A job is counted by every
meter that it is under. What is counted stands in columns: nodes first, then whatever else limits name.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from forebay._numba.jit import kernel
from forebay.core.limits import NO_LIMIT
from forebay.engine.causes import CAUSE, HeldBy

METER = np.dtype(
    [
        ("max_jobs", "i8"),  # begun and not ended
        ("max_submit", "i8"),  # submitted and not ended
        ("jobs", "i8"),
        ("submitted", "i8"),
        ("rejects", "i1"),  # who comes while it is full is turned away
        ("weighs_time", "i1"),  # whether `most_ahead` bounds anything
        ("waits", "i1"),  # a job that comes while it is full waits outside: see `outside`
    ],
    align=True,
)


class Place(IntEnum):
    """Where a job is."""

    USUAL = 0
    OUTSIDE = 1
    LEFT = 2  # withdrawn while it was outside
    EXEMPT = 3  # it runs already


class Meters(NamedTuple):
    """All of them; empty where nothing is limited."""

    table: np.ndarray  # METER
    most: np.ndarray  # int64[meter, column]
    used: np.ndarray  # int64[meter, column]
    most_ahead: np.ndarray  # float64[meter, column]: amounts x seconds still to run
    ahead: np.ndarray  # float64[meter, column]
    first: np.ndarray  # int64[job + 1]: its meters are of[first], of[first + 1], ...
    of: np.ndarray  # int64
    asks: np.ndarray  # int64[job, column]; of nodes the State knows better, as jobs may change their size
    away: np.ndarray  # bool[job]: turned away when it is submitted, whatever runs then
    cause: np.ndarray  # CAUSE[job]: what holds it back, be it a limit or not
    outside: np.ndarray  # int64: jobs that wait outside, as they came; empty where none ever does
    place: np.ndarray  # int8[job]: see `Place`
    n_outside: np.ndarray  # int64[2]: how many, and whether there may be room since the last look


def make_meters(
    n_meters: int = 0, n_jobs: int = 0, n_columns: int = 1, n_counted: int = 0, waits: bool = False
) -> Meters:
    """Tables of the right size, which limit nothing."""
    n_waiting = n_jobs if waits else 0
    table = np.zeros(n_meters, METER)
    table["max_jobs"] = table["max_submit"] = NO_LIMIT
    shape = (n_meters, n_columns)
    cause = np.zeros(n_jobs, CAUSE)
    cause["by"] = HeldBy.NOTHING
    cause["row"] = -1
    return Meters(
        table=table,
        most=np.full(shape, NO_LIMIT, np.int64),
        used=np.zeros(shape, np.int64),
        most_ahead=np.full(shape, np.inf),
        ahead=np.zeros(shape),
        first=np.zeros(n_jobs + 1, np.int64),
        of=np.zeros(n_counted, np.int64),
        asks=np.zeros((n_jobs, n_columns), np.int64),
        away=np.zeros(n_jobs, np.bool_),
        cause=cause,
        outside=np.zeros(n_waiting, np.int64),
        place=np.zeros(n_waiting, np.int8),
        n_outside=np.zeros(2, np.int64),
    )


@kernel
def count_submitted(truth, j, change):
    """One job more is submitted and not ended, or one less."""
    meters = truth.meters
    if len(meters.table) == 0:
        return
    for k in range(meters.first[j], meters.first[j + 1]):
        meters.table[meters.of[k]]["submitted"] += change
        if change < 0 and meters.table[meters.of[k]]["waits"]:
            meters.n_outside[1] = 1
