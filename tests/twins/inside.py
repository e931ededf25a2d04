"""Slow, obvious twins of what happens inside shared nodes: placement, and whole runs of fcfs, filler and EASY.

A node is a dict of what is free; a job is a dict with `parts`, `each` (cores, memory, GPUs, local storage), `spread`,
`exclusive` and the nodes `allowed`. Written from the rules in docs/reference/sharing.md and docs/reference/failures.md.
"""

from collections.abc import Iterable, Sequence
from typing import Any

Node = dict[str, Any]
Job = dict[str, Any]


def make_nodes(classes: Iterable[tuple[int, tuple[int, ...]]]) -> list[Node]:
    """So many nodes of each class with what a node has, in order; an atom a class."""
    nodes: list[Node] = []
    for atom, (count, full) in enumerate(classes):
        nodes += [{"id": len(nodes) + k, "atom": atom, "full": full, "free": full, "up": True} for k in range(count)]
    return nodes


def holds(node: Node, job: Job) -> int:
    """Parts that a node holds, counted up one by one."""
    if not node["up"] or node["atom"] not in job["allowed"] or (job["exclusive"] and node["free"] != node["full"]):
        return 0
    count = 0
    while all((count + 1) * need <= free for need, free in zip(job["each"], node["free"], strict=True)):
        count += 1
        if job["spread"]:
            break
    return count


def fits(nodes: list[Node], job: Job) -> bool:
    """Whether all parts find room."""
    return sum(holds(node, job) for node in nodes) >= job["parts"]


def place(nodes: list[Node], job: Job, placement: str) -> dict[int, int] | None:
    """How many parts lie on which node; None if not all find room."""
    sign = {"best-fit": 1, "lowest": 0, "worst-fit": -1}[placement]
    found, left = {}, job["parts"]
    for node in sorted(nodes, key=lambda node: (node["atom"], sign * node["free"][0], node["id"])):
        some = min(holds(node, job), left)
        if some:
            found[node["id"]] = some
            left -= some
    return found if left == 0 else None


def take(nodes: list[Node], job: Job, places: dict[int, int]) -> None:
    """The parts take what they ask for."""
    for k, parts in places.items():
        free = nodes[k]["free"]
        used = free if job["exclusive"] else tuple(parts * need for need in job["each"])
        nodes[k]["free"] = tuple(a - b for a, b in zip(free, used, strict=True))


def give(nodes: list[Node], job: Job, places: dict[int, int]) -> None:
    """They give it back."""
    for k, parts in places.items():
        used = nodes[k]["full"] if job["exclusive"] else tuple(parts * need for need in job["each"])
        nodes[k]["free"] = tuple(a + b for a, b in zip(nodes[k]["free"], used, strict=True))


def most_of(nodes: list[Node]) -> list[int]:
    """The most that any of some nodes has free, of each."""
    return [max(some) for some in zip(*(node["free"] for node in nodes), strict=True)]


def _copy(nodes: list[Node]) -> list[Node]:
    return [dict(node) for node in nodes]


class Run:
    """A run of jobs that end when their run time is over, none of them later than its walltime says.

    Outages are (node, down, up): whoever runs on the node then waits to run again from the beginning, before all that
    have not begun, by id.
    """

    def __init__(
        self, nodes: list[Node], placement: str, policy: str, outages: Sequence[tuple[int, float, float]] = ()
    ):
        self.nodes, self.placement, self.policy = nodes, placement, policy
        self.outages = sorted(outages, key=lambda one: one[1])
        self.until: dict[int, float] = {}  # when a node that is down will be back
        self.running: list[Job] = []
        self.promises: list[tuple[int, float]] = []  # of each decision: the head, and when it would start at the latest

    def go(self, jobs: list[Job]) -> None:
        """Until all have ended; jobs then have `first`, their first start, and of the last one `start` and `places`."""
        coming, waiting = sorted(jobs, key=lambda job: (job["submit"], job["id"])), list[Job]()
        while coming or self.running or waiting:
            now = min(
                [job["submit"] for job in coming[:1]]
                + [job["start"] + job["run_time"] for job in self.running]
                + [down for _, down, _ in self.outages[:1]]
                + list(self.until.values())
            )
            for job in [job for job in self.running if job["start"] + job["run_time"] == now]:
                give(self.nodes, job, job["places"])
                self.running.remove(job)
            self._repair_and_fail(now, waiting)
            while coming and coming[0]["submit"] == now:
                waiting.append(coming.pop(0))
            self.decide(now, waiting)

    def _repair_and_fail(self, now: float, waiting: list[Job]) -> None:
        for node in [node for node, until in self.until.items() if until == now]:
            del self.until[node]
            self.nodes[node]["up"] = True
        while self.outages and self.outages[0][1] == now:
            node, _, until = self.outages.pop(0)
            self.until[node] = max(until, self.until.get(node, 0.0))
            self.nodes[node]["up"] = False
            for job in [job for job in self.running if node in job["places"]]:
                give(self.nodes, job, job["places"])
                self.running.remove(job)
                waiting.append(job)
            waiting.sort(key=lambda job: (0, job["id"]) if "first" in job else (1, 0))

    def _start(self, now: float, job: Job, waiting: list[Job], places: dict[int, int]) -> None:
        take(self.nodes, job, places)
        job["start"], job["places"] = now, places
        job.setdefault("first", now)
        self.running.append(job)
        waiting.remove(job)

    def decide(self, now: float, waiting: list[Job]) -> None:
        """Start whom the policy starts."""
        while waiting and (places := place(self.nodes, waiting[0], self.placement)) is not None:
            self._start(now, waiting[0], waiting, places)
        if not waiting or self.policy == "fcfs":
            return
        spare, shadow = _copy(self.nodes), float("inf")
        if self.policy == "fcfs-easy":
            shadow = self._reserve(now, spare, waiting[0])
            self.promises.append((waiting[0]["id"], shadow))
        for job in waiting[1:]:
            places = place(self.nodes, job, self.placement)
            if places is None:
                continue
            if now + job["walltime"] > shadow:
                both = _copy(self.nodes)
                for one, other in zip(both, spare, strict=True):
                    one["free"] = tuple(map(min, one["free"], other["free"]))
                places = place(both, job, self.placement)
                if places is None:
                    continue
                take(spare, job, places)
            self._start(now, job, waiting, places)

    def _reserve(self, now: float, spare: list[Node], head: Job) -> float:
        """When the head finds room as walltimes tell; `spare` then has what is left beside it."""
        ends = {job["start"] + job["walltime"] for job in self.running}
        for end in sorted(ends | set(self.until.values())):
            for job in self.running:
                if job["start"] + job["walltime"] == end:
                    give(spare, job, job["places"])
            for node, until in self.until.items():
                spare[node]["up"] |= until == end
            places = place(spare, head, self.placement)
            if places is not None:
                take(spare, head, places)
                return end
        return float("inf")
