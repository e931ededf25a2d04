"""What a run on shared nodes did, node by node, and what its jobs were promised: worked out from its result alone.

Written from docs/reference/sharing.md and docs/reference/policies/limits.md. Nodes are numbered; what is in one is
(cores, memory, GPUs, local storage).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import forebay as fb
from twins.windows import keeps_out

PLENTY = 1 << 60


@dataclass
class Job:
    """What a job asks for, and where it may run as long as nothing is reserved."""

    id: int
    submit: float
    walltime: float
    user: str
    parts: int
    spread: bool
    exclusive: bool
    each: tuple[int, ...]
    nodes: set[int]
    start: float | None
    end: float
    had: dict[int, tuple[int, ...]]  # by node


@dataclass
class Window:
    """Nodes that are reserved."""

    start: float
    end: float
    nodes: set[int]
    users: tuple[str, ...]


def attempts(platform: fb.Platform, result: fb.Result) -> list[tuple[int, float, float, dict[int, int]]]:
    """Whenever a job ran: the job, from when, until when, and how many cores of which nodes it had."""
    first = np.cumsum([0, *(one.cores for one in platform.classes for _ in range(one.nodes))])
    placed = result.placements.group_by("row").agg("low", "high")
    had = {row: list(zip(low, high, strict=True)) for row, low, high in placed.iter_rows()}
    found, running = [], {}
    for row, (time, job, kind) in enumerate(result.log.select("time", "job", "kind").iter_rows()):
        if kind == "start":
            cores = [core for low, high in had[row] for core in range(low, high + 1)]
            node, count = np.unique(np.searchsorted(first, cores, side="right") - 1, return_counts=True)
            running[job] = time, dict(zip(node.tolist(), count.tolist(), strict=True))
        elif kind == "end":
            start, nodes = running.pop(job)
            found.append((job, start, time, nodes))
    return found


def inside(platform: fb.Platform) -> list[tuple[int, ...]]:
    """What is in each node."""
    ssd, found = (platform.tiers or (None,))[0], []
    for node, one in enumerate(cls for cls in platform.classes for _ in range(cls.nodes)):
        local = 0 if ssd is None else ssd.large if node >= platform.nodes - (ssd.large_nodes or 0) else ssd.capacity
        found.append((one.cores, PLENTY if one.memory is None else one.memory, one.gpus, local))
    return found


def _ids(text: str, n_nodes: int) -> set[int]:
    if text == "all":
        return set(range(n_nodes))
    ends = [part.split("-") for part in text.split(",")]
    return {node for pair in ends for node in range(int(pair[0]), int(pair[-1]) + 1)}


def windows(platform: fb.Platform) -> list[Window]:
    """Its reservations, which name nodes by ids and last for so many seconds."""
    return [
        Window(one.start, one.start + one.duration, _ids(one.nodes, platform.nodes), one.users)
        for one in platform.reservations
    ]


def jobs_of(platform: fb.Platform, workload: fb.Workload, result: fb.Result) -> list[Job]:
    """All jobs, by arrival, with what became of them."""
    full, names = inside(platform), workload.names
    types = [one.gpu for one in platform.classes for _ in range(one.nodes)]
    queues = {one.name: _ids(one.nodes, platform.nodes) for one in platform.partitions}
    ran = {job: (start, end, cores) for job, start, end, cores in attempts(platform, result)}
    found = []
    for row in workload.jobs.sort("submit", "id").iter_rows(named=True):
        parts = row["nodes"] or row["tasks"]
        each = tuple(-(-row.get(name, 0) // parts) for name in ("cores", "memory", "gpus", "ssd"))
        start, end, cores = ran.get(row["id"], (None, 0.0, {}))
        alone = row["exclusive"] == 1
        mine = set().union(*(queues[name] for name in names["queue"][row["queue"]].split(",")))
        nodes = {node for node in mine if all(a <= b for a, b in zip(each, full[node], strict=True))}
        if each[2] and row.get("gpu", -1) >= 0:
            nodes = {node for node in nodes if types[node] == names["gpu"][row["gpu"]]}
        had = {
            node: full[node] if alone else tuple(count // each[0] * need for need in each)
            for node, count in cores.items()
        }
        job = (row["id"], row["submit"], row["walltime"], str(row["user"]), parts, row["nodes"] > 0, alone, each)
        found.append(Job(*job, nodes, start, end, had))
    return found


def holds(free: tuple[int, ...], full: tuple[int, ...], job: Job) -> int:
    """Parts that a node holds."""
    if job.exclusive and free != full:
        return 0
    count = min(have // need for have, need in zip(free, job.each, strict=True) if need)
    return min(count, 1) if job.spread else count


def may_have(job: Job, time: float, planned: list[Window]) -> set[int]:
    """Nodes on which it may start at a time."""
    nodes = job.nodes
    for one in planned:
        if keeps_out(one.start, one.end, time, job.walltime, job.user in one.users):
            nodes = nodes - one.nodes
    return nodes


def is_seen(job: Job, time: float, full: list[tuple[int, ...]], planned: list[Window]) -> bool:
    """Whether the nodes on which it may start would hold it, if they were idle."""
    return sum(holds(full[node], full[node], job) for node in may_have(job, time, planned)) >= job.parts


def promise(job: Job, now: float, running: list[Job], full: list[tuple[int, ...]], planned: list[Window]) -> float:
    """When the job finds room for all of its walltime, if these run as long as they may and nobody else starts."""
    edges = [edge for one in planned for edge in (one.start, one.end)]
    for time in sorted(
        {now, *(time for time in [*edges, *(one.start + one.walltime for one in running)] if time > now)}
    ):
        room = 0
        for node in may_have(job, time, planned):
            taken = [one.had[node] for one in running if node in one.had and one.start + one.walltime > time]
            free = tuple(have - sum(some) for have, *some in zip(full[node], *taken, strict=True))
            room += holds(free, full[node], job)
        if room >= job.parts:
            return time
    return float("inf")


def promises(jobs: list[Job], full: list[tuple[int, ...]], planned: list[Window]) -> dict[int, tuple[float, float]]:
    """Of each job that came to be the first that waits: when it was, and when it would start at the latest.

    First is who has all before it in line running or over. One that was never seen is told nothing before it is.
    """
    able = [job for job in jobs if job.start is not None]
    instants = sorted(
        {time for job in able for time in (job.submit, job.end)} | {t for one in planned for t in (one.start, one.end)}
    )
    told, turn = {}, 0.0
    for k, job in enumerate(able):
        turn = max([turn, job.submit, *(one.start for one in able[:k])])
        seen = next(t for t in instants if t >= job.submit and is_seen(job, t, full, planned))
        now = max(turn, seen)
        if job.start < now:
            continue
        before = {one.id for one in able[:k]}
        running = [
            one for one in able if one.end > now and (one.start < now or (one.start == now and one.id in before))
        ]
        told[job.id] = now, promise(job, now, running, full, planned)
    return told


def check_room(jobs: list[Job], full: list[tuple[int, ...]], planned: list[Window]) -> int:
    """No node is oversubscribed, nobody is where it may not be, and who wants to be alone is; how many ran."""
    ran: list[Any] = [job for job in jobs if job.start is not None]
    for job in ran:
        assert set(job.had) <= may_have(job, job.start, planned), job
        beside = [one for one in ran if one.start <= job.start < one.end]
        for node in job.had:
            taken = [one.had[node] for one in beside if node in one.had]
            assert all(sum(some) <= have for have, *some in zip(full[node], *taken, strict=True)), (job, node)
            assert not job.exclusive or len(taken) == 1
        for one in planned:
            mine = job.user in one.users and job.start >= one.start
            assert mine or job.end <= one.start or job.start >= one.end or not set(job.had) & one.nodes, (job, one)
    return len(ran)
