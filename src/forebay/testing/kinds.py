"""The kinds of cases: what a case may have beyond jobs of one leg on nodes that are all alike; see also `machines`."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from forebay.engine.driver.deciders import params_of
from forebay.errors import InputError
from forebay.testing.case import Case, Flexible, Job, Leg

LONGEST = 11
"""Seconds of a leg, where cases are small."""


class Kind:
    """Something that some cases have."""

    def suits(self, policy: Any) -> bool:
        """Whether a policy can be asked for decisions on such cases."""
        return True

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """The case with some of it, or as it is."""
        raise NotImplementedError

    def less(self, case: Case) -> Iterator[Case]:
        """Simpler cases, with less of it: boldest first."""
        raise NotImplementedError


class Staged(Kind):
    """Jobs of three legs, which carry one buffer along."""

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Stage-in and stage-out around one job in five."""
        return replace(case, jobs=tuple(self._staged(rng, job) if rng.random() < 0.2 else job for job in case.jobs))

    def _staged(self, rng: np.random.Generator, job: Job) -> Job:
        run = job.legs[0]
        ends = [Leg(*times(rng), 0, run.buffer, carry) for carry in ("", "burst_buffer")]
        return replace(job, legs=(ends[0], replace(run, carry="burst_buffer"), ends[1]))

    def less(self, case: Case) -> Iterator[Case]:
        """A job with its middle leg alone."""
        for i, job in enumerate(case.jobs):
            if len(job.legs) > 1:
                yield with_job(case, i, replace(job, legs=(replace(job.legs[1], carry=""),)))


class Withdrawn(Kind):
    """Jobs that their users withdraw."""

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """One job in ten."""
        slow = pace(case)
        times = [slow * float(rng.integers(1, 20)) if rng.random() < 0.1 else math.inf for _ in case.jobs]
        return replace(case, jobs=tuple(replace(job, cancel=time) for job, time in zip(case.jobs, times, strict=True)))

    def less(self, case: Case) -> Iterator[Case]:
        """A job that stays."""
        for i, job in enumerate(case.jobs):
            if job.cancel < math.inf:
                yield with_job(case, i, replace(job, cancel=math.inf))


