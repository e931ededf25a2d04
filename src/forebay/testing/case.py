"""A small case to try a policy on: a machine and a few jobs, few enough to read."""

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.failures import Failures, Outages
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError, brief, nearest
from forebay.platforms.classes import NodeClass
from forebay.platforms.partitions import Partition
from forebay.platforms.platform import Platform
from forebay.platforms.reservations import Reservation
from forebay.platforms.tiers import fast, node_local, pfs, shared_bb, slow
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.tiers.shared_bb import Placement
from forebay.workload.applications import TABLES, Applications, table
from forebay.workload.dependencies import dependency_table
from forebay.workload.workload import Workload, job_table

MOST_SIZES = 16
"""Of a job, or some more."""
TYPES = ("moldable", "malleable", "evolving")
"""Of a job whose size may differ."""


@dataclass(frozen=True)
class Leg:
    """A leg of a small job.

    Parameters
    ----------
    seconds
        It runs so long.
    walltime
        Seconds that it asks for.
    nodes
        That it asks for.
    buffer
        Bytes of burst buffer that it asks for.
    carry
        Resources kept over from the leg before: "nodes burst_buffer".
    ssd
        Bytes on each node.
    moved
        Bytes that it reads before it computes and writes afterwards, where the machine has a file system. What has a
        buffer stages them, and writes them there once more, as a checkpoint that drains.
    """

    seconds: float
    walltime: float
    nodes: int
    buffer: int
    carry: str = ""
    ssd: int = 0
    moved: int = 0


