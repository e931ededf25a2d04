"""The slow, obvious twin of several reservations on shared nodes, node by node.

At a decision each waiting job, in line, looks for the earliest time from which all its parts find room for its whole
walltime, besides running jobs and the reservations before it. It starts if that is now, and holds its places otherwise.
Written from docs/reference/sharing.md, docs/reference/failures.md and docs/reference/policies/limits.md. Times are
whole numbers. Nodes and jobs are those of `inside`; jobs may have a `user`, and `pool`, what they take of a buffer.
"""

import math
from collections.abc import Sequence

from twins import inside as naive
from twins.inside import Job, Node
from twins.watched import Window
from twins.windows import keeps_out

Held = tuple[float, float, Job, dict[int, int]]
"""From when, until when, which job, and how many parts on which node."""


class Calendar(naive.Run):
    """A run under a policy with up to `depth` reservations, and with windows of the site."""

    def __init__(
        self,
        nodes: list[Node],
        placement: str,
        depth: float,
        outages: Sequence[tuple[int, float, float]] = (),
        windows: Sequence[Window] = (),
        pool: int = 0,
        reserves_pool: bool = False,
    ):
        super().__init__(nodes, placement, "", outages)
        self.depth, self.windows, self.pool, self.reserves_pool = depth, windows, pool, reserves_pool

    def edges(self) -> list[float]:
        """Begins and ends of windows."""
        return [edge for one in self.windows for edge in (one.start, one.end)]

    def go(self, jobs: list[Job]) -> None:
        """Until all have ended."""
        coming, waiting = sorted(jobs, key=lambda job: (job["submit"], job["id"])), list[Job]()
        edges = sorted(self.edges())
        while coming or self.running or waiting:
            now = min(
                [job["submit"] for job in coming[:1]]
                + [job["start"] + job["run_time"] for job in self.running]
                + [down for _, down, _ in self.outages[:1]]
                + list(self.until.values())
                + edges[:1]
            )
            edges = [edge for edge in edges if edge > now]
            for job in [job for job in self.running if job["start"] + job["run_time"] == now]:
                naive.give(self.nodes, job, job["places"])
                self.running.remove(job)
            self._repair_and_fail(now, waiting)
            while coming and coming[0]["submit"] == now:
                waiting.append(coming.pop(0))
            self.decide(now, waiting)

    def allowed(self, job: Job, time: float) -> set[int]:
        """The atoms on which a job may start at a time."""
        kept: set[int] = set()
        for one in self.windows:
            if keeps_out(one.start, one.end, time, job["walltime"], job.get("user") in one.users):
                kept |= {self.nodes[node]["atom"] for node in one.nodes}
        return set(job["allowed"]) - kept

    def is_seen(self, job: Job, now: float) -> bool:
        """Whether the nodes on which it may start now would hold it, if they were idle."""
        idle = [node | {"free": node["full"], "up": True} for node in self.nodes]
        return naive.fits(idle, job | {"allowed": self.allowed(job, now)})

    def room(self, held: list[Held], begin: float, end: float) -> list[Node]:
        """Nodes with the least that is free in them from `begin` to before `end`."""
        found = []
        instants = {begin} | {t for one in held for t in one[:2] if begin < t < end}
        for k, node in enumerate(self.nodes):
            least = node["full"]
            for time in instants:
                free = node["full"]
                for start, stop, job, places in held:
                    if k in places and start <= time < stop:
                        amounts = [places[k] * need for need in job["each"]]
                        used = node["full"] if job["exclusive"] else amounts
                        free = tuple(a - b for a, b in zip(free, used, strict=True))
                least = tuple(map(min, least, free))
            found.append(node | {"free": least, "up": self.until.get(k, 0.0) <= begin})
        return found

    def pooled(self, held: list[Held], begin: float, end: float) -> int:
        """The least that is free of the buffer."""
        instants = {begin} | {t for one in held for t in one[:2] if begin < t < end}
        return min(
            self.pool - sum(job.get("pool", 0) for start, stop, job, _ in held if start <= time < stop)
            for time in instants
        )

    def places_at(self, held: list[Held], job: Job, time: float) -> dict[int, int] | None:
        """Where a job would be that starts at a time; None if it cannot."""
        end = time + job["walltime"]
        if self.reserves_pool and self.pooled(held, time, end) < job.get("pool", 0):
            return None
        return naive.place(self.room(held, time, end), job | {"allowed": self.allowed(job, time)}, self.placement)

    def decide(self, now: float, waiting: list[Job]) -> None:
        """Start the jobs that the policy starts."""
        held: list[Held] = [(job["start"], job["start"] + job["walltime"], job, job["places"]) for job in self.running]
        n_reserved = 0
        for job in list(waiting):
            seen = self.is_seen(job, now)
            job["told"] = job.get("told", False) or seen
            if not job["told"]:
                continue
            times = {now}
            if n_reserved < self.depth:
                times |= {end for _, end, _, _ in held} | set(self.until.values()) | set(self.edges())
            for time in sorted(time for time in times if now <= time < math.inf):
                places = self.places_at(held, job, time)
                if places is None:
                    continue
                left = self.pool - sum(one.get("pool", 0) for one in self.running)
                if time == now and seen and left >= job.get("pool", 0):
                    self._start(now, job, waiting, places)
                    held.append((now, now + job["walltime"], job, places))
                    break
                if n_reserved < self.depth:
                    held.append((time, time + job["walltime"], job, places))
                break
            if job in waiting:
                n_reserved += 1


def atoms_of(classes: list[str], full: list[tuple[int, ...]], sets: list[set[int]]) -> list[int]:
    """The atom of each node: a run of nodes of one class, with the same resources, in the same sets."""
    found, last = list[int](), None
    for k, (one, some) in enumerate(zip(classes, full, strict=True)):
        key = (one, some, [k in nodes for nodes in sets])
        found.append(found[-1] + (key != last) if found else 0)
        last = key
    return found
