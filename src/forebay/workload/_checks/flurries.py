"""Flurries: rare surges of one user that dominate a workload for a short time.

The word and the idea are those of Tsafrir & Feitelson, "Instability in parallel job scheduling simulation: the role of
workload flurries" (IPDPS 2006), who found theirs by eye; the thresholds are set here. A user's jobs within any 24 hours
are a flurry if they exceed what all others submit in a week of usual days, or in the whole trace where that is less;
and what the user submits in such a week. A usual day is the median of all days, which a surge does not change.
"""

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

Flags = NDArray[np.bool_]

DAY = 86400.0
FEW = 100  # jobs in a day: a flurry has more
_WEEK = 7  # usual days
_MOST = 0.9  # of a flurry's jobs, over which its length is measured
_DAYS = 3  # fewer do not show what is usual for a user
_SCHEMA = {"user": pl.Int64, "start": pl.Float64, "seconds": pl.Float64, "jobs": pl.Int64}


def flurries(submit: NDArray[np.float64], user: NDArray[np.int64]) -> tuple[Flags, pl.DataFrame]:
    """Which jobs are of flurries, and these, the largest first.

    Of each, `user`, `start` (of the shortest time in which nine tenths of it come, after the first job of all),
    `seconds` (how long that is) and `jobs`. Users below 0 are not known.
    """
    odd, found = np.zeros(len(submit), np.bool_), []
    if len(submit) < FEW:
        return odd, pl.DataFrame(schema=_SCHEMA)
    time = submit - submit.min()
    days, span = max(math.ceil(float(time.max()) / DAY), 1), float(time.max())
    day = np.minimum(time // DAY, days - 1).astype(np.int64)
    every, at = np.unique(day, return_inverse=True)
    all_ = np.bincount(at, minlength=len(every))
    users, jobs = np.unique(user[user >= 0], return_counts=True)
    for who in users[jobs > FEW].tolist():
        mine = np.flatnonzero(user == who)
        mine = mine[np.argsort(time[mine], kind="stable")]
        own = np.bincount(at[mine], minlength=len(every))
        others = len(submit) - len(mine)
        usual = min(_WEEK * _median(all_ - own, days), others)
        if days >= _DAYS:
            usual = max(usual, _WEEK * _median(own, days))
        for part in _surges(time[mine], max(FEW, usual)) if others else ():
            start, seconds = _shortest(time[mine[part]])
            if seconds <= span / 2:
                odd[mine[part]] = True
                found.append((who, start, seconds, len(part)))
    table = pl.DataFrame(found, schema=_SCHEMA, orient="row")
    return odd, table.sort("jobs", "user", "start", descending=[True, False, False])


def _median(counts: NDArray[np.int64], days: int) -> float:
    """The median day; days without any job are not among the counts, and a slip in a date may make many."""
    ordered = np.sort(counts)

    def place(k: int) -> float:
        k -= days - len(ordered)
        return float(ordered[k]) if k >= 0 else 0.0

    return (place((days - 1) // 2) + place(days // 2)) / 2


def _surges(time: NDArray[np.float64], usual: float) -> list[NDArray[np.int64]]:
    """Places of the jobs in any day that has more than usual; days side by side are one."""
    ends = np.searchsorted(time, time + DAY)
    first = np.flatnonzero(ends - np.arange(len(time)) > usual)
    edges = np.zeros(len(time) + 1, np.int64)
    np.add.at(edges, first, 1)
    np.add.at(edges, ends[first], -1)
    chosen = np.flatnonzero(np.cumsum(edges[:-1]) > 0)
    return np.split(chosen, np.flatnonzero(np.diff(time[chosen]) > DAY) + 1) if len(chosen) else []


def _shortest(time: NDArray[np.float64]) -> tuple[float, float]:
    """Where the shortest time begins in which nine tenths of some jobs come, and how long it is."""
    n = math.ceil(_MOST * len(time))
    lengths = time[n - 1 :] - time[: len(time) - n + 1]
    first = int(np.argmin(lengths))
    return float(time[first]), float(lengths[first])