class Chunked(Kind):
    """A buffer that lies on servers, in chunks."""

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Two buffers in five, on up to three servers."""
        if not case.buffer or rng.random() < 0.6:
            return case
        servers = int(rng.integers(1, 4))
        return replace(case, servers=servers, buffer=max(case.buffer, servers))

    def less(self, case: Case) -> Iterator[Case]:
        """A pool instead."""
        if case.servers:
            yield replace(case, servers=0)


class TwoSizes(Kind):
    """Nodes whose SSDs are of two sizes, and jobs that need one or the other."""

    def suits(self, policy: Any) -> bool:
        """Whether the policy's numbers can be had where there are such nodes."""
        return takes(policy, ("nodes", "burst_buffer", "ssd", "ssd_large"))

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Two machines in five, but where chunks lie on servers: nodes differ in where theirs go."""
        if case.nodes == 1 or case.servers or rng.random() < 0.6:
            return case
        jobs = tuple(with_ssd(job, int(rng.integers(0, 3))) for job in case.jobs)
        return replace(case, large=int(rng.integers(1, case.nodes)), jobs=jobs)

    def less(self, case: Case) -> Iterator[Case]:
        """No SSD at all, one large node, or a job that needs none."""
        if case.large:
            yield replace(case, large=0, jobs=tuple(with_ssd(job, 0) for job in case.jobs))
        if case.large > 1:
            yield replace(case, large=1)
        for i, job in enumerate(case.jobs):
            if any(leg.ssd for leg in job.legs):
                yield with_job(case, i, with_ssd(job, 0))


class Sizes(Kind):
    """Jobs that can run on more or fewer nodes.

    Parameters
    ----------
    share
        Of the cases that have some, and of the jobs there.
    rounds
        That a job has at most: it may change its size after each.
    """

    def __init__(self, share: tuple[float, float] = (0.3, 0.5), rounds: int = 4):
        self._cases, self._jobs = share
        self._rounds = rounds

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Some jobs of some cases, which then have no chunks, no SSDs and jobs of one leg."""
        if rng.random() >= self._cases:
            return case
        plain = [with_ssd(replace(job, legs=job.legs[len(job.legs) // 2 :][:1]), 0) for job in case.jobs]
        jobs = (replace(job, flexible=self._drawn(rng, job)) if rng.random() < self._jobs else job for job in plain)
        return replace(case, servers=0, large=0, jobs=tuple(jobs))

    def _drawn(self, rng: np.random.Generator, job: Job) -> Flexible:
        nodes = job.legs[0].nodes
        low, high = int(rng.integers(1, nodes + 1)), int(rng.integers(nodes, 2 * nodes + 1))
        type_ = ("moldable", "malleable", "malleable", "evolving")[int(rng.integers(4))]
        return Flexible(type_, low, high, int(rng.integers(1, self._rounds + 1)), int(rng.integers(low, high + 1)))

    def less(self, case: Case) -> Iterator[Case]:
        """A job whose size is fixed, or of one round."""
        for i, job in enumerate(case.jobs):
            if job.flexible is not None:
                yield with_job(case, i, replace(job, flexible=None))
                if job.flexible.rounds > 1:
                    yield with_job(case, i, replace(job, flexible=replace(job.flexible, rounds=1)))


class Failing(Kind):
    """Nodes that fail and come back, and jobs that write checkpoints against it."""

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Up to six outages in one case of three, and checkpoints in half of these."""
        if rng.random() < 0.7:
            return case
        n, slow = int(rng.integers(1, 7)), pace(case)
        down = slow * np.sort(rng.integers(0, 60, n)).astype(float)
        up = down + slow * rng.integers(1, 30, n)
        outages = zip(rng.integers(0, case.nodes, n).tolist(), down.tolist(), up.tolist(), strict=True)
        return replace(case, outages=tuple(outages), period=slow * float(rng.integers(0, 2) * rng.integers(1, 8)))

    def less(self, case: Case) -> Iterator[Case]:
        """No failures, one less, or no checkpoints."""
        if case.outages:
            yield replace(case, outages=(), period=0.0)
        for i in range(len(case.outages) if len(case.outages) > 1 else 0):
            yield replace(case, outages=(*case.outages[:i], *case.outages[i + 1 :]))
        if case.period:
            yield replace(case, period=0.0)


class Divided(Kind):
    """Partitions that overlap, and jobs in one of them, in both, or in none."""

    def suits(self, policy: Any) -> bool:
        """Whether the policy's numbers can be had where nodes are not all alike."""
        return takes(policy, ("nodes", "burst_buffer", "nodes.1", "nodes.2"))

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Half of the machines, but where chunks lie on servers or jobs can run on more or fewer nodes."""
        if case.nodes == 1 or case.servers or any(job.flexible for job in case.jobs) or rng.random() < 0.5:
            return case
        last, first = int(rng.integers(0, case.nodes)), int(rng.integers(0, case.nodes))
        queues = rng.choice(["a", "b", "a,b", ""], len(case.jobs)).tolist()
        jobs = tuple(replace(job, queue=queue) for job, queue in zip(case.jobs, queues, strict=True))
        return replace(case, partitions=(("a", 0, last), ("b", first, case.nodes - 1)), jobs=jobs)

    def less(self, case: Case) -> Iterator[Case]:
        """No partitions, or a job that all nodes will do for."""
        if case.partitions:
            yield replace(case, partitions=(), jobs=tuple(replace(job, queue="") for job in case.jobs))
        for i, job in enumerate(case.jobs):
            if job.queue:
                yield with_job(case, i, replace(job, queue=""))


class Dependent(Kind):
    """Jobs that may start only after others."""

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """A third of the jobs of one case in three, each after one of the four before it."""
        if rng.random() < 0.7:
            return case
        kinds = ("after", "afterany", "afterok", "afternotok", "think")
        draws = [(rng.random() < 0.33, int(rng.integers(1, 5)), kinds[int(rng.integers(5))]) for _ in case.jobs]
        jobs = (
            replace(job, behind=behind, kind=kind) if waits else job
            for job, (waits, behind, kind) in zip(case.jobs, draws, strict=True)
        )
        return replace(case, jobs=tuple(jobs))

    def less(self, case: Case) -> Iterator[Case]:
        """A job that waits for no other."""
        for i, job in enumerate(case.jobs):
            if job.behind:
                yield with_job(case, i, replace(job, behind=0))


class Ranked(Kind):
    """Jobs of several priorities, as those that displace one another have."""

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Half of the cases."""
        if rng.random() < 0.5:
            return case
        ranks = rng.integers(0, 4, len(case.jobs)).tolist()
        return replace(
            case, jobs=tuple(replace(job, priority=float(r)) for job, r in zip(case.jobs, ranks, strict=True))
        )

    def less(self, case: Case) -> Iterator[Case]:
        """All alike, or one of them as most."""
        if any(job.priority for job in case.jobs):
            yield replace(case, jobs=tuple(replace(job, priority=0.0) for job in case.jobs))
        for i, job in enumerate(case.jobs):
            if job.priority:
                yield with_job(case, i, replace(job, priority=0.0))


def takes(policy: Any, resources: tuple[str, ...]) -> bool:
    """Whether the policy accepts a machine with these resources."""
    if not hasattr(policy, "params_on"):
        return True
    try:
        params_of(policy, resources)
    except InputError:
        return False
    return True


def pace(case: Case) -> float:
    """How many times as long its jobs take as those of small cases: in a case of long ones all else is as slow."""
    longest = max((leg.seconds for job in case.jobs for leg in job.legs), default=1.0)
    return max(1.0, longest // LONGEST)


def with_job(case: Case, i: int, job: Job) -> Case:
    """The case with another job in place of the i-th; jobs stay in order of arrival."""
    jobs = [*case.jobs[:i], job, *case.jobs[i + 1 :]]
    return replace(case, jobs=tuple(sorted(jobs, key=lambda one: one.submit)))


def times(rng: np.random.Generator) -> tuple[float, float]:
    """Seconds of a leg and its walltime, which may be too short."""
    seconds = int(rng.integers(1, LONGEST + 1))
    return float(seconds), float(max(1, seconds + int(rng.integers(-3, 8))))


def with_ssd(job: Job, ssd: int) -> Job:
    return replace(job, legs=tuple(replace(leg, ssd=ssd if leg.nodes else 0) for leg in job.legs))
