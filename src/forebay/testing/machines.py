"""Kinds of machines for random cases: file systems and tiers of storage, shared nodes, and maintenance."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from forebay.testing.case import Case, Job
from forebay.testing.kinds import Kind, pace, takes, with_job, with_ssd


class Files(Kind):
    """A file system with links that jobs share and saturate.

    Parameters
    ----------
    share
        Of the cases that have one: all, for a policy that asks about links.
    """

    def __init__(self, share: float = 0.4):
        self._share = share

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Bytes to move for three jobs in four, at a rate at which it takes some seconds."""
        if case.files or rng.random() >= self._share:
            return case
        rate, slow = int(rng.integers(1, 9)), pace(case)
        jobs = (_moving(job, rng.integers(0, 4, len(job.legs)) * int(2 * rate * slow)) for job in case.jobs)
        return replace(case, files=rate, jobs=tuple(jobs))

    def less(self, case: Case) -> Iterator[Case]:
        """None, a job that moves nothing, or one that moves less."""
        if case.files and not case.fast:  # with a fast tier the file system is needed
            yield replace(case, files=0, jobs=tuple(_moving(job, [0] * len(job.legs)) for job in case.jobs))
            yield from _moving_less(case)


class Tiered(Kind):
    """Slow storage, and a fast tier that policies may start jobs on."""

    def suits(self, policy: Any) -> bool:
        """Whether the policy can run there."""
        return takes(policy, ("nodes", "fast"))

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """One case in seven, which then has jobs of one leg and one size, no buffer, and nodes that are all alike."""
        if not _fixed(case) or rng.random() < 0.85:
            return case
        rate, slow = case.files or int(rng.integers(1, 9)), pace(case)
        room = int(rng.integers(1, 11)) * int(2 * rate * slow)
        jobs = []
        for job in case.jobs:
            run, moved = job.legs[len(job.legs) // 2], int(rng.integers(0, 4)) * int(2 * rate * slow)
            leg = replace(run, buffer=0, moved=moved, carry="")
            jobs.append(replace(job, legs=(leg,), fast=int(rng.integers(0, 5)) * room // 3, queue=""))
        return replace(_alike(case), files=rate, fast=room, buffer=0, partitions=(), jobs=tuple(jobs))

    def less(self, case: Case) -> Iterator[Case]:
        """No fast tier, or a job that has no use for it."""
        if case.fast:
            yield replace(case, fast=0, jobs=tuple(replace(job, fast=0) for job in case.jobs))
            yield from _moving_less(case)
        for i, job in enumerate(case.jobs):
            if job.fast:
                yield with_job(case, i, replace(job, fast=0))


class Shared(Kind):
    """Nodes that jobs share, by their cores."""

    def suits(self, policy: Any) -> bool:
        """Whether the policy can run where cores are counted."""
        return takes(policy, ("cores", "burst_buffer"))

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """One case in five, which then has a pool, no SSDs and jobs of one leg; one in four has its nodes to itself."""
        if not _fixed(case) or case.fast or rng.random() < 0.8:
            return case
        case = _alike(case)
        cores = int(rng.integers(2, 9))
        return replace(case, cores=cores, jobs=tuple(self._sharing(rng, job, cores) for job in case.jobs))

    def _sharing(self, rng: np.random.Generator, job: Job, cores: int) -> Job:
        """The job on some of its nodes and a few of their cores, so that others find room there, or unchanged."""
        run = replace(job.legs[len(job.legs) // 2], carry="")
        if rng.random() < 0.25:
            return replace(job, legs=(run,))
        nodes, some = int(rng.integers(1, max(2, run.nodes // 2 + 1))), int(rng.integers(1, max(2, cores * 2 // 3)))
        return replace(job, legs=(replace(run, nodes=min(run.nodes, nodes)),), cores=some)

    def less(self, case: Case) -> Iterator[Case]:
        """Nodes that are not shared, or a job with nodes to itself."""
        if case.cores:
            yield replace(case, cores=0, jobs=tuple(replace(job, cores=0) for job in case.jobs))
        for i, job in enumerate(case.jobs):
            if job.cores:
                yield with_job(case, i, replace(job, cores=0))


class Reserved(Kind):
    """Maintenance, into which no job may run."""

    def suits(self, policy: Any) -> bool:
        """Whether the policy can run where nodes are not all alike."""
        return takes(policy, ("nodes", "burst_buffer", "nodes.1", "nodes.2"))

    def add(self, rng: np.random.Generator, case: Case) -> Case:
        """Some nodes or all, once or twice in one case of six, which then has a pool and no SSDs."""
        if not _fixed(case) or case.fast or rng.random() < 0.83:
            return case
        case = _alike(case)
        slow, found, at = pace(case), [], 0.0
        for _ in range(int(rng.integers(1, 3))):
            at += slow * float(rng.integers(1, 30))
            first, span = int(rng.integers(0, case.nodes)), slow * float(rng.integers(1, 15))
            found.append((at, span, first, int(rng.integers(first, case.nodes))))
            at += span
        return replace(case, reserved=tuple(found))

    def less(self, case: Case) -> Iterator[Case]:
        """None, or one of them."""
        if case.reserved:
            yield replace(case, reserved=())
        if len(case.reserved) > 1:
            yield from (replace(case, reserved=(one,)) for one in case.reserved)


def _fixed(case: Case) -> bool:
    """Whether no job may change its size."""
    return all(job.flexible is None for job in case.jobs)


def _alike(case: Case) -> Case:
    """The case without chunks and without SSDs."""
    return replace(case, servers=0, large=0, jobs=tuple(with_ssd(job, 0) for job in case.jobs))


def _moving_less(case: Case) -> Iterator[Case]:
    """Simpler cases, in which one job moves less."""
    for i, job in enumerate(case.jobs):
        if any(leg.moved for leg in job.legs):
            yield with_job(case, i, _moving(job, [0] * len(job.legs)))
        if any(leg.moved > 1 for leg in job.legs):
            yield with_job(case, i, _moving(job, [leg.moved // 2 for leg in job.legs]))


def _moving(job: Job, moved: Any) -> Job:
    """The job with `moved` bytes to move in its legs."""
    return replace(job, legs=tuple(replace(leg, moved=int(some)) for leg, some in zip(job.legs, moved, strict=True)))
