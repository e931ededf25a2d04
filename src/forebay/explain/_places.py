"""Where nodes are not all alike: what is free of those on which a job may run, and not of all.

Each set of nodes on which some jobs may run is a resource of its own, held by the jobs on its nodes; where jobs share
nodes, so are the cores, the memory and the GPUs in it. So a job that waits for a node of its partition lacks that node,
however many are idle elsewhere.
"""

from typing import NamedTuple

import numpy as np

from forebay.core.atoms import ATOM, set_apart
from forebay.core.kinds import LARGE
from forebay.explain._inside import ALONE, CORES, GPUS, MEMORY, PACKED, Inside, bounds_of, totals_of
from forebay.explain._where import Asks, Machine, Wheres, wheres_of
from forebay.results import Result


class Thing(NamedTuple):
    """A resource, as explanations name it."""

    what: str
    reason: str
    counts: bool = True  # whether its unit is a count, not bytes
    where: str = ""  # of which nodes: "words" or "bare" of the wait's; "" = no word of it

    def text(self, wait: int, where: Wheres) -> str:
        """What it is called for a wait."""
        place = {"words": where.words, "bare": where.bare}[self.where][wait] if self.where else ""
        return f"{self.what}{place if self.what == 'nodes' or not place else f' on nodes{place}'}"


class Places(NamedTuple):
    """Resources, followed by those of sets of nodes."""

    things: list[Thing]
    capacity: np.ndarray
    needs: np.ndarray  # int64[wait, resource]
    holds: np.ndarray  # HOLD
    where: Wheres


def is_shared(result: Result) -> bool:
    """Whether jobs share nodes."""
    return result.unit == "cores"


def reason_of_resources(result: Result) -> dict[str, str]:
    """What it is called when a resource is short, by its name."""
    facts = result.facts.get("platform")
    tiers = facts.get("tiers", []) if isinstance(facts, dict) else []
    kinds = {tier["name"]: tier.get("kind") for tier in tiers}

    def reason(name: str) -> str:
        kind = kinds.get(name.removesuffix(LARGE))
        shared = is_shared(result) and kind is None
        if name == result.unit or name.startswith(ATOM) or kind == "node_local" or shared:
            return "nodes"
        return "pool" if kind == "pool" else "burst_buffer"

    return {name: reason(name) for name in result.resources}


def counts_things(name: str, reasons: dict[str, str]) -> bool:
    """Whether the unit of a resource is a count, not bytes."""
    return name == "nodes" or name.startswith(ATOM) or name.endswith(LARGE) or reasons[name] == "pool"


def _things(result: Result) -> list[Thing]:
    reasons, found = reason_of_resources(result), []
    for name, reason in reasons.items():
        inside = is_shared(result) and reason == "nodes"
        if name.startswith(ATOM):
            found.append(Thing("nodes", reason, where="words"))
        elif inside and (name == "gpus" or name.startswith("gpus_")):
            found.append(Thing(_gpus(name.removeprefix("gpus").removeprefix("_")), reason))
        else:
            counts = counts_things(name, reasons) or (inside and name == "cores")
            found.append(Thing(name.replace("_", " "), reason, counts))
    return found


def _gpus(kind: str) -> str:
    return f"GPUs of type {kind}" if kind else "GPUs"


def with_places(
    result: Result, needs: np.ndarray, allowed: np.ndarray, holds: np.ndarray, row: np.ndarray, fails: bool
) -> Places:
    """The same run with a resource more for each set of atoms of which a wait is.

    `allowed` has the atoms of each wait, as bits, `row` its job's in the job table. Nodes that have failed are counted
    among all alone: where some do, waits are for these too.
    """
    names, things, needs = list(result.resources), _things(result), needs.copy()
    capacity = np.array(list(result.resources.values()), np.int64)
    first, n = set_apart(names), len(names)
    everywhere, extra = (1 << (n - first)) - 1, [needs]
    bits = allowed & everywhere
    asks = Asks(row, np.zeros((len(row), 3), np.int64))
    if n > first:
        asks = asks._replace(allowed=bits, atoms=np.repeat(np.arange(n - first), capacity[first:]))
    where = wheres_of(result, Machine(result), asks)
    for some in np.unique(bits[(bits != everywhere) & (needs[:, 0] > 0)]).tolist():
        columns = [first + a for a in range(n - first) if some >> a & 1]
        concerned = bits == some
        if len(columns) > 1:
            holds = np.concatenate([holds, _together(holds[np.isin(holds["resource"], columns)], len(things))])
            things.append(Thing("nodes", "nodes", where="words"))
            capacity = np.append(capacity, capacity[columns].sum())
            extra.append(np.where(concerned, needs[:, 0], 0)[:, None])
        if not fails and columns:
            needs[concerned, 0] = 0
    return Places(things, capacity, np.hstack(extra), holds[np.argsort(holds["first"], kind="stable")], where)


def with_inside(result: Result, needs: np.ndarray, inside: Inside, holds: np.ndarray, fails: bool) -> Places:
    """The same run, on shared nodes, with what is in each set of nodes on which a wait's job may run."""
    names, things, needs = list(result.resources), _things(result), needs.copy()
    capacity, extra, more = np.array(list(result.resources.values()), np.int64), [needs], [holds]
    alone = np.array([one in (ALONE, PACKED) for one in inside.placing], bool)
    within = totals_of(np.eye(len(names), dtype=np.int64), names) > 0  # which resources count a dimension
    for bound in bounds_of(inside):
        concerned, d = bound.need > 0, bound.dimension
        mine = bound.holds.copy()
        mine["resource"] = len(things)
        more.append(mine)
        what = ("cores", "memory", _gpus(_type_in(inside, concerned)))[d]
        things.append(Thing(what, "nodes", d != MEMORY, "bare" if d == GPUS else "words"))
        capacity = np.append(capacity, bound.capacity)
        extra.append(bound.need[:, None])
        if not (fails and d == CORES):
            needs[np.ix_(concerned, within[:, d])] = 0
    needs[np.ix_(alone, within.any(axis=1))] = 0
    together = np.concatenate(more)
    ordered = together[np.argsort(together["first"], kind="stable")]
    return Places(things, capacity, np.hstack(extra), ordered, inside.where)


def _type_in(inside: Inside, waits: np.ndarray) -> str:
    """The type of the GPUs of the nodes where some waits' jobs may run; empty where there are several."""
    nodes = inside.where.sets[np.unique(inside.where.of[waits])].any(axis=0)
    classes = [inside.machine.classes[k] for k in np.unique(inside.machine.cls[nodes])]
    types = {str(one.get("gpu", "")) for one in classes if one.get("gpus")}
    return types.pop() if len(types) == 1 else ""


def _together(holds: np.ndarray, resource: int) -> np.ndarray:
    """What each job has of several atoms at once, as one hold of another resource."""
    keys, at = np.unique(holds[["job", "first", "last"]], return_inverse=True)
    found = np.zeros(len(keys), holds.dtype)
    for name in ("job", "first", "last"):
        found[name] = keys[name]
    found["resource"] = resource
    found["amount"] = np.bincount(at, weights=holds["amount"], minlength=len(keys)).astype(np.int64)
    return found
