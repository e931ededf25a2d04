"""Nodes that are not all alike, for policies in plain Python: see algorithms.nodes.atoms."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

ATOM = "nodes."
"""How the names of resources begin that count nodes of an atom."""


def set_apart(resources: Sequence[str]) -> int:
    """The first resource that counts nodes of an atom, by its place; the number of all where there is none."""
    return next((r for r, name in enumerate(resources) if name.startswith(ATOM)), len(resources))


class Atoms(NamedTuple):
    """First node and resource of each atom, ascending; -1 is a resource that is what others leave of all nodes."""

    first: list[int]
    column: list[int]

    def free(self, left: Sequence[int]) -> list[int]:
        """How many nodes of each atom are left."""
        own = [left[column] if column >= 0 else 0 for column in self.column]
        return [left[0] - sum(own) if column < 0 else some for column, some in zip(self.column, own, strict=True)]

    def share(self, left: Sequence[int], allowed: int, n_nodes: int) -> list[int]:
        """How many nodes of each atom a start takes: what is left, atom by atom; fewer in all where that is too few."""
        shares: list[int] = []
        for a, some in enumerate(self.free(left)):
            shares.append(min(max(some, 0), n_nodes - sum(shares)) if allowed >> a & 1 else 0)
        return shares

    def of(self, nodes: Iterable[int]) -> list[int]:
        """Some nodes, counted by atom."""
        at = np.searchsorted(self.first, list(nodes), side="right") - 1
        return [int(some) for some in np.bincount(np.maximum(at, 0), minlength=len(self.first))]

    def taken(self, needs: list[int], share: Sequence[int]) -> list[int]:
        """What a start takes of each resource, with its share of each atom."""
        needs = needs.copy()
        for column, some in zip(self.column, share, strict=True):
            if column >= 0:
                needs[column] = some
        return needs
