"""Batsim's profiles: what a job does, as a sequence of steps. https://batsim.readthedocs.io/en/stable/input-workload.html"""

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from forebay._support import input_limits
from forebay._support.text import counted
from forebay.errors import InputError, brief, listed, nearest
from forebay.workload.formats._json_values import member, number, text, whole

MAX_STEPS = 100_000  # of one job: a `repeat` with a slip of the finger must not eat the memory

MAX_ALL_STEPS = 1_000_000  # of all jobs of a file, a quarter of a gigabyte; more where it has very many jobs
STEPS_A_JOB = 100  # on average, in such a file

MAX_DEPTH = 50  # of composed profiles in one another


BESIDE = "beside"
"""Our own key of what is staged out while the job goes on: a drain."""

FILE_SYSTEM = "pfs"  # Batsim's own name for a storage that a profile does not name

_BUFFER = re.compile(r"(?<![a-z])(bb|hpst|burst[\W_]*buffers?)(?![a-z])")
"""Names of a burst buffer, in lower case: Batsim has storages alone, and what kind one is only its name can tell.
`hpst`, high-performance storage tier, was its word for one until version 2."""


class Step(NamedTuple):
    """One phase: computing, on every node of the job, or moving bytes, all nodes together."""

    seconds: float
    flop: float  # of each node
    communication: float  # bytes from each node to each other
    kind: str = "compute"
    bytes: float = 0.0


class Work(NamedTuple):
    """What a profile asks of a job."""

    steps: tuple[Step, ...]
    bb: int | None = None  # bytes of burst buffer a node; None where not stated
    phased: bool = False  # its sums do not say all: steps are phases
    uneven: bool = False  # nodes differ, and a Step cannot say so
    at_once: bool = False  # reads and writes together, and steps come one after another
    files: frozenset[str] = frozenset()  # names of the storages that are no burst buffer


class Profiles:
    """The profiles of a file, understood when a job first asks for them."""

    def __init__(self, table: Mapping[str, Any], path: Path, n_jobs: int) -> None:
        self._table = table
        self._path = path
        self._known: dict[tuple[str, int], Work] = {}
        self._most = input_limits.limit(input_limits.STEPS, max(MAX_ALL_STEPS, STEPS_A_JOB * n_jobs))
        self._steps = 0

    def work(self, name: str, nodes: int, user: str) -> Work:
        """What `name` means for a job of so many nodes; `user` is who asks and in which file, for messages."""
        work = self._work(name, nodes, user, ())
        if work.phased:
            self._count(work)
        return work

    def _count(self, work: Work) -> None:
        """Steps that lie in memory: a profile's own, and once more those of every job that has them as phases."""
        self._steps += len(work.steps)
        if self._steps > self._most:
            raise InputError(
                f"{self._path}: its profiles unroll to over {self._most:,} steps in all; lower 'repeat', or set the "
                f"variable {input_limits.STEPS} to as many as it may have"
            )

    def _work(self, name: str, nodes: int, user: str, within: tuple[str, ...]) -> Work:
        if name not in self._table:
            known = list(self._table)
            hint = nearest(name, known) if len(known) < 1000 else "add it to 'profiles'"
            raise InputError(f"{user} names no existing profile: {brief(name)}; {hint}")
        if name in within:
            loop = " -> ".join(listed([part]) for part in (*within[within.index(name) :], name))
            raise InputError(f"{self._path}: profile {brief(name)} contains itself ({loop}); break the loop")
        if len(within) > MAX_DEPTH:
            raise InputError(f"{self._path}: profile {brief(within[0])} nests deeper than {MAX_DEPTH}; flatten it")
        if (name, nodes) not in self._known:
            self._known[name, nodes] = self._understand(name, nodes, within)
            self._count(self._known[name, nodes])
        return self._known[name, nodes]

    def _understand(self, name: str, nodes: int, within: tuple[str, ...]) -> Work:
        where = f"{self._path}: profile {brief(name)}"
        profile = self._table[name]
        if not isinstance(profile, dict):
            raise InputError(f"{where} is {brief(profile)}; it must be an object")
        kind = _kind(profile, where)
        bb = None
        if "bb" in profile:
            bb = whole(profile["bb"], where, "bb")
            if bb < 0:
                raise InputError(f"{where}: 'bb' is {bb}; bytes of burst buffer a node cannot be negative")
        if kind == "composed":
            return self._composed(profile, nodes, (*within, name), where, bb)
        if not isinstance(kind, str) or kind not in _KINDS:
            # All names, not the nearest: what Batsim's other types do is like none of these.
            known = listed(sorted([*_KINDS, "composed"]))
            raise InputError(f"{where}: type {brief(profile['type'])} is not supported; these are: {known}")
        return _KINDS[kind](profile, nodes, where)._replace(bb=bb)

    def _composed(
        self, profile: Mapping[str, Any], nodes: int, within: tuple[str, ...], where: str, bb: int | None
    ) -> Work:
        """Parts one after another, `repeat` times. The burst buffer is held throughout: the largest of all `bb`."""
        repeat = whole(profile.get("repeat", profile.get("nb", 1)), where, "repeat")
        if repeat < 1:
            raise InputError(f"{where}: 'repeat' is {repeat}; it must be at least 1")
        sequence = member(profile, "seq", where)
        if not isinstance(sequence, list) or not sequence or not all(isinstance(part, str) for part in sequence):
            raise InputError(f"{where}: 'seq' is {brief(sequence)}; it must list at least one profile by name")
        parts = [self._work(part, nodes, where, within) for part in sequence]
        length = repeat * sum(len(part.steps) for part in parts)
        if length > MAX_STEPS:
            raise InputError(f"{where}: unrolls to {length:,} steps, {MAX_STEPS:,} at most; lower 'repeat'")
        stated = [need for need in (bb, *(part.bb for part in parts)) if need is not None]
        steps = repeat * tuple(step for part in parts for step in part.steps)
        return Work(
            steps,
            max(stated, default=None),
            True,
            any(part.uneven for part in parts),
            any(part.at_once for part in parts),
            frozenset[str]().union(*(part.files for part in parts)),
        )


