"""Atoms: the finest sets of nodes that the engine has to tell apart, as ranges of ids.

Nodes of one atom are of one class, in the same partitions and reservations, so that a job may run on all of them or on
none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from forebay._support.text import counted
from forebay.core.atoms import ATOM
from forebay.platforms.classes import NodeClass
from forebay.platforms.partitions import ALL, Partition, ranges_of

MAX_ATOMS = 62
"""Where a job may run is bits of one number."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A run of nodes that are alike to every job."""

    first: int  # node
    count: int
    cls: int  # the class, by its place
    partitions: int  # bits, by their places


def members(partition: Partition, classes: Sequence[NodeClass], nodes: int) -> list[tuple[int, int]]:
    """First and last node of each stretch of a partition's nodes."""
    if partition.nodes == ALL:
        return [(0, nodes - 1)]
    first = np.cumsum([0, *(one.nodes for one in classes)])
    places = {one.name: k for k, one in enumerate(classes)}
    own = [(int(first[places[name]]), int(first[places[name] + 1]) - 1) for name in partition.classes]
    own += ranges_of(partition.nodes) if partition.nodes else []
    return own


def nodes_of(partition: Partition, classes: Sequence[NodeClass], nodes: int) -> int:
    """How many nodes a partition has; one in several of its ranges counts once."""
    return sum(atom.count for atom in atoms_of(classes, [partition], nodes) if atom.partitions)


def atoms_of(
    classes: Sequence[NodeClass], partitions: Sequence[Partition], nodes: int, cuts: Sequence[int] = ()
) -> tuple[Atom, ...]:
    """All atoms of a machine, in the order of their nodes, also divided at the nodes `cuts`.

    Without classes all nodes are of one, and without partitions in none.
    """
    ends = np.cumsum([one.nodes for one in classes]) if classes else np.array([nodes])
    stretches = [members(one, classes, nodes) for one in partitions]
    edges = {0, nodes, *ends.tolist(), *cuts}
    edges |= {edge for some in stretches for first, last in some for edge in (first, last + 1)}
    atoms: list[Atom] = []
    for first, end in pairwise(sorted(edges)):
        inside = (any(low <= first <= high for low, high in some) for some in stretches)
        bits = sum(1 << k for k, member in enumerate(inside) if member)
        cls = int(np.searchsorted(ends, first, side="right"))
        before = atoms[-1] if atoms else None
        if before is not None and (before.cls, before.partitions) == (cls, bits) and first not in cuts:
            atoms[-1] = replace(before, count=before.count + end - first)
        else:
            atoms.append(Atom(first, end - first, cls, bits))
    if len(atoms) > MAX_ATOMS:
        raise ValueError(
            f"classes, partitions and reservations divide the nodes into {counted(len(atoms), 'set')}, more than the "
            f"{MAX_ATOMS} that can be distinguished; let them have whole classes, or longer ranges of nodes"
        )
    return tuple(atoms)


def sizes_of(atoms: Sequence[Atom], classes: Sequence[NodeClass]) -> dict[str, int]:
    """What the nodes of each atom are called where they are counted, and how many they are.

    By their class, with a number where it is divided: nodes.gpu, or nodes.cpu.1 and nodes.cpu.2.
    """
    sizes: dict[str, int] = {}
    for atom in atoms:
        parts = [one for one in atoms if one.cls == atom.cls]
        words = [classes[atom.cls].name] if classes else []
        words += [str(parts.index(atom) + 1)] if len(parts) > 1 else []
        sizes[ATOM + ".".join(words)] = atom.count
    return sizes
