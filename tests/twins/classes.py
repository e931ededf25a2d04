"""A slow simulator of machines with classes, partitions and shared nodes, written from the documented rules alone.

Every node is a list of what is free in it. Policies: `fcfs`, `filler`, and `easy` with one reservation. It knows jobs
of one leg that compute, and times that are whole numbers.
"""

import math
from dataclasses import dataclass, field


@dataclass
class Job:
    """A job, what it asks for, and what became of it."""

    id: int
    submit: float
    walltime: float
    run_time: float
    parts: int
    spread: bool  # each part on a node of its own
    exclusive: bool
    part: tuple  # cores, memory, GPUs
    allowed: set  # atoms
    start: float = math.nan
    places: dict = field(default_factory=dict)  # node -> (cores, memory, gpus) that it takes there
    within: set = field(default_factory=set)  # nodes of its partitions

    @property
    def expected(self):
        return self.start + self.walltime


@dataclass
class Node:
    """What a node has, and in which atom it is."""

    atom: int
    cls: str
    has: tuple


class Inside:
    """Nodes that jobs share: everything is about what is free in each."""

    def __init__(self, nodes, placement):
        self.nodes, self.placement = nodes, placement

    def all_free(self):
        return [node.has for node in self.nodes]

    def holds(self, free, n, job):
        """How many parts a node takes."""
        if job.exclusive and free[n] != self.nodes[n].has:
            return 0
        fits = min((have // want if want else 10**9) for have, want in zip(free[n], job.part, strict=True))
        return min(fits, 1) if job.spread else fits

    def place(self, free, job):
        """What the job takes of which nodes; None if it does not fit."""
        sign = {"best-fit": 1, "lowest": 0, "worst-fit": -1}[self.placement]
        order = [n for n in range(len(free)) if self.nodes[n].atom in job.allowed and self.holds(free, n, job)]
        order.sort(key=lambda n: (self.nodes[n].atom, sign * free[n][0], n))
        left, places = job.parts, {}
        for n in order:
            some = min(left, self.holds(free, n, job))
            if some:
                places[n] = self.nodes[n].has if job.exclusive else tuple(some * want for want in job.part)
                left -= some
        return places if left == 0 else None

    def without(self, free, places):
        return self._moved(free, places, -1)

    def with_back(self, free, places):
        return self._moved(free, places, 1)

    def both(self, free, other):
        """What is free in both."""
        return [tuple(map(min, a, b)) for a, b in zip(free, other, strict=True)]

    def _moved(self, free, places, sign):
        free = list(free)
        for n, taken in places.items():
            free[n] = tuple(have + sign * some for have, some in zip(free[n], taken, strict=True))
        return free


class Whole:
    """Nodes that jobs have to themselves: how many are free of each atom is all that counts."""

    def __init__(self, nodes):
        self.n_atoms = max(node.atom for node in nodes) + 1
        self.nodes = nodes

    def all_free(self):
        return [sum(node.atom == a for node in self.nodes) for a in range(self.n_atoms)]

    def place(self, free, job):
        left, places = job.parts, {}
        for a in sorted(job.allowed):
            some = min(left, free[a])
            if some > 0:
                places[a] = some
                left -= some
        return places if left == 0 else None

    def without(self, free, places):
        return [have - places.get(a, 0) for a, have in enumerate(free)]

    def with_back(self, free, places):
        return [have + places.get(a, 0) for a, have in enumerate(free)]

    def both(self, free, other):
        return [max(min(a, b), 0) for a, b in zip(free, other, strict=True)]


def simulate(machine, jobs, policy):
    """Run all jobs; sets their starts and places, and gives them in the order in which they started."""
    free, waiting, running, started = machine.all_free(), [], [], []
    coming = sorted(jobs, key=lambda job: (job.submit, job.id))

    def start(job, places, now):
        nonlocal free
        job.start, job.places = now, places
        free = machine.without(free, places)
        waiting.remove(job)
        running.append(job)
        started.append(job)

    def decide(now):
        for job in list(waiting):
            places = machine.place(free, job)
            if places is not None:
                start(job, places, now)
            elif policy == "easy":
                backfill(job, now)
                return
            elif policy == "fcfs":
                return

    def backfill(head, now):
        shadow, spare = math.inf, None
        then = free
        for end in sorted({job.expected for job in running}):
            for job in running:
                if job.expected == end:
                    then = machine.with_back(then, job.places)
            held = machine.place(then, head)
            if held is not None:
                shadow, spare = end, machine.without(then, held)
                break
        for job in waiting[waiting.index(head) + 1 :]:
            if now + job.walltime <= shadow:
                places = machine.place(free, job)
                if places is not None:
                    start(job, places, now)
                continue
            places = machine.place(machine.both(free, spare), job)
            if places is not None:
                start(job, places, now)
                spare = machine.without(spare, places)

    while coming or running:
        ends = [job.start + min(job.run_time, job.walltime) for job in running]
        now = min([*ends, *(job.submit for job in coming[:1])])
        for job, end in zip(list(running), ends, strict=True):
            if end == now:
                running.remove(job)
                free = machine.with_back(free, job.places)
        while coming and coming[0].submit == now:
            waiting.append(coming.pop(0))
        decide(now)
    assert not waiting
    return started