def _kind(profile: Mapping[str, Any], where: str) -> Any:
    """A profile's type by its name in Batsim 3 and 4, where it has one."""
    kind = member(profile, "type", where)
    kind = _OTHER_NAMES.get(kind, kind) if isinstance(kind, str) else kind
    if kind == "ptask_homogeneous":
        return "parallel_homogeneous_total" if _spread(profile, where) else "parallel_homogeneous"
    return kind


def _spread(profile: Mapping[str, Any], where: str) -> bool:
    """Whether amounts of Batsim 5 are a job's totals, to be spread over its nodes; else they are each node's own."""
    strategy = profile.get("generation_strategy", "defined_amount_used_for_each_value")
    if not isinstance(strategy, str) or strategy not in _STRATEGIES:
        hint = nearest(str(strategy), list(_STRATEGIES))
        raise InputError(f"{where}: unknown 'generation_strategy' {brief(strategy)}; {hint}")
    return _STRATEGIES[strategy]


def _delay(profile: Mapping[str, Any], nodes: int, where: str) -> Work:
    return Work((Step(_positive(number(member(profile, "delay", where), where, "delay")), 0.0, 0.0),))


def _homogeneous(profile: Mapping[str, Any], nodes: int, where: str) -> Work:
    """`cpu` flop on each node, `com` bytes from each to each other."""
    flop = _positive(number(member(profile, "cpu", where), where, "cpu"))
    return Work((Step(0.0, flop, _bytes(profile.get("com", 0), where, "com")),))


def _homogeneous_total(profile: Mapping[str, Any], nodes: int, where: str) -> Work:
    """`cpu` flop split over the nodes, `com` bytes split over the pairs of them."""
    [step] = _homogeneous(profile, nodes, where).steps
    pairs = nodes * (nodes - 1)
    return Work((Step(0.0, step.flop / max(nodes, 1), step.communication / pairs if pairs > 0 else 0.0),))


def _parallel(profile: Mapping[str, Any], nodes: int, where: str) -> Work:
    """A vector of flop and a matrix of bytes: the slowest node's flop and the mean over pairs stand for all.

    The diagonal does not count: a node sends itself nothing over a network.
    """
    cpu, com = member(profile, "cpu", where), profile.get("com", [])
    if not isinstance(cpu, list) or len(cpu) != nodes or not isinstance(com, list) or len(com) not in (0, nodes**2):
        raise InputError(
            f"{where}: for a job of {counted(nodes, 'node')} 'cpu' must list {nodes} and 'com' {nodes**2} numbers"
        )
    flop = [_positive(number(value, where, f"cpu[{k}]")) for k, value in enumerate(cpu)]
    sent = [_bytes(value, where, f"com[{k}]") for k, value in enumerate(com)]
    between = [value for k, value in enumerate(sent) if k % (nodes + 1)] or [0.0]
    uneven = min(flop) != max(flop) or min(between) != max(between)
    mean = sum(between) / len(between) if uneven else between[0]
    return Work((Step(0.0, max(flop), mean),), uneven=uneven)


def _on_storage_5(profile: Mapping[str, Any], nodes: int, where: str) -> Work:
    return _on_storage(profile, 1 if _spread(profile, where) else nodes, where)


