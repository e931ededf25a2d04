"""The smallest case that shows something: found by leaving out jobs and rounding numbers down."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from forebay.testing.case import Case, Job, Leg
from forebay.testing.drawing import KINDS
from forebay.testing.kinds import with_job

MAX_TRIES = 500
"""How many smaller cases are tried: a few seconds."""


def shrink(case: Case, still: Callable[[Case], bool]) -> Case:
    """The smallest case found that still shows something.

    Parameters
    ----------
    case
        To begin with.
    still
        Whether a case shows it.

    Examples
    --------
    >>> import numpy as np
    >>> case = fb.testing.random_case(np.random.default_rng(0))
    >>> len(fb.testing.shrink(case, lambda one: len(one.jobs) >= 1).jobs)
    1
    """
    tries, shrunk = 0, True
    while shrunk:
        shrunk = False
        for smaller in _smaller(case):
            tries += 1
            if tries > MAX_TRIES:
                return case
            if still(smaller):
                case, shrunk = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Simpler variants of a case, boldest first."""
    n = len(case.jobs)
    size = n // 2
    while size >= 1:
        for at in range(0, n, size):
            if size < n:
                yield replace(case, jobs=case.jobs[:at] + case.jobs[at + size :])
        size //= 2
    for kind in KINDS:
        yield from kind.less(case)
    named = (*(node for node, *_ in case.outages), *(node for _, *ends in case.partitions for node in ends))
    last = max([case.large, *named, *(last for *_, last in case.reserved)])
    for nodes in _down(case.nodes, last + 1):
        yield replace(case, nodes=nodes)
    if case.buffer:
        yield replace(case, buffer=0, servers=0)
    for size in _fewer_digits(case.buffer):
        yield replace(case, buffer=max(size, case.servers))
    for rate in _fewer_digits(case.files):
        yield replace(case, files=max(rate, 1))
    for i, job in enumerate(case.jobs):
        for simpler in _simpler(job):
            yield with_job(case, i, simpler)


def _simpler(job: Job) -> Iterator[Job]:
    """The job with smaller numbers."""
    if job.submit > 0:
        yield replace(job, submit=0.0)
        yield replace(job, submit=job.submit - 1)
    for k, leg in enumerate(job.legs):
        for changes in _changes(leg):
            simpler = replace(leg, **changes)
            if job.flexible is not None and simpler.nodes < job.flexible.low:
                continue
            if simpler != leg and simpler.nodes >= 0:
                yield replace(job, legs=(*job.legs[:k], simpler, *job.legs[k + 1 :]))


def _changes(leg: Leg) -> Iterator[dict[str, Any]]:
    """Smaller numbers of a leg."""
    yield {"seconds": 1.0, "walltime": 1.0}
    yield {"walltime": leg.seconds}
    yield from ({"nodes": nodes} for nodes in _down(leg.nodes, min(1, leg.nodes)))
    yield {"buffer": 0}
    yield from ({name: size} for name in ("buffer", "moved") for size in _fewer_digits(getattr(leg, name)))
    yield from ({"seconds": float(some), "walltime": float(some)} for some in _fewer_digits(int(leg.seconds)))


def _down(value: int, least: int) -> Iterator[int]:
    """The least, and then in ever smaller steps from there up to one less: a threshold is soon found."""
    step = value - least
    while step > 0:
        yield value - step
        step //= 2


def _fewer_digits(value: int) -> Iterator[int]:
    """A number of several digits by a rounder one."""
    if value > 10:
        unit = 10 ** (len(str(value)) - 1)
        yield from (some for some in (unit, value // unit * unit) if some < value)
