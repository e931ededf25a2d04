"""A job's application: its model with its arguments put in, for each of its sizes, as rows of tables.

ElastiSim evaluates formulas again whenever a job changes its size. Sizes are few, so here each is evaluated once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.elastisim import patterns, requests
from forebay.elastisim.formula import Formula, FormulaError, checked, substituted
from forebay.elastisim.job import Job
from forebay.elastisim.model import COMPUTE, MOVE, WAIT, Model, Payload, Phase, Task
from forebay.elastisim.platform import Gpus, Machine
from forebay.elastisim.tables import Amounts, Tables
from forebay.errors import InputError, brief

MAX_TASKS = 10_000
"""Of a job, with the iterations of tasks written out. Those of phases are not: they are counted."""

MAX_ROUNDS = 2**31 - 1

RESIZED = ("malleable", "evolving", "adaptive")
ASKING = ("evolving", "adaptive")
STOPPING = ("malleable", "adaptive")

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
_GPU_PATTERNS = ("all_to_all", "ring", "ring_clockwise", "ring_counter_clockwise")


@dataclass
class Totals:
    """A job's work at one size, without what it reads and writes."""

    seconds: float = 0.0
    flop: float = 0.0
    communication: float = 0.0
    rounds: int = 0  # of all phases


@dataclass
class Writer:
    """Writes the application of one job to tables."""

    job: Job
    machine: Machine | None
    tables: Tables
    clip: bool = True  # whether requests are clipped to the job's sizes
    n_tasks: int = field(default=0, init=False)
    _passes: int = field(default=0, init=False)
    totals: Totals = field(default_factory=Totals, init=False)

    def __post_init__(self) -> None:
        self._known = self.job.known(self.job.sizes)

    def write(self, model: Model, preferred: int) -> Totals:
        """All rows of the job but its sizes; what it has to do at the preferred one."""
        job, loop = self.job, 0
        self.tables.row("jobs", job.number, job.type)
        if model.init is not None:
            for _ in range(min(self._rounds(model.init), MAX_TASKS + 1)):
                self._tasks(model.init, "init", -1, self.job.sizes, (1, preferred))
        for phase in model.phases:
            rounds = self._rounds(phase)
            if rounds == 0:
                continue
            asks = phase.request is not None and job.type in ASKING
            point = phase.point and job.type in STOPPING and not asks
            self.tables.row("loops", job.number, loop, rounds, point, phase.barrier)
            self._tasks(phase, "run", loop, self.job.sizes, (rounds, preferred))
            self.totals.rounds += rounds
            if asks:
                self._requests(phase, loop, rounds, begins=phase is model.phases[0])
            loop += 1
        if loop == 0:
            raise InputError(f"{job.where}: all phases of {model.name} have 0 iterations; give one some")
        if job.type in RESIZED and job.most > job.least:
            added = np.arange(1, job.most - job.least + 1, dtype=np.float64)
            for stage, once, nodes in (
                ("reconfiguration", model.reconfiguration, self.job.sizes),
                ("expansion", model.expansion, added),
            ):
                for _ in range(0 if once is None else min(int(once.iterations), MAX_TASKS + 1)):
                    assert once is not None
                    self._tasks(once, stage, -1, nodes, None)
        return self.totals

    def _bad(self, where: str, what: str) -> InputError:
        return InputError(f"{where}: {what} ({self.job.where})")

    def _requests(self, phase: Phase, loop: int, rounds: int, begins: bool) -> None:
        job, text = self.job, phase.request or ""
        self.tables.reserve(len(job.sizes), job.where)
        try:
            over, wants = requests.tabulated(job, text, rounds, begins, self.clip)
        except FormulaError as error:
            raise self._bad(phase.where, f"evolving_request {brief(text)} {error}") from None
        self.tables.reserve(wants.size, job.where)
        self.tables.block(
            "requests",
            job.number,
            loop,
            np.repeat(over, len(job.sizes)),
            np.tile(job.sizes, len(over)),
            wants.ravel(),
        )

    def _formula(self, text: str, known: Mapping[str, Any], where: str, key: str) -> Formula:
        try:
            text = substituted(text, self.job.arguments)
            return checked(text, known, self.job.arguments)
        except FormulaError as error:
            raise self._bad(where, f"{key} {brief(text)} {error}") from None

    def _values(self, payload: Payload, nodes: Values, where: str) -> Values:
        """An amount at each size: finite, and not negative."""
        value = payload.value
        if isinstance(value, float):
            # ElastiSim writes numbers as text with six decimals, unless the job is rigid.
            return np.full_like(nodes, value if self.job.rigid else float(f"{value:.6f}"))
        assert isinstance(value, str)
        return self._evaluated(value, nodes, where, repr(payload.key))

    def _evaluated(self, text: str, nodes: Values, where: str, key: str) -> Values:
        known = self._known if nodes is self.job.sizes else self.job.known(nodes)
        one_or_all = self._formula(text, known, where, key).values(known)
        alike = isinstance(one_or_all, float) or one_or_all.ndim == 0
        found: Values = np.full(len(nodes), one_or_all) if alike else one_or_all
        wrong = ~((found >= 0) & (found < np.inf))
        if wrong.any():
            at = int(wrong.argmax())
            gives = f"{found[at]:g}, which is below 0," if found[at] < 0 else "no number"
            raise self._bad(where, f"{key} {brief(text)} gives {gives} for {counted(int(nodes[at]), 'node')}")
        return found

    def _rounds(self, phase: Phase) -> int:
        """The iterations of a phase; its formula knows no number of nodes, for it is evaluated once."""
        if isinstance(phase.iterations, int):
            rounds = float(phase.iterations)
        else:
            rounds = float(self._formula(phase.iterations, {}, phase.where, "iterations").values({}))
        if not 0 <= rounds <= MAX_ROUNDS:  # nor is it any number
            raise self._bad(
                phase.where, f"iterations {brief(phase.iterations)} give {rounds:g}; give 0 to {MAX_ROUNDS:,}"
            )
        return int(rounds)

    def _tasks(self, phase: Phase, stage: str, loop: int, nodes: Values, counted: tuple[int, int] | None) -> None:
        """Rows of a phase's tasks; of `counted` rounds, the work at a size is added to the totals."""
        made: dict[int, Amounts] = {}
        for task, active in self._unrolled(phase.tasks, nodes, None):
            self.tables.reserve(len(nodes), self.job.where)
            if id(task) not in made:
                made[id(task)] = self._amounts(task, nodes)
            amounts = made[id(task)]
            if active is not None and not active.all():
                amounts = Amounts(*(np.where(active, column, 0.0) for column in amounts))
            number, self.n_tasks = self.n_tasks, self.n_tasks + 1
            kind = MOVE.get(task.type, "compute")
            coupled = task.coupled or (kind in ("fetch", "checkpoint") and self._striped)
            self.tables.row("tasks", self.job.number, number, stage, loop, kind, task.beside, coupled)
            self.tables.block("amounts", self.job.number, number, nodes, *amounts)
            if counted is not None:
                rounds, preferred = counted
                at = preferred - self.job.least
                self.totals.seconds += rounds * float(amounts.seconds[at])
                if kind == "compute":
                    self.totals.flop += rounds * float(amounts.flop[at])
                    self.totals.communication += rounds * float(amounts.communication[at])

    def _unrolled(self, tasks: tuple[Task, ...], nodes: Values, active: Flags | None) -> Iterator[tuple[Task, Any]]:
        """Tasks in order, each as often as it runs, with the sizes at which it does; None for all of them."""
        for task in tasks:
            times: Values | None = None
            most = task.iterations
            if isinstance(most, str):
                times = np.floor(self._evaluated(most, nodes, task.where, "iterations"))
                most = int(min(times.max(), MAX_TASKS + 1))
            for k in range(min(most, MAX_TASKS + 1)):
                here = active if times is None else (k < times) if active is None else active & (k < times)
                self._passes += 1
                if max(self._passes, self.n_tasks + 1) > MAX_TASKS:
                    what = f"with its iterations the job has more than {MAX_TASKS:,} tasks"
                    raise self._bad(task.where, f"{what}; make them iterations of a phase")
                if task.tasks:
                    yield from self._unrolled(task.tasks, nodes, here)
                    continue
                yield task, here

    def _amounts(self, task: Task, nodes: Values) -> Amounts:
        zero = np.zeros_like(nodes)
        if task.type in WAIT:
            assert task.work is not None
            return Amounts(self._share(task.work, nodes, task.where), zero, zero, zero, zero)
        if task.type in MOVE:
            assert task.data is not None
            return self._moved(task, task.data, nodes)
        work = zero if task.work is None else self._share(task.work, nodes, task.where)
        assert task.type in COMPUTE
        if task.type == "gpu":
            return self._on_gpus(task, work, nodes)
        return Amounts(zero, work, self._sent(task, nodes), zero, zero)

    def _vector(self, payload: Payload, where: str, length: int) -> NDArray[np.float64]:
        """The numbers of a vector or a matrix; only a rigid job has one number for each of its nodes."""
        if not self.job.rigid:
            raise self._bad(where, f"the pattern {payload.pattern} is for rigid jobs, and this one is {self.job.type}")
        found = np.array(payload.value, np.float64)
        if len(found) != length:
            raise self._bad(where, f"{payload.key!r} has {len(found)} numbers, and the job needs {length}")
        return found

    def _share(self, payload: Payload, nodes: Values, where: str) -> Values:
        """What the node with the most has."""
        if payload.pattern == "vector":
            return np.array([self._vector(payload, where, int(nodes[0])).max()])
        return patterns.share(payload.pattern, self._values(payload, nodes, where), nodes)

    def _sent(self, task: Task, nodes: Values) -> Values:
        """Bytes from each node to each other that keep the busiest port as busy as the task's messages do."""
        if task.data is None:
            return np.zeros_like(nodes)
        if task.data.pattern == "matrix":
            n = int(nodes[0])
            busiest, largest = patterns.of_matrix(self._vector(task.data, task.where, n * n).reshape(n, n))
            return self._load(np.array([busiest]), np.array([largest]), nodes)
        amount = self._values(task.data, nodes, task.where)
        return self._messages(task.data.pattern, amount, nodes)

    def _messages(self, pattern: str, amount: Values, nodes: Values) -> Values:
        return self._load(
            patterns.busiest_port(pattern, amount, nodes), patterns.largest_message(pattern, amount, nodes), nodes
        )

    def _load(self, busiest: Values, largest: Values, nodes: Values) -> Values:
        """Where windows limit messages below the bandwidth of a port, the largest one may take longer than the port."""
        pair = 1.0 if self.machine is None else self.machine.pair_load
        return np.maximum(busiest, largest * pair) / np.maximum(nodes - 1, 1)

    @property
    def _striped(self) -> bool:
        return self.machine is not None and self.machine.striped

    def _moved(self, task: Task, data: Payload, nodes: Values) -> Amounts:
        zero = np.zeros_like(nodes)
        if data.pattern == "vector":
            vector = self._vector(data, task.where, int(nodes[0]))
            some = vector[vector > 0]
            if len(set(some)) > 1:
                raise self._bad(task.where, "'bytes' differ from node to node; only equal ones, or 0, can be read")
            each, streams = np.array([some.max(initial=0.0)]), np.array([float(len(some))])
        else:
            each = patterns.share(data.pattern, self._values(data, nodes, task.where), nodes)
            streams = np.where(each > 0, patterns.ranks(data.pattern, nodes), 0.0)
        moved = each * streams
        if not self._striped or task.type not in ("bb_read", "bb_write"):
            return Amounts(zero, zero, zero, moved, streams)
        # A rank has a stripe of its data on the device of every node, and sends all but its own. Its port is busiest:
        # where not all ranks have data, no port gets more stripes than that.
        assert self.machine is not None
        stripe = each / nodes
        sent = self._load(stripe * (nodes - 1), np.where(nodes > 1, stripe, 0.0), nodes)
        return Amounts(zero, self.machine.flop_per_byte * stripe * streams, sent, moved, streams * nodes)

    def _on_gpus(self, task: Task, work: Values, nodes: Values) -> Amounts:
        """Work of GPUs in seconds: they are part of the machine, and are not shared."""
        gpus = self._gpus(task)
        zero, g = np.zeros_like(nodes), self.job.gpus
        seconds = work / g / gpus.speed
        if task.data is None:
            return Amounts(seconds, zero, zero, zero, zero)
        pattern, amount = task.data.pattern, zero
        if pattern not in _GPU_PATTERNS and (g > 1 or pattern == "matrix"):
            raise self._bad(
                task.where, f"GPUs do not send in the pattern {pattern}; only in {', '.join(_GPU_PATTERNS)}"
            )
        amount = self._values(task.data, nodes, task.where)
        inside, outside = _split(pattern, amount, nodes, g)
        if gpus.bandwidth is not None:
            seconds = np.maximum(seconds, patterns.largest_exchange(pattern, inside, g) / gpus.bandwidth)
        return Amounts(seconds, zero, self._messages(pattern, outside, nodes), zero, zero)

    def _gpus(self, task: Task) -> Gpus:
        if self.machine is None or self.machine.gpus is None:
            raise self._bad(task.where, "needs GPUs, and no machine that has them is given; name its platform file")
        there = self.machine.gpus
        if not 1 <= self.job.gpus <= there.count:
            raise self._bad(
                task.where, f"the job has {self.job.gpus} GPUs a node; a node has {there.count}, ask for 1 up"
            )
        return there


def _split(pattern: str, amount: Values, nodes: Values, gpus: int) -> tuple[Values, Values]:
    """Bytes that GPUs send one another inside each node, and from node to node; of all that they send."""
    if gpus == 1:
        return np.zeros_like(amount), amount
    whole = nodes * gpus
    if pattern == "all_to_all":
        each = amount / (whole * (whole - 1))
        return gpus * (gpus - 1) * each, whole * (whole - gpus) * each
    alone = nodes == 1
    return amount / whole * np.where(alone, gpus, gpus - 1), np.where(alone, 0.0, amount / whole * nodes)
