"""Where jobs may run, and what limits them to these nodes: constraint, partition, GPUs and size, in words."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.units import format_bytes
from forebay.platforms.partitions import ALL, ranges_of
from forebay.results import Result

PLENTY = 1 << 46
"""Bytes in a node if its class has no memory: more than any job asks for, and small enough to add up."""


class Asks(NamedTuple):
    """What some waits are for, a row each: of which job, and how much of one node each of its parts takes."""

    row: np.ndarray  # int64, of the job table; -1 = it is not there
    each: np.ndarray  # int64[wait, cores memory gpus]; 0 = nothing, or not known
    allowed: np.ndarray | None = None  # int64: the atoms where it may run, as bits; None = as the words say
    atoms: np.ndarray | None = None  # int64[node]: which atom it is of


class Wheres(NamedTuple):
    """A row a wait: which set of nodes, and how it is called; there is no word for all nodes."""

    of: np.ndarray  # int64
    sets: np.ndarray  # bool[set, node]
    words: list[str]
    bare: list[str]  # without a word of GPUs


class Machine:
    """What a run says about its nodes."""

    def __init__(self, result: Result):
        known = result.facts.get("platform")
        facts: dict[str, Any] = known if isinstance(known, dict) else {}
        self.classes: list[dict[str, Any]] = list(facts.get("classes", ()))
        self.nodes = int(facts.get("nodes", 0))
        counts = [one["nodes"] for one in self.classes]
        self.cls = np.repeat(np.arange(len(counts)), counts) if counts else np.zeros(self.nodes, np.int64)
        inside = [_inside(one) for one in self.classes] or [(0, 0, 0)]
        self.full = np.array(inside, np.int64)[self.cls]
        self.partitions = {one["name"]: (one, self._members(one)) for one in facts.get("partitions", ())}
        named = [one["name"] for one in facts.get("partitions", ()) if one.get("default")]
        self.default = named[0] if named else None

    def _members(self, partition: dict[str, Any]) -> np.ndarray:
        if partition["nodes"] == ALL:
            return np.ones(self.nodes, bool)
        mine = self.having(lambda one: one["name"] in partition["classes"])
        for first, last in ranges_of(partition["nodes"]) if partition["nodes"] else ():
            mine[first : last + 1] = True
        return mine

    def having(self, test: Any) -> np.ndarray:
        """Nodes of the classes that pass."""
        chosen: np.ndarray = np.array([bool(test(one)) for one in self.classes] or [False], bool)[self.cls]
        return chosen

    def named(self, queue: str | None, walltime: float) -> tuple[str, ...]:
        """The partitions that a job of a queue goes to: those it names that take it, or the default."""
        words = [word.strip() for word in (queue or "").split(",") if word.strip() in self.partitions]
        words = words or ([self.default] if self.default is not None else [])
        taken = [word for word in words if not walltime > (self.partitions[word][0].get("max_time") or np.inf)]
        return tuple(taken or words)


def _inside(one: dict[str, Any]) -> tuple[int, int, int]:
    return int(one["cores"]), PLENTY if one.get("memory") is None else int(one["memory"]), int(one.get("gpus", 0))


def wheres_of(result: Result, machine: Machine, asks: Asks) -> Wheres:
    """Where the jobs of some waits may run."""
    if not machine.nodes:
        blank = [""] * len(asks.row)
        return Wheres(np.zeros(len(asks.row), np.int64), np.zeros((1, 0), bool), blank, blank)
    features, queue, gpu = (_words_of(result, name, asks.row) for name in ("features", "queue", "gpu"))
    walltime = _column(result, "requested_time", asks.row)
    partitions = [machine.named(*both) for both in zip(queue, walltime, strict=True)]
    # What every node has narrows nothing, however much it is.
    least = machine.full.min(axis=0) if machine.classes else np.zeros(3, np.int64)
    each = np.where(asks.each > np.where(np.arange(3) < 2, least, 0), asks.each, 0)
    keys = list(zip(features, partitions, gpu, map(tuple, each.tolist()), strict=True))
    bits: list[int | None] = [None] * len(keys) if asks.allowed is None else asks.allowed.tolist()
    known: dict[Any, tuple[int, str, str]] = {}
    numbers: dict[bytes, int] = {np.ones(machine.nodes, bool).tobytes(): 0}
    for key in zip(keys, bits, strict=True):
        if key not in known:
            exact = None if key[1] is None or asks.atoms is None else key[1] >> asks.atoms & 1 == 1
            mine, words, bare = _narrowed(machine, key[0], exact)
            known[key] = (numbers.setdefault(mine.tobytes(), len(numbers)), words, bare)
    found = [known[key] for key in zip(keys, bits, strict=True)]
    sets = np.array([np.frombuffer(one, bool) for one in numbers])
    return Wheres(np.array([one[0] for one in found], np.int64), sets, [one[1] for one in found], [x[2] for x in found])


def _narrowed(machine: Machine, key: Any, exact: np.ndarray | None) -> tuple[np.ndarray, str, str]:
    """The nodes that are left, and by which words: each only if it leaves fewer than those before."""
    features, partitions, gpu, (cores, memory, gpus) = key
    mine, words, bare = np.ones(machine.nodes, bool), "", ""

    def narrow(nodes: np.ndarray, text: str, of_gpus: bool = False) -> None:
        nonlocal mine, words, bare
        if (mine & ~nodes).any():
            mine, words, bare = mine & nodes, words + text, bare + ("" if of_gpus else text)

    if features:
        some = features.split("&")
        line = f" with {' and '.join(some)} (--constraint={features})"
        narrow(machine.having(lambda one: set(some) <= {one["name"], *one.get("features", ())}), line)
    if partitions:
        members = np.any([machine.partitions[word][1] for word in partitions], axis=0)
        narrow(members, f" of partition{'s' if len(partitions) > 1 else ''} {' and '.join(partitions)}")
    if gpus or gpu:
        line = f" with GPUs{f' of type {gpu}' if gpu else ''}"
        narrow(machine.having(lambda one: one.get("gpus") and gpu in (None, one.get("gpu"))), line, True)
    if machine.classes:
        narrow(machine.full[:, 1] >= memory, f" with {format_bytes(memory)} or more")
        narrow(machine.full[:, 0] >= cores, f" with {counted(cores, 'core')} or more")
        narrow(machine.full[:, 2] >= gpus, f" with {counted(gpus, 'GPU')} or more", True)
    if exact is not None:
        if (exact != mine).any():
            names = [machine.classes[k]["name"] for k in np.unique(machine.cls[exact])] if machine.classes else []
            words = bare = f" of class{'es' if len(names) > 1 else ''} {' and '.join(names)}" if names else words
        mine = exact
    return mine, words, bare


def _words_of(result: Result, name: str, row: np.ndarray) -> Sequence[str | None]:
    """What each job has in a column of names; None where it has nothing."""
    column = f"{name}_name" if f"{name}_name" in result.jobs.columns else name
    if column not in result.jobs.columns or not result.jobs.height:
        return [None] * len(row)
    values = result.jobs[column].cast(pl.String)
    words = values.set(values == "-1", None).to_list()
    return [words[place] if place >= 0 else None for place in row.tolist()]


def _column(result: Result, name: str, row: np.ndarray) -> list[float]:
    values = result.jobs[name].cast(pl.Float64).fill_null(0).to_list()
    return [values[place] if place >= 0 else 0.0 for place in row.tolist()]
