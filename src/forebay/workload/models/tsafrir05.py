"""Walltimes in the style of Tsafrir, Etsion & Feitelson, "Modeling user runtime estimates" (JSSPP 2005).

What that paper found, and this module keeps: users choose from few round values; some twenty of these cover nine jobs
in ten; the longest time allowed is among the most popular; the histogram belongs to the site, and is then dealt out to
jobs so that no job asks for less than its run time. What is not theirs: the values, their popularity (the r-th most
popular is r times as rare as the first) and the shares below, which are set here. It is in their style, not their
program.
"""

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.errors import InputError
from forebay.workload.models import _checks as checks
from forebay.workload.operations import REFERENCE_SPEED
from forebay.workload.workload import Workload

DESCRIPTION = "walltimes as users type them: few and round (after Tsafrir et al. 2005)"

MINUTES = (60, 120, 10, 30, 240, 5, 15, 720, 20, 180, 600, 480, 360, 1440, 90, 40, 1080, 300, 2880, 45)
"""Round values, the most popular first; those above the maximum are left out."""

_NAME = "tsafrir05"
_GRID = 300.0  # s, what the remaining users round to

_Floats = NDArray[np.float64]


def attach(
    workload: Workload,
    rng: np.random.Generator,
    *,
    maximum: checks.Seconds = 0.0,
    at_maximum: float = 0.15,
    popular: float = 0.9,
) -> Workload:
    """The workload with other walltimes, none below the job's run time.

    `maximum` is the longest walltime allowed; 0 takes the longest run time, rounded up to an hour. A share `at_maximum`
    of all users asks for it, a share `popular` for it or another round value, the rest for any multiple of 5 minutes.
    Where run times leave too few jobs for a value, users ask for the maximum instead.
    """
    checks.at_least(_NAME, 0, maximum=maximum)
    checks.share(_NAME, at_maximum=at_maximum, popular=popular)
    checks.ordered(_NAME, at_maximum=at_maximum, popular=popular)
    checks.whole_jobs(_NAME, workload)
    jobs = workload.jobs
    run = (jobs["run_time"] + jobs["flop"] / REFERENCE_SPEED).to_numpy()
    longest = float(run.max()) if len(run) else 0.0
    top = maximum or max(3600.0 * math.ceil(longest / 3600), 3600.0)
    if top < longest:
        raise InputError(
            f"model {_NAME!r}: maximum is {top:g}; give at least the longest run time, {longest:g} s, "
            "since no walltime is below its run time"
        )
    asked = _wishes(rng, len(run), top, at_maximum, popular)
    walltime = _dealt(rng, run, asked, top)
    full = float((walltime == top).mean()) if len(run) else 0.0
    line = f"walltimes in the style of Tsafrir et al. 2005: {100 * full:.3g} % at the maximum of {top:g} s"
    return checks.changed(workload, line, jobs=jobs.with_columns(pl.Series("walltime", walltime)))


def _wishes(rng: np.random.Generator, n: int, top: float, at_maximum: float, popular: float) -> _Floats:
    """What a site's users ask for, not yet given to jobs."""
    head = np.array([60.0 * minutes for minutes in MINUTES if 60.0 * minutes < top])
    kind, place = rng.random((2, n))
    odd = np.minimum(_GRID * np.ceil(place * top / _GRID), top)
    if not len(head):
        return np.where(kind < popular, top, odd)
    by_rank = np.cumsum(1 / np.arange(1, len(head) + 1))
    rank = np.minimum(np.searchsorted(by_rank / by_rank[-1], place, side="right"), len(head) - 1)
    return np.where(kind < at_maximum, top, np.where(kind < popular, head[rank], odd))


def _dealt(rng: np.random.Generator, run: _Floats, asked: _Floats, top: float) -> _Floats:
    """A walltime for each job, the longest jobs first, each a random one of those left that suffice."""
    picks = rng.random(len(run)).tolist()  # plain numbers: items of arrays take twice as long
    values = (-np.sort(-asked)).tolist()
    result = np.empty(len(run))
    pool: list[float] = []
    following = 0
    for j in np.argsort(-run, kind="stable").tolist():
        while following < len(values) and values[following] >= run[j]:
            pool.append(values[following])
            following += 1
        if not pool:
            result[j] = top
            continue
        k = int(picks[j] * len(pool))
        pool[k], pool[-1] = pool[-1], pool[k]
        result[j] = pool.pop()
    return result
