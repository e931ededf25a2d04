"""Batsim's profiles: what a job does, as a sequence of steps. https://batsim.readthedocs.io/en/stable/input-workload.html"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from forebay.errors import InputError, brief, listed, nearest
from forebay.workload.formats._json_values import member, number, whole

MAX_STEPS = 100_000  # of one job: a `repeat` with a slip of the finger must not eat the memory

MAX_ALL_STEPS = 10_000_000  # of all jobs of a file: some 3 GB

MAX_DEPTH = 50  # of composed profiles in one another


class Step(NamedTuple):
    """One phase of computing, on every node of the job."""

    seconds: float
    flop: float  # of each node
    communication: float  # bytes from each node to each other


class Work(NamedTuple):
    """What a profile asks of each node of a job."""

    steps: tuple[Step, ...]
    bb: int | None  # bytes of burst buffer a node; None where not stated
    composed: bool = False
    uneven: bool = False  # nodes differ, and a Step cannot say so


class Profiles:
    """The profiles of a file, understood when a job first asks for them."""

    def __init__(self, table: Mapping[str, Any], path: Path) -> None:
        self._table = table
        self._path = path
        self._known: dict[tuple[str, int], Work] = {}

    def work(self, name: str, nodes: int, user: str) -> Work:
        """What `name` means for a job of so many nodes; `user` is who asks and in which file, for messages."""
        return self._work(name, nodes, user, ())

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
            raise InputError(f"{where}: unknown type {brief(kind)}; {nearest(str(kind), [*_KINDS, 'composed'])}")
        step, uneven = _KINDS[kind](profile, nodes, where)
        return Work((step,), bb, uneven=uneven)

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
        return Work(steps, max(stated, default=None), True, any(part.uneven for part in parts))


def _kind(profile: Mapping[str, Any], where: str) -> Any:
    """A profile's type by its name in Batsim 3 and 4."""
    kind = member(profile, "type", where)
    if kind == "ptask_homogeneous":
        strategy = profile.get("generation_strategy", "defined_amount_used_for_each_value")
        if not isinstance(strategy, str) or strategy not in _STRATEGIES:
            hint = nearest(str(strategy), list(_STRATEGIES))
            raise InputError(f"{where}: unknown 'generation_strategy' {brief(strategy)}; {hint}")
        return _STRATEGIES[strategy]
    return _OTHER_NAMES.get(kind, kind) if isinstance(kind, str) else kind


def _delay(profile: Mapping[str, Any], nodes: int, where: str) -> tuple[Step, bool]:
    return Step(_positive(number(member(profile, "delay", where), where, "delay")), 0.0, 0.0), False


def _homogeneous(profile: Mapping[str, Any], nodes: int, where: str) -> tuple[Step, bool]:
    """`cpu` flop on each node, `com` bytes from each to each other."""
    flop = _positive(number(member(profile, "cpu", where), where, "cpu"))
    return Step(0.0, flop, _communication(profile.get("com", 0), where, "com")), False


def _homogeneous_total(profile: Mapping[str, Any], nodes: int, where: str) -> tuple[Step, bool]:
    """`cpu` flop split over the nodes, `com` bytes split over the pairs of them."""
    step, _ = _homogeneous(profile, nodes, where)
    pairs = nodes * (nodes - 1)
    return Step(0.0, step.flop / max(nodes, 1), step.communication / pairs if pairs > 0 else 0.0), False


def _parallel(profile: Mapping[str, Any], nodes: int, where: str) -> tuple[Step, bool]:
    """A vector of flop and a matrix of bytes: the slowest node's flop and the mean over pairs stand for all.

    The diagonal does not count: a node sends itself nothing over a network.
    """
    cpu, com = member(profile, "cpu", where), profile.get("com", [])
    if not isinstance(cpu, list) or len(cpu) != nodes or not isinstance(com, list) or len(com) not in (0, nodes**2):
        raise InputError(f"{where}: for a job of {nodes} nodes 'cpu' must list {nodes} and 'com' {nodes**2} numbers")
    flop = [_positive(number(value, where, f"cpu[{k}]")) for k, value in enumerate(cpu)]
    sent = [_communication(value, where, f"com[{k}]") for k, value in enumerate(com)]
    between = [value for k, value in enumerate(sent) if k % (nodes + 1)] or [0.0]
    uneven = min(flop) != max(flop) or min(between) != max(between)
    mean = sum(between) / len(between) if uneven else between[0]
    return Step(0.0, max(flop), mean), uneven


def _positive(value: float) -> float:
    """Work below zero is no work: Batsim files mark jobs that never ran so."""
    return max(value, 0.0)


def _communication(value: Any, where: str, key: str) -> float:
    amount = number(value, where, key)
    if amount < 0:
        raise InputError(f"{where}: {key!r} is {amount:g}; bytes cannot be negative")
    return amount


_OTHER_NAMES = {
    "ptask": "parallel",  # Batsim 5
    "sequential_composition": "composed",
    "msg_par": "parallel",  # before Batsim 3
    "msg_par_hg": "parallel_homogeneous",
    "msg_par_hg_tot": "parallel_homogeneous_total",
}

_STRATEGIES = {
    "defined_amount_used_for_each_value": "parallel_homogeneous",
    "defined_amount_spread_uniformly": "parallel_homogeneous_total",
}
"""What `generation_strategy` of Batsim 5's `ptask_homogeneous` means."""

_KINDS: dict[str, Callable[[Mapping[str, Any], int, str], tuple[Step, bool]]] = {
    "delay": _delay,
    "parallel": _parallel,
    "parallel_homogeneous": _homogeneous,
    "parallel_homogeneous_total": _homogeneous_total,
}
