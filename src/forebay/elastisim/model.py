"""Application models as files have them: phases of tasks, with formulas that are still text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from forebay.errors import InputError, brief, listed, nearest
from forebay.workload import _source
from forebay.workload.formats._json_values import count, member, number, parse, text

MAX_NESTING = 20
"""Sequences inside one another."""

VECTORS = ("all_ranks", "uniform", "root_only", "even_ranks", "odd_ranks", "vector")
MATRICES = (
    *("all_to_all", "gather", "scatter", "master_worker", "ring", "ring_clockwise", "ring_counter_clockwise"),
    "matrix",
)
_SAME = {"total": "all_ranks"}

COMPUTE = ("cpu", "gpu")
WAIT = ("idle", "busy_wait")
MOVE = {"pfs_read": "read", "pfs_write": "write", "bb_read": "fetch", "bb_write": "checkpoint"}
_TYPES = (*COMPUTE, *WAIT, *MOVE, "sequence")

_COMMON = {"type", "name", "iterations", "synchronized"}
_KEYS: dict[str, tuple[str, ...]] = {
    "cpu": ("flops", "computation_pattern", "bytes", "communication_pattern", "coupled"),
    "gpu": ("flops", "computation_pattern", "bytes", "communication_pattern"),
    **dict.fromkeys(WAIT, ("delay", "pattern")),
    **dict.fromkeys(MOVE, ("bytes", "pattern", "async")),
    "sequence": ("tasks",),
}
_PHASE_KEYS = {"iterations", "scheduling_point", "evolving_request", "barrier", "tasks", "name"}


@dataclass(frozen=True)
class Payload:
    """An amount, and how it is spread over the nodes of a job."""

    key: str
    value: float | str | tuple[float, ...]  # a formula is text
    pattern: str

    @property
    def alike(self) -> bool:
        """Whether all nodes have as much."""
        if self.pattern == "vector" and isinstance(self.value, tuple):
            return len(set(self.value)) == 1
        return self.pattern in ("all_ranks", "uniform")


@dataclass(frozen=True)
class Task:
    """A task; `work` are flops or seconds, `data` bytes that are sent, read or written."""

    where: str  # file, phase and task, for messages
    name: str
    type: str
    iterations: int | str = 1
    synchronized: bool = False
    beside: bool = False
    coupled: bool = False
    work: Payload | None = None
    data: Payload | None = None
    tasks: "tuple[Task, ...]" = ()

    @property
    def sends(self) -> bool:
        """Whether its nodes send one another messages."""
        return self.type in COMPUTE and self.data is not None

    @property
    def spread(self) -> Payload | None:
        """What its nodes have to do before they go on, if that is not the same for all."""
        own = self.data if self.type in MOVE else self.work
        return None if own is None or own.alike or self.coupled else own


@dataclass(frozen=True)
class Phase:
    """Tasks that run in rounds."""

    where: str
    iterations: int | str = 1
    point: bool = False
    barrier: bool = True
    request: str | None = None
    tasks: tuple[Task, ...] = ()


@dataclass(frozen=True)
class Model:
    """An application."""

    name: str
    init: Phase | None
    reconfiguration: Phase | None
    expansion: Phase | None
    phases: tuple[Phase, ...]
    notes: tuple[str, ...]


def read(path: Path) -> Model:
    """The model in a file."""
    source = _source.load(path)
    return _Reader(str(path), []).model(parse(source.data, str(path)), source.name)


@dataclass
class _Reader:
    path: str
    unknown: list[str] = field(default_factory=list)

    def model(self, document: Any, name: str) -> Model:
        table = _object(document, self.path, "the model")
        listing = member(table, "phases", self.path)
        if not isinstance(listing, list) or not listing:
            raise InputError(f"{self.path}: 'phases' is {brief(listing)}; it must be a list of phases")
        self._strange(table, {"phases", "on_init", "on_reconfiguration", "on_expansion"}, "the model")
        phases = tuple(self._phase(phase, f"{self.path}: phase {k}") for k, phase in enumerate(listing, 1))
        once = [
            self._once(table[key], f"{self.path}: {key}", first=phases[0] if key == "on_init" else None)
            if table.get(key) is not None
            else None
            for key in ("on_init", "on_reconfiguration", "on_expansion")
        ]
        notes = [f"{name}: keys that mean nothing here: {listed(self.unknown)}"] if self.unknown else []
        for phase in (*once, *phases):
            notes += [] if phase is None else [f"{name}: {text}" for text in _drifts(phase)]
        init, reconfiguration, expansion = once
        return Model(name, init, reconfiguration, expansion, phases, tuple(notes))

    def _strange(self, table: Mapping[str, Any], known: set[str], where: str) -> None:
        self.unknown += [f"{key} of {where}" for key in sorted(table.keys() - known)]

    def _phase(self, document: Any, where: str) -> Phase:
        table = _object(document, where, "a phase")
        self._strange(table, _PHASE_KEYS, where.removeprefix(f"{self.path}: "))
        request = table.get("evolving_request")
        return Phase(
            where=where,
            iterations=_iterations(table.get("iterations"), where),
            point=_flag(table, "scheduling_point", True, where),
            barrier=_flag(table, "barrier", True, where),
            request=None if request is None else text(request, where, "evolving_request"),
            tasks=self._tasks(table, where),
        )

    def _once(self, document: Any, where: str, first: Phase | None) -> Phase:
        """A phase outside of the others' turn. Its nodes wait for all that it does, whatever runs beside."""
        table = _object(document, where, "a phase")
        self._strange(table, {"iterations", "tasks", "name"}, where.removeprefix(f"{self.path}: "))
        iterations = table.get("iterations")
        phase = Phase(
            where=where,
            iterations=1 if iterations is None else count(iterations, where, "iterations"),
            tasks=_waited(self._tasks(table, where), iterations not in (None, 1)),
        )
        for task in phase.tasks:
            if task.beside and (first is None or not first.barrier or phase.iterations != 1):
                raise InputError(f"{task.where}: runs asynchronously here, which is not read; leave out async")
        return phase

    def _tasks(self, table: Mapping[str, Any], where: str, depth: int = 0) -> tuple[Task, ...]:
        listing = member(table, "tasks", where)
        if not isinstance(listing, list) or not listing:
            raise InputError(f"{where}: 'tasks' is {brief(listing)}; it must be a list of tasks")
        if depth > MAX_NESTING:
            raise InputError(f"{where}: sequences nest deeper than {MAX_NESTING}; unfold some")
        return tuple(self._task(task, f"{where}, task {k}", depth) for k, task in enumerate(listing, 1))

    def _task(self, document: Any, where: str, depth: int) -> Task:
        table = _object(document, where, "a task")
        name = table.get("name")
        if isinstance(name, str) and name:
            where = f"{where} ({listed([name])})"
        kind = text(member(table, "type", where), where, "type").lower()
        if kind not in _TYPES:
            raise InputError(f"{where}: unknown type {brief(table['type'])}; {nearest(kind, _TYPES)}")
        self._strange(table, _COMMON.union(_KEYS[kind]), where.removeprefix(f"{self.path}: "))
        task = Task(
            where=where,
            name=name if isinstance(name, str) else "",
            type=kind,
            iterations=_iterations(table.get("iterations"), where),
            synchronized=_flag(table, "synchronized", False, where),
        )
        if kind == "sequence":
            return replace(task, tasks=self._sequence(table, where, depth))
        if kind in WAIT:
            return replace(task, work=_payload(table, "delay", "pattern", VECTORS, where))
        if kind in MOVE:
            beside = _flag(table, "async", False, where)
            return replace(task, beside=beside, data=_payload(table, "bytes", "pattern", VECTORS, where))
        work = _payload(table, "flops", "computation_pattern", VECTORS, where) if _given(table, "flops") else None
        data = _payload(table, "bytes", "communication_pattern", MATRICES, where) if _given(table, "bytes") else None
        if work is None and data is None:
            raise InputError(f"{where}: has neither flops nor bytes; give one of them")
        coupled = kind == "cpu" and _flag(table, "coupled", False, where) and work is not None and data is not None
        return replace(task, coupled=coupled, work=work, data=data)

    def _sequence(self, table: Mapping[str, Any], where: str, depth: int) -> tuple[Task, ...]:
        """A sequence waits at its end for what runs beside."""
        tasks = _waited(self._tasks(table, where, depth + 1), several=False)
        for task in tasks:
            if task.beside:
                raise InputError(f"{task.where}: runs asynchronously in a sequence, which is not read; leave out async")
        return tasks


