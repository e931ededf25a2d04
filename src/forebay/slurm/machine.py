"""A site's nodes as classes, and its partitions as ranges of ids: nodes alike stand together, the preferred ones first.

Slurm takes nodes of less Weight first, forebay those of earlier classes. Within a class, nodes of the same partitions
stand together, so that a partition is few ranges.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from forebay._support.text import counted
from forebay.errors import InputError, brief, listed
from forebay.platforms.names import ranges
from forebay.slurm.node import Node
from forebay.slurm.site import Partition, Site

MOST_SETS = 62
"""Sets of nodes, of one class and in the same partitions each, that a machine may have; and partitions."""

_UNFIT = re.compile(r"[^A-Za-z0-9_.+-]")


@dataclass(frozen=True)
class NodeClass:
    """Nodes that are alike, with their names by id."""

    name: str
    node: Node
    names: tuple[str, ...]


@dataclass(frozen=True)
class Machine:
    """Classes in order, and each partition with the classes that it has whole, or else the ids of its nodes."""

    classes: tuple[NodeClass, ...]
    partitions: tuple[tuple[Partition, tuple[str, ...], str], ...]
    notes: tuple[str, ...]


def make(site: Site, memory: bool) -> Machine:
    """The machine of a site; `memory` says whether memory is given out, or only there."""
    if len(site.partitions) > MOST_SETS:
        raise InputError(
            f"{site.files}: {len(site.partitions):,} partitions are more than the {MOST_SETS} of a machine; take those "
            "out that your jobs do not name"
        )
    called: dict[str, str] = {}
    for name in site.partitions:
        if called.setdefault(plain(name), name) != name:
            raise InputError(
                f"{site.files}: partitions {brief(called[plain(name)])} and {brief(name)} would both be called "
                f"{plain(name)} in a platform file; rename one"
            )
    nodes = site.nodes if memory else {name: replace(node, memory=None) for name, node in site.nodes.items()}
    member = _membership(site)
    nodes, notes = _fewer(nodes, member, site.files)
    order = {name: place for place, name in enumerate(nodes)}
    sets: dict[frozenset[str], int] = {}
    for name in nodes:
        sets.setdefault(member[name], len(sets))
    first: dict[Node, int] = {}
    for name, node in nodes.items():
        first.setdefault(node, order[name])
    ranked = sorted(nodes, key=lambda one: (nodes[one].weight, first[nodes[one]], sets[member[one]], order[one]))
    grouped = [(node, tuple(names)) for node, names in groupby(ranked, key=lambda one: nodes[one])]
    titles = _named(grouped)
    classes = tuple(NodeClass(name, node, names) for name, (node, names) in zip(titles, grouped, strict=True))
    ids = {name: place for place, name in enumerate(ranked)}
    return Machine(classes, tuple(_placed(one, classes, ids) for one in _one_default(site)), tuple(notes))


def _one_default(site: Site) -> list[Partition]:
    """Partitions, of which one at most is the default: in slurm.conf the last that says so."""
    last = next((one.name for one in reversed(site.partitions.values()) if one.default), "")
    return [replace(one, default=one.name == last) for one in site.partitions.values()]


def _membership(site: Site) -> dict[str, frozenset[str]]:
    found: dict[str, list[str]] = {name: [] for name in site.nodes}
    for partition in site.partitions.values():
        for name in partition.nodes:
            found[name].append(partition.name)
    # One object for all that are equal: a machine has few of them.
    shared: dict[frozenset[str], frozenset[str]] = {}
    return {name: shared.setdefault(key := frozenset(some), key) for name, some in found.items()}


Alike = Callable[[Sequence[Node]], Node]


def _fewer(nodes: dict[str, Node], member: dict[str, frozenset[str]], where: str) -> tuple[dict[str, Node], list[str]]:
    """Nodes distinguished by less where they fall into too many sets, and what was given up for it."""
    notes: list[str] = []
    steps: tuple[tuple[str, Callable[[Node], Node], Alike], ...] = (
        ("Weight", lambda one: replace(one, weight=1), lambda some: replace(some[0], weight=1)),
        (
            "memory (the least of those alike is taken)",
            lambda one: replace(one, memory=None),
            lambda some: replace(some[0], memory=min((one.memory for one in some if one.memory), default=None)),
        ),
        (
            "features (those that all alike have are kept)",
            lambda one: replace(one, features=()),
            lambda some: replace(some[0], features=_common(some)),
        ),
    )
    for what, key, join in steps:
        if _sets(nodes, member) <= MOST_SETS:
            break
        groups: dict[Node, list[Node]] = {}
        for node in dict.fromkeys(nodes.values()):
            groups.setdefault(key(node), []).append(node)
        joined = {node: join(some) for some in groups.values() for node in some}
        before = len(joined)
        nodes = {name: joined[node] for name, node in nodes.items()}
        if len(set(nodes.values())) < before:
            notes.append(f"nodes of {before} kinds are more than can be distinguished: not by their {what}")
    found = _sets(nodes, member)
    if found > MOST_SETS:
        raise InputError(
            f"{where}: nodes fall into {found:,} sets by what they have and by their partitions, more than the "
            f"{MOST_SETS} that can be distinguished; take partitions out that your jobs do not name"
        )
    return nodes, notes


def _sets(nodes: dict[str, Node], member: dict[str, frozenset[str]]) -> int:
    return len({(node, member[name]) for name, node in nodes.items()})


def _common(some: Sequence[Node]) -> tuple[str, ...]:
    return tuple(word for word in some[0].features if all(word in one.features for one in some))


def _named(grouped: Sequence[tuple[Node, tuple[str, ...]]]) -> list[str]:
    """A name for each class: what its nodes' names begin with; with the GPU, cores or a number where that is taken."""
    called: list[str] = []
    for node, names in grouped:
        stem = re.match(r"[A-Za-z][A-Za-z_-]*", names[0])
        base = stem[0].rstrip("_-") if stem else "node"
        tries: Iterable[str] = (base, f"{base}-{plain(node.gpu) or 'gpu'}" if node.gpus else f"{base}-{node.cores}")
        called.append(next(one for one in _endless(tries, base) if one not in called))
    return called


def _endless(tries: Iterable[str], base: str) -> Iterable[str]:
    yield from tries
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def plain(name: str) -> str:
    """A name as platform files can have it."""
    fit = _UNFIT.sub("_", name)
    return fit if not fit or fit[0].isalnum() or fit[0] == "_" else f"_{fit}"


def _placed(
    partition: Partition, classes: Sequence[NodeClass], ids: dict[str, int]
) -> tuple[Partition, tuple[str, ...], str]:
    """A partition with its whole classes; with ids instead where it has only a part of one."""
    own = set(partition.nodes)
    if len(own) == len(ids):
        return partition, (), "all"
    inside = [sum(name in own for name in one.names) for one in classes]
    if all(number in (0, len(one.names)) for number, one in zip(inside, classes, strict=True)):
        return partition, tuple(one.name for number, one in zip(inside, classes, strict=True) if number), ""
    return partition, (), ranges(sorted(ids[name] for name in own))


def renamed(names: Iterable[str]) -> list[str]:
    """A remark where names had to be changed."""
    changed = [f"{name} to {plain(name)}" for name in names if plain(name) != name]
    return [f"{counted(len(changed), 'name')} changed for platform files: {listed(changed)}"] if changed else []