@dataclass(frozen=True)
class Flexible:
    """The sizes of a small job: with more nodes it takes less time, in proportion.

    Parameters
    ----------
    type
        Who decides on them, and when: "moldable", "malleable" or "evolving".
    low
        The fewest nodes.
    high
        The most nodes.
    rounds
        With a scheduling point or a request before each but the first.
    wants
        Nodes that it asks for before each of them, if it is evolving; 0 = none, for jobs of the other types.

    Examples
    --------
    >>> fb.testing.Flexible("malleable", low=1, high=4, rounds=3).sizes(preferred=2)
    [1, 2, 3, 4]
    """

    type: str
    low: int
    high: int
    rounds: int
    wants: int = 0

    def __post_init__(self) -> None:
        """Refuse sizes that no job can have."""
        if self.type not in TYPES:
            raise InputError(f"a flexible job's type is {brief(self.type)}: {nearest(self.type, TYPES)}")
        if not 1 <= self.low <= self.high:
            raise InputError(f"a flexible job has from {self.low} to {self.high} nodes; give 1 <= low <= high")
        if self.rounds < 1:
            raise InputError(f"a flexible job has {self.rounds} rounds; give 1 or more")
        if self.wants < 0 or (self.type == "evolving" and self.wants == 0):
            raise InputError(
                f"a flexible job that is {self.type} asks for {counted(self.wants, 'node')}; give as wants how many it "
                "asks for, from 1 on, or 0 where it is not evolving"
            )

    def sizes(self, preferred: int) -> list[int]:
        """Numbers of nodes that the job may have: all, or some of very many."""
        step = max(1, (self.high - self.low) // MOST_SIZES)
        return sorted({*range(self.low, self.high + 1, step), self.wants, self.high, preferred} - {0})


@dataclass(frozen=True)
class Job:
    """A job of a small case.

    Parameters
    ----------
    submit
        Seconds.
    legs
        In the order in which they run.
    cancel
        Seconds until its user withdraws it.
    flexible
        How its size may differ from that of its leg, which must then be its only one; None = it does not.
    queue
        Partitions that it is submitted to, where the machine has any: "a", "b" or "a,b"; "" = all nodes will do.
    behind
        It waits for the job that stands so many places before it; 0, or more than there are, is none.
    kind
        What that job must have done: "after", "afterany", "afterok", "afternotok" or "think".
    priority
        Higher goes first, where a policy asks for it.
    cores
        Cores that it asks for on each node, where nodes are shared; 0 = it has nodes to itself.
    fast
        Bytes that it asks for on the fast tier, where there is one; 0 = it runs on the slow one.
    """

    submit: float
    legs: tuple[Leg, ...]
    cancel: float = math.inf  # seconds until its user withdraws it
    flexible: Flexible | None = None
    queue: str = ""
    behind: int = 0  # it waits for the job so many places before it
    kind: str = "afterany"  # what that must have done
    priority: float = 0.0
    cores: int = 0
    fast: int = 0

    def __post_init__(self) -> None:
        """Refuse a job of several sizes that is not of one leg on some nodes."""
        if not self.legs:
            raise InputError("a job of a case has no legs; give at least one")
        if self.flexible is not None and (len(self.legs) > 1 or self.legs[0].nodes < 1):
            raise InputError(
                f"a flexible job of a case has {counted(len(self.legs), 'leg')}, the first on "
                f"{counted(self.legs[0].nodes, 'node')}; give it one leg, on 1 node or more"
            )


@dataclass(frozen=True)
class Case:
    """A machine and a few jobs: small enough to read.

    Parameters
    ----------
    nodes
        Of the machine.
    buffer
        Its burst buffer in bytes; 0 = none.
    jobs
        In order of arrival.
    servers
        That the buffer lies on in chunks, evenly; 0 = it is a pool.
    large
        Nodes with 2 B of SSD, the last ones, where the others have 1 B; 0 = none has any.
    outages
        Nodes that fail: their number, from when and until when they are down. In order of time.
    period
        Seconds of work after which jobs write a checkpoint, which takes 1 s, and 1 s to read; 0 = they write none.
    partitions
        Name, first and last node of each.
    files
        Bytes/s of its file system, for reads and again for writes; 0 = it has none, and nothing moves.
    fast
        Bytes of a fast tier; the file system is then the slow one, and policies choose. 0 = none.
    cores
        Cores of each node, which jobs then share; 0 = a job has its nodes to itself.
    reserved
        Maintenance: from when, for how long, first and last node.

    Examples
    --------
    >>> from forebay.testing import Case, Job, Leg
    >>> print(Case(4, 0, (Job(0, (Leg(10, 20, nodes=2, buffer=0),)),)).text())
    machine: 4 nodes, 0 B of burst buffer
    job 1 (row 0): submitted at 0 s, 2 nodes, 0 B, runs 10 s of 20 s asked
    """

    nodes: int
    buffer: int
    jobs: tuple[Job, ...]
    servers: int = 0  # that the buffer lies on in chunks, evenly; 0 = it is a pool
    large: int = 0  # nodes with 2 B of SSD, the last ones, where the others have 1 B; 0 = none has any
    outages: tuple[tuple[int, float, float], ...] = ()  # node, down, up
    period: float = 0.0  # of checkpoints that take 1 s; 0 = jobs write none
    partitions: tuple[tuple[str, int, int], ...] = ()  # name, first and last node
    files: int = 0  # bytes/s of the file system each way; 0 = none
    fast: int = 0  # bytes of the fast tier; 0 = none
    cores: int = 0  # of each node, which jobs share; 0 = they do not
    reserved: tuple[tuple[float, float, int, int], ...] = ()  # start, duration, first and last node

    def platform(self) -> Platform:
        """The machine."""
        tiers: list[BaseTier] = []
        if self.buffer:
            placement: Placement = "chunked" if self.servers else "pooled"
            servers = self.servers or None
            tiers.append(
                shared_bb.Tier(name="burst_buffer", capacity=self.buffer, placement=placement, servers=servers)
            )
        if self.fast:
            rate = float(self.files)
            tiers += [
                slow.Tier(name="slow", bandwidth=rate),
                fast.Tier(name="fast", capacity=self.fast, bandwidth=4 * rate, stage=2 * rate),
            ]
        elif self.files:
            tiers.append(pfs.Tier(name="pfs", read=float(self.files), write=float(self.files)))
        if self.large:
            tiers.append(node_local.Tier(name="ssd", capacity=1, large=2, large_nodes=self.large))
        parts = [Partition(name=name, nodes=f"{first}-{last}") for name, first, last in self.partitions]
        if parts:
            parts.append(Partition(name="all", nodes="all", default=True))
        planned = [
            Reservation(name=f"service-{k}", start=start, duration=duration, nodes=f"{first}-{last}")
            for k, (start, duration, first, last) in enumerate(self.reserved)
        ]
        shared = (NodeClass(name="node", nodes=self.nodes, cores=self.cores),) if self.cores else ()
        return Platform(
            name="case",
            classes=shared,
            nodes=self.nodes,
            tiers=tuple(tiers),
            partitions=tuple(parts),
            sharing=bool(shared),
            reservations=tuple(planned),
        )

    def failures(self) -> Failures | None:
        """How its nodes fail, and what jobs do about it; None if none does."""
        if not self.outages:
            return None
        node, down, up = (np.array(column) for column in zip(*self.outages, strict=True))
        return Failures(
            outages=Outages("case", "", node, down, up), checkpoint=float(self.period > 0), period=self.period
        )

    def workload(self) -> Workload:
        """The jobs as a Workload."""
        queues = ["", *sorted({job.queue for job in self.jobs} - {""})]
        jobs = job_table(
            {
                "id": np.arange(1, len(self.jobs) + 1),
                "submit": np.array([job.submit for job in self.jobs], float),
                "walltime": np.array([job.legs[0].walltime for job in self.jobs], float),
                "run_time": np.array([job.legs[0].seconds for job in self.jobs], float),
                "nodes": np.array([job.legs[0].nodes for job in self.jobs]),
                "user": np.arange(len(self.jobs)) % 3,
                "cancel": np.array([job.cancel for job in self.jobs], float),
                "burst_buffer": np.array([job.legs[0].buffer for job in self.jobs]),
                "ssd": np.array([job.legs[0].nodes * job.legs[0].ssd for job in self.jobs]),
                "queue": np.array([queues.index(job.queue) - 1 for job in self.jobs]),
                "priority": np.array([job.priority for job in self.jobs], float),
                "fast": np.array([job.fast for job in self.jobs]),
            }
            | ({"cores": np.array([job.cores * job.legs[0].nodes for job in self.jobs])} if self.cores else {})
        )
        names = {"queue": dict(enumerate(queues[1:]))} if self.partitions else {}
        waits = self._dependencies()
        if any(job.flexible is not None for job in self.jobs):
            return Workload("case", jobs, applications=self._applications(), names=names, dependencies=waits)
        return Workload("case", jobs, *self._legs_and_phases(), names=names, dependencies=waits)

    def _legs_and_phases(self) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
        """Tables of what jobs do leg by leg; None where none has several, or moves data."""
        staged = [(i, job) for i, job in enumerate(self.jobs, 1) if len(job.legs) > 1]
        moving = [(i, job) for i, job in enumerate(self.jobs, 1) if self.files or len(job.legs) > 1]
        rows = [
            (i, k, leg.walltime, leg.nodes, leg.carry, leg.buffer, leg.nodes * leg.ssd)
            for i, job in staged
            for k, leg in enumerate(job.legs)
        ]
        legs = pl.DataFrame(rows, {**LEG_SCHEMA, "burst_buffer": pl.Int64, "ssd": pl.Int64}, orient="row")
        phases = pl.DataFrame(
            [
                (i, k, kind, amount if kind == "compute" else 0.0, 0.0, 0.0, 0.0 if kind == "compute" else amount, None)
                for i, job in moving
                for k, leg in enumerate(job.legs)
                for kind, amount in self._phases(leg, k == len(job.legs) - 1)
            ],
            PHASE_SCHEMA,
            orient="row",
        )
        return legs if staged else None, phases if moving else None

    def _phases(self, leg: Leg, last: bool) -> list[tuple[str, float]]:
        """What a leg does: kinds of phases, with seconds or bytes."""
        works, moved = ("compute", leg.seconds), float(leg.moved)
        if not self.files or not moved:
            return [works]
        buffered = leg.buffer and self.buffer and not self.fast
        if not leg.nodes and not buffered:
            return [works]
        if not leg.nodes:  # before the run, or after it
            return [works, ("stage_out", moved)] if last else [("stage_in", moved), works]
        if buffered:
            saved = [("checkpoint", moved), ("drain", moved)] if not leg.carry else [("checkpoint", moved)]
            return [("stage_in", moved), works, *saved, ("stage_out", moved)] if not leg.carry else [works, *saved]
        return [("read", moved), works, ("write", moved)]

    def _dependencies(self) -> pl.DataFrame | None:
        """Which jobs wait for which; None if none does."""
        found = [(i, job) for i, job in enumerate(self.jobs) if 0 < job.behind <= i]
        if not found:
            return None
        columns = {"job": [i + 1 for i, _ in found], "parent": [i + 1 - job.behind for i, job in found]}
        return dependency_table(columns | {"kind": [job.kind for _, job in found]})

    def _applications(self) -> Applications:
        """What jobs of several sizes do."""
        tables: dict[str, list[tuple[object, ...]]] = {name: [] for name in TABLES}
        for job, one in enumerate(self.jobs, 1):
            flexible, leg = one.flexible, one.legs[0]
            if flexible is None:
                continue
            sizes = flexible.sizes(leg.nodes)
            tables["jobs"].append((job, flexible.type))
            tables["sizes"] += [(job, n, leg.walltime) for n in sizes]
            tables["loops"].append((job, 0, flexible.rounds, flexible.type == "malleable", True))
            tables["tasks"].append((job, 0, "run", 0, "compute", False, True))
            each = leg.seconds * leg.nodes / flexible.rounds
            tables["amounts"] += [(job, 0, n, each / n, 0.0, 0.0, 0.0, 0) for n in sizes]
            if self.files and leg.moved:
                tables["tasks"].append((job, 1, "run", 0, "write", False, True))
                part = leg.moved / flexible.rounds
                tables["amounts"] += [(job, 1, n, 0.0, 0.0, 0.0, part, n) for n in sizes]
            if flexible.type == "evolving":
                tables["requests"] += [(job, 0, -1, n, flexible.wants) for n in sizes]
        return Applications(**{name: table(name, rows) for name, rows in tables.items()})

    def text(self) -> str:
        """The case as a table to read."""
        chunks = f" in chunks on {counted(self.servers, 'server')}" if self.servers else ""
        kinds = f", 1 B of SSD in every node and 2 B in the last {self.large}" if self.large else ""
        lines = [f"machine: {counted(self.nodes, 'node')}, {self.buffer} B of burst buffer{chunks}{kinds}"]
        if self.cores:
            lines.append(f"nodes are shared, by their {counted(self.cores, 'core')} each")
        if self.fast:
            lines.append(f"slow storage of {self.files} B/s, and {self.fast} B of a fast tier of {4 * self.files} B/s")
        elif self.files:
            lines.append(f"file system: {self.files} B/s to read, and {self.files} B/s to write")
        lines += [f"partition {name}: nodes {first}-{last}" for name, first, last in self.partitions]
        lines += [
            f"nodes {low}-{high} are reserved from {at:g} s for {span:g} s" for at, span, low, high in self.reserved
        ]
        lines += [f"node {node} is down from {down:g} to {up:g} s" for node, down, up in self.outages]
        if self.period:
            lines.append(f"jobs write a checkpoint of 1 s after {self.period:g} s of work")
        for i, job in enumerate(self.jobs):
            legs = "; then ".join(
                f"{counted(leg.nodes, 'node')}, {leg.buffer} B, runs {leg.seconds:g} s of {leg.walltime:g} s asked"
                + (f", {leg.ssd} B of SSD a node" if self.large else "")
                + (f", moves {leg.moved} B" if self.files and leg.moved else "")
                + (f", carries {leg.carry}" if leg.carry else "")
                for leg in job.legs
            )
            legs += "" if job.flexible is None else _in_words(job.flexible)
            legs += f", {counted(job.cores, 'core')} a node" if self.cores and job.cores else ""
            legs += f", {job.fast} B of the fast tier" if self.fast and job.fast else ""
            legs += f", priority {job.priority:g}" if job.priority else ""
            legs += f", in {job.queue}" if job.queue else ""
            legs += f", {job.kind} job {i + 1 - job.behind}" if 0 < job.behind <= i else ""
            withdrawn = "" if job.cancel == math.inf else f", withdrawn after {job.cancel:g} s"
            lines.append(f"job {i + 1} (row {i}): submitted at {job.submit:g} s{withdrawn}, {legs}")
        return "\n".join(lines)


def _in_words(flexible: Flexible) -> str:
    asks = f", asks for {flexible.wants}" if flexible.type == "evolving" else ""
    rounds = counted(flexible.rounds, "round")
    return f", {flexible.type}: {flexible.low} to {counted(flexible.high, 'node')} in {rounds}{asks}"