def _waited(tasks: tuple[Task, ...], several: bool) -> tuple[Task, ...]:
    """What is waited for as soon as it begins does not run beside anything."""
    last = tasks[-1]
    if several or not last.beside or last.iterations != 1:
        return tasks
    return (*tasks[:-1], replace(last, beside=False))


def _drifts(phase: Phase) -> Iterator[str]:
    """Where nodes would go on to a task before others, which our tasks do not: each begins when the last has ended.

    Nodes wait for one another before messages, which begin when the first node is there.
    """
    behind: Task | None = None
    for task in _flat(phase.tasks):
        if task.beside:
            continue
        if behind is not None and behind.spread is not None and not _follows(behind.spread, task):
            yield _told(behind, f"some nodes begin {task.where.rpartition(': ')[2]} before it has ended")
        behind = task
    if behind is not None and behind.spread is not None and not phase.barrier:
        yield _told(behind, "some nodes begin the next round before it has ended")


def _follows(spread: Payload, task: Task) -> bool:
    """Whether a task begins when those have ended that are last."""
    if task.synchronized:
        return True
    if task.sends:
        return spread.pattern in ("root_only", "even_ranks") and (task.work is None or task.coupled)
    own = task.spread
    return own is not None and own.pattern == spread.pattern and spread.pattern != "vector"


