"""Where nodes are not all alike: what is free of those on which a job may run, and not of all.

Each set of atoms on which some jobs may run is a resource of its own, held by whoever has nodes of it. So a job that
waits for a node of its partition lacks that, however many are idle elsewhere.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from forebay.core.atoms import ATOM, set_apart

PLACE = "nodes of "
"""How the names of sets of atoms begin."""


class Places(NamedTuple):
    """Resources, with sets of atoms behind the last."""

    names: list[str]
    capacity: np.ndarray
    needs: np.ndarray  # int64[wait, resource]
    holds: np.ndarray  # HOLD


def with_places(
    resources: Mapping[str, int], needs: np.ndarray, allowed: np.ndarray, holds: np.ndarray, fails: bool
) -> Places:
    """The same run with a resource more for each set of atoms of which a wait is.

    `allowed` has the atoms of each wait, as bits. Nodes that have failed are counted among all alone: where some do,
    waits are for these too.
    """
    names, needs, capacity = list(resources), needs.copy(), np.array(list(resources.values()), np.int64)
    first = set_apart(names)
    everywhere, extra = (1 << (len(names) - first)) - 1, [needs]
    bits = allowed & everywhere
    for some in np.unique(bits[(bits != everywhere) & (needs[:, 0] > 0)]).tolist():
        columns = [first + a for a in range(len(resources) - first) if some >> a & 1]
        concerned = bits == some
        if len(columns) > 1:
            holds = np.concatenate([holds, _together(holds[np.isin(holds["resource"], columns)], len(names))])
            names.append(PLACE + " and ".join(names[column].removeprefix(ATOM) for column in columns))
            capacity = np.append(capacity, capacity[columns].sum())
            extra.append(np.where(concerned, needs[:, 0], 0)[:, None])
        if not fails and columns:
            needs[concerned, 0] = 0
    return Places(names, capacity, np.hstack(extra), holds[np.argsort(holds["first"], kind="stable")])


def _together(holds: np.ndarray, resource: int) -> np.ndarray:
    """What each job has of several atoms at once, as one hold of another resource."""
    keys, at = np.unique(holds[["job", "first", "last"]], return_inverse=True)
    found = np.zeros(len(keys), holds.dtype)
    for name in ("job", "first", "last"):
        found[name] = keys[name]
    found["resource"] = resource
    found["amount"] = np.bincount(at, weights=holds["amount"], minlength=len(keys)).astype(np.int64)
    return found