def _on_storage(profile: Mapping[str, Any], times: int, where: str) -> Work:
    """Between the nodes and a storage, file system or burst buffer. Amounts count so many times, once for each node.

    So says Batsim's code; its tutorial on modelling splits one amount over the nodes, which no version does by default.
    """
    keys = ("bytes_to_read", "bytes_to_write")
    if not any(key in profile for key in keys):
        raise InputError(f"{where}: has neither 'bytes_to_read' nor 'bytes_to_write'; add one or both")
    amounts = [_total(_bytes(profile.get(key, 0), where, key), times) for key in keys]
    key = "storage" if "storage" in profile else "host"  # Batsim reads either
    name = _storage_name(profile.get(key, FILE_SYSTEM), where, key)
    kinds = ("fetch", "checkpoint") if is_buffer(name) else ("read", "write")
    steps = tuple(_move(kind, amount) for kind, amount in zip(kinds, amounts, strict=True) if amount > 0)
    files = frozenset[str]() if is_buffer(name) else frozenset([name])
    return Work(steps, phased=True, at_once=len(steps) > 1, files=files)


def _staging(profile: Mapping[str, Any], nodes: int, where: str) -> Work:
    """Between two storages, one of which must be the burst buffer: a machine here has one file system."""
    amount = _bytes(member(profile, "nb_bytes", where), where, "nb_bytes")
    source, target = (_storage_name(member(profile, key, where), where, key) for key in ("from", "to"))
    if is_buffer(source) == is_buffer(target):
        which, mend = "neither is a burst buffer by its name", "name the burst buffer 'burst_buffer'"
        if is_buffer(source):
            which, mend = "both are burst buffers by their names", f"name the file system {FILE_SYSTEM!r}"
        raise InputError(
            f"{where}: stages data from {brief(source)} to {brief(target)}, and {which}; data is staged between file "
            f"system and burst buffer only: {mend}, or take the profile out"
        )
    kind, files = ("stage_in", source) if is_buffer(target) else ("stage_out", target)
    beside = profile.get(BESIDE, False)
    if not isinstance(beside, bool) or (beside and kind == "stage_in"):
        raise InputError(
            f"{where}: {BESIDE!r} is {brief(beside)}; write true or false, true only from the burst buffer to the file "
            "system"
        )
    kind = "drain" if beside else kind
    return Work((_move(kind, amount),) if amount > 0 else (), phased=True, files=frozenset([files]))


def _move(kind: str, amount: float) -> Step:
    return Step(0.0, 0.0, 0.0, kind, amount)


def _total(each: float, times: int) -> float:
    """`each` so many times. Whole bytes that were divided by nodes come back whole, in spite of rounding."""
    total = each * times
    near = round(total) if math.isfinite(total) else 0
    return float(near) if math.isclose(total, near, rel_tol=4e-16) else total


def _storage_name(value: Any, where: str, key: str) -> str:
    name = text(value, where, key)
    if not name.strip():
        raise InputError(f"{where}: {key!r} is {brief(name)}; name a storage, such as {FILE_SYSTEM!r}")
    return name


def is_buffer(name: str) -> bool:
    """Whether a storage of this name is a burst buffer."""
    return _BUFFER.search(name.lower()) is not None


def _positive(value: float) -> float:
    """Work below zero is no work: Batsim files mark jobs that never ran so."""
    return max(value, 0.0)


def _bytes(value: Any, where: str, key: str) -> float:
    amount = number(value, where, key)
    if amount < 0:
        raise InputError(f"{where}: {key!r} is {amount:g}; bytes cannot be negative")
    return amount


_OTHER_NAMES = {
    "ptask": "parallel",  # Batsim 5, at first
    "sequential_composition": "composed",
    "ptask_data_staging_between_storages": "data_staging",
    "DelayProfile": "delay",  # Batsim 5, since
    "ParallelTaskProfile": "parallel",
    "ParallelTaskHomogeneousProfile": "ptask_homogeneous",
    "SequentialCompositionProfile": "composed",
    "ParallelTaskOnStorageHomogeneousProfile": "ptask_on_storage_homogeneous",
    "ParallelTaskDataStagingBetweenStoragesProfile": "data_staging",
    "msg_par": "parallel",  # before Batsim 3
    "msg_par_hg": "parallel_homogeneous",
    "msg_par_hg_tot": "parallel_homogeneous_total",
    "msg_par_hg_pfs": "parallel_homogeneous_pfs",
}

_STRATEGIES = {
    "defined_amount_used_for_each_value": False,
    "defined_amount_spread_uniformly": True,
    "DefinedAmountsUsedForEachValue": False,
    "DefinedAmountsSpreadUniformly": True,
}
"""Whether a `generation_strategy` of Batsim 5 spreads amounts over the nodes."""

_KINDS: dict[str, Callable[[Mapping[str, Any], int, str], Work]] = {
    "delay": _delay,
    "parallel": _parallel,
    "parallel_homogeneous": _homogeneous,
    "parallel_homogeneous_total": _homogeneous_total,
    "parallel_homogeneous_pfs": _on_storage,
    "ptask_on_storage_homogeneous": _on_storage_5,
    "data_staging": _staging,
}