def _told(task: Task, what: str) -> str:
    where = task.where.rpartition(": ")[2]
    if task.spread is not None and task.spread.pattern == "vector":
        raise InputError(f"{task.where}: has unequal amounts, and {what}; make the next task synchronized")
    return f"after {where} {what} in ElastiSim, and none do here"


def _flat(tasks: Sequence[Task]) -> Iterator[Task]:
    for task in tasks:
        if task.tasks:
            yield from _flat(task.tasks)
        else:
            yield task


def _object(value: Any, where: str, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: {what} is {brief(value)}; it must be an object")
    return value


def _given(table: Mapping[str, Any], key: str) -> bool:
    return table.get(key) is not None


def _flag(table: Mapping[str, Any], key: str, default: bool, where: str) -> bool:
    value = table.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be true or false")
    return value


def _iterations(value: Any, where: str) -> int | str:
    if value is None or isinstance(value, str):
        return 1 if value is None else value
    if isinstance(value, float):
        raise InputError(f"{where}: 'iterations' is {brief(value)}; it must be a whole number or a formula")
    return count(value, where, "iterations")


def _payload(table: Mapping[str, Any], key: str, pattern: str, known: Sequence[str], where: str) -> Payload:
    value = member(table, key, where)
    word = text(member(table, pattern, where), where, pattern).lower()
    word = _SAME.get(word, word)
    if word not in known:
        raise InputError(f"{where}: unknown {pattern} {brief(table[pattern])}; {nearest(word, known)}")
    if word in ("vector", "matrix"):
        if not isinstance(value, list):
            raise InputError(f"{where}: {key!r} is {brief(value)}; the pattern {word} needs a list of numbers")
        return Payload(key, tuple(_amount(one, where, key) for one in value), word)
    if isinstance(value, str):
        return Payload(key, value, word)
    return Payload(key, _amount(value, where, key), word)


def _amount(value: Any, where: str, key: str) -> float:
    found = number(value, where, key)
    if found < 0:
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be 0 or more")
    return found
