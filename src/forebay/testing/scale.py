"""Cases as large as a policy's own numbers: what happens at a threshold of 128 nodes shows on no machine of eight."""

from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np

from forebay.testing.case import Case, Job, Leg
from forebay.testing.kinds import LONGEST

MOST_NODES, MOST_BYTES, MOST_SECONDS, MOST_JOBS = 10_000, 10**15, 10**7, 200
"""Numbers beyond are left alone: tables of their size would take too long."""
TIMES = (60.0, 3600.0, 86400.0)
SIZES = (1e3, 1e6, 1e9, 1e12, 2.0**10, 2.0**20, 2.0**30, 2.0**40)
"""Units: a policy with one of them in its code may count in it."""


@dataclass(frozen=True)
class Scale:
    """What of a case is around a number, below it, at it and above it.

    Parameters
    ----------
    of
        "nodes", "bytes" of buffers and transfers, the "rate" of links, "seconds" or the number of "jobs" that wait.
    value
        The number.
    """

    of: str
    value: float

    def apply(self, rng: np.random.Generator, case: Case) -> Case:
        """The case with more of it."""
        scaled: Case = getattr(self, f"_{self.of}")(rng, case)
        return scaled

    def _nodes(self, rng: np.random.Generator, case: Case) -> Case:
        v = int(self.value)
        jobs = (_with_leg(job, nodes=int(rng.choice([v - 1, v, v + 1, 2 * v, job.legs[0].nodes]))) for job in case.jobs)
        return replace(case, nodes=v * int(rng.integers(1, 4)) + int(rng.integers(0, 2)), jobs=tuple(jobs))

    def _bytes(self, rng: np.random.Generator, case: Case) -> Case:
        v, jobs = int(self.value), list[Job]()
        for job in case.jobs:
            asked, moved = (int(rng.choice([0, v // 2, v - 1, v, v + 1, 2 * v])) for _ in range(2))
            jobs.append(_with_leg(job, buffer=asked, moved=moved))
        room = v * int(rng.integers(1, 5)) + int(rng.integers(0, 2))
        return replace(case, buffer=room, files=max(1, v // int(rng.integers(1, 7))), jobs=tuple(jobs))

    def _rate(self, rng: np.random.Generator, case: Case) -> Case:
        rate = max(1, int(self.value * rng.choice([0.5, 1.0, 1.5, 4.0])))
        jobs = (_with_leg(job, moved=rate * int(rng.integers(0, 7))) for job in case.jobs)
        return replace(case, files=rate, jobs=tuple(jobs))

    def _seconds(self, rng: np.random.Generator, case: Case) -> Case:
        """Long jobs on few nodes wait for as long as they run, and some of them for much longer."""
        v, jobs = self.value, list[Job]()
        stretch = v / LONGEST
        for job in case.jobs:
            seconds = max(1.0, float(rng.choice([v / 2, v - 1, v, v + 1, stretch * job.legs[0].seconds])))
            walltime = max(1.0, float(rng.choice([v, v + 1, seconds, 1.5 * seconds])))
            longer = _with_leg(job, seconds=seconds, walltime=walltime)
            jobs.append(replace(longer, submit=float(int(stretch * job.submit))))
        return replace(case, jobs=tuple(jobs))

    def _jobs(self, rng: np.random.Generator, case: Case) -> Case:
        n = int(self.value) + int(rng.integers(0, 2 * int(self.value)))
        submits = np.sort(rng.integers(0, 4, n)).tolist()
        several = zip(islice(cycle(case.jobs), n), submits, strict=True)
        return replace(case, jobs=tuple(replace(job, submit=float(at)) for job, at in several))


def _with_leg(job: Job, **changes: float) -> Job:
    leg: Leg = replace(job.legs[0], **changes)  # type: ignore[arg-type]
    return replace(job, legs=(leg,))


def scales_of(numbers: list[float], most: int) -> list[Scale]:
    """What to try for a policy's own numbers, at most `most`: each number as everything that it may count."""
    times, sizes = ([unit for unit in units if unit in numbers] for units in (TIMES, SIZES))
    found: dict[Scale, None] = {}
    for number in numbers:
        found |= dict.fromkeys(_alone(number))
        if number not in (*times, *sizes):
            found |= {Scale("seconds", number * unit): None for unit in times if number * unit <= MOST_SECONDS}
            for unit in sizes:
                found |= {Scale(of, number * unit): None for of in ("bytes", "rate") if number * unit <= MOST_BYTES}
    scales = [*found]
    return [scales[k * len(scales) // most] for k in range(most)] if len(scales) > most else scales


def _alone(number: float) -> list[Scale]:
    """What a number may count; small cases already cover small numbers."""
    if number <= LONGEST:
        return []
    whole, found = number == int(number), []
    if whole and number <= MOST_NODES:
        found.append(Scale("nodes", number))
    if number <= MOST_SECONDS:
        found.append(Scale("seconds", number))
    if whole and number <= MOST_JOBS:
        found.append(Scale("jobs", number))
    if number <= MOST_BYTES:
        found += [Scale("bytes", number), Scale("rate", number)]
    return found
