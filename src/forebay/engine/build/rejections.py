"""Jobs that can never run on a machine, and why."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from forebay._support.text import amount, counted
from forebay.core.units import format_bytes
from forebay.engine.build.program import Program
from forebay.platforms.fabric import Fabric
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload


class _Rejected:
    """Jobs that can never run, and a sentence for each reason, which names the first of them."""

    def __init__(self, workload: Workload, unfit: np.ndarray) -> None:
        self.workload, self.unfit, self.notes = workload, unfit, list[str]()

    def add(self, over: np.ndarray, why: Callable[[int], str]) -> None:
        """Reject more jobs; those of a former reason keep it."""
        over = over & ~self.unfit
        if over.any():
            job = int(np.argmax(over))
            self.notes.append(f"job {self.workload.jobs['id'][job]} is rejected: {why(job)}{_others(over)}")
            self.unfit = self.unfit | over


def too_large(workload: Workload, platform: Platform, program: Program, fabric: Fabric) -> tuple[np.ndarray, list[str]]:
    """Jobs that ask for more than the machine could ever give, and a sentence for each reason that names the first.

    Those that have no place on it are among them, and are named there.
    """
    first = program.first_leg[:-1]
    found = _Rejected(
        workload, np.zeros(len(first), bool) if program.places is None else program.places.rejected.copy()
    )
    most = np.maximum.reduceat(np.where(program.first_choice[:, None], program.demand, 0), first)
    _beyond_all(found, platform, most)
    _beyond_its_nodes(found, platform, program)
    streams = np.maximum(program.nodes, 1)
    for r in range(len(platform.resources)):
        each = -(-most[:, r] // streams)
        for over, where in _beyond_a_node(platform, fabric, r, most, each, streams):
            found.add(over, partial(_asks, each, streams, where))
    return found.unfit, found.notes


def _beyond_all(found: _Rejected, platform: Platform, most: np.ndarray) -> None:
    """Jobs that ask for more of a resource than the whole machine has."""
    for r, (name, capacity) in enumerate(platform.finite.items()):
        if name not in platform.asked:
            continue

        def why(job: int, r: int = r, name: str = name, capacity: int = capacity) -> str:
            asks, has = amount(int(most[job, r]), name), f"{capacity:,}"
            if name != "nodes" and _in_bytes(platform, name):
                asks, has = f"{format_bytes(int(most[job, r]))} of {name}", format_bytes(capacity)
            return f"it asks for {asks}, and {platform.name} has {has}"

        found.add(most[:, r] > capacity, why)


def _beyond_its_nodes(found: _Rejected, platform: Platform, program: Program) -> None:
    """Jobs that ask for more nodes than there are where they may run; the device in a node, too, says where that is."""
    if program.allowed is None or not platform.divided:  # where nodes have devices, those tell
        return
    first, asked = program.first_leg[:-1], program.demand[:, 0]
    room = np.zeros(len(asked), np.int64)
    for a, atom in enumerate(platform.atoms):
        room += np.where(program.allowed >> a & 1, atom.count, 0)
    most = np.maximum.reduceat(np.where(program.first_choice, asked, 0), first)

    def why(job: int) -> str:
        has = f"{platform.name} has {int(room[first[job]]):,} where it may run"
        return f"it asks for {counted(int(most[job]), 'node')}, and {has}"

    found.add(np.maximum.reduceat((asked > room) & program.first_choice, first), why)


def _asks(each: np.ndarray, streams: np.ndarray, where: str, job: int) -> str:
    """A sentence of what a job asks for on each node."""
    return f"it asks for {format_bytes(int(each[job]))} a node on {counted(int(streams[job]), 'node')}, and {where}"


def _beyond_a_node(
    platform: Platform, fabric: Fabric, r: int, most: np.ndarray, each: np.ndarray, streams: np.ndarray
) -> Iterator[tuple[np.ndarray, str]]:
    """Jobs whose request for a node exceeds what a node, or a server, has of a resource; and what that is."""
    name = platform.resources[r]
    tier = next((tier for tier in platform.tiers if tier.name == name), None)
    if fabric.chunked and name == fabric.buffer:
        room = sum(
            count * (capacity // np.maximum(each, 1))
            for capacity, count in zip(*np.unique(fabric.server_capacity, return_counts=True), strict=True)
        )
        holds = format_bytes(int(fabric.server_capacity.max()))
        where = f"no server of {name} holds more than {holds}, and a node's request lies whole on one"
        yield (each > 0) & (room < streams), where
    elif tier is not None and tier.most is not None and not platform.sharing:  # there its places tell
        yield each > tier.most, f"a node has {format_bytes(tier.most)} of {name}"
        if tier.two_kinds and not platform.divided:
            n_large = platform.nodes - platform.first_large
            large = counted(n_large, "node has", "nodes have")
            yield most[:, -1] > n_large, f"{large} more than {format_bytes(tier.per_node or 0)} of {name}"


def _in_bytes(platform: Platform, name: str) -> bool:
    """Whether a resource is storage; pools count whatever they count."""
    return any(tier.name == name and tier.in_bytes for tier in platform.tiers)


def _others(jobs: np.ndarray) -> str:
    return f" ({int(jobs.sum()):,} such jobs)" if jobs.sum() > 1 else ""
