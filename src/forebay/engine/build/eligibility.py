"""Where jobs may run: the atoms of nodes that a job's partitions, features and demands leave, as bits; and who may not.

A job in several partitions may have nodes of any of them that takes it. A partition takes no job that asks for more
time or nodes than it allows, and none at all while it is drained or inactive: see `partitions.build`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from forebay._support.text import counted
from forebay.core.inside import GPUS, LOCAL, MEMORY
from forebay.core.schemas import INSIDE
from forebay.core.units import format_bytes, format_seconds
from forebay.engine.partitions.build import starts_after, taken_by
from forebay.engine.shared_nodes.requests import ANY, NONE_SUCH, Asked, asked, column, within_atoms
from forebay.errors import InputError, brief, nearest
from forebay.platforms.partitions import Partition
from forebay.platforms.platform import Platform
from forebay.workload.names import called
from forebay.workload.workload import Workload

_ALL = -1


@dataclass
class Places:
    """A row a job: where it may run, or that it may not."""

    allowed: np.ndarray  # int64: atoms, as bits
    rejected: np.ndarray  # bool
    notes: list[str] = field(default_factory=list)  # why, by the first job of each kind
    taken: np.ndarray | None = None  # int64: partitions that take it, as bits; None where there are none
    away: np.ndarray | None = None  # bool: rejected for the states of its partitions
    never: np.ndarray | None = None  # bool: taken, but they will let no job start any more

    def reject(self, who: np.ndarray, ids: np.ndarray, why: Callable[[int], str]) -> None:
        """Jobs that may not run, unless they are rejected already; `why` of the first, by its row."""
        fresh = who & ~self.rejected
        if fresh.any():
            row = int(np.argmax(fresh))
            others = f" ({int(fresh.sum()):,} such jobs)" if fresh.sum() > 1 else ""
            self.notes.append(f"job {ids[row]} is rejected: it asks for {why(row)}{others}")
        self.rejected |= who


def eligible(workload: Workload, platform: Platform, asks: Asked | None = None) -> Places:
    """Where each job may run on this machine."""
    asks = asks or asked(workload, platform)
    places = Places(np.full(len(workload), _ALL, np.int64), np.zeros(len(workload), bool))
    if not platform.classes and not platform.partitions:
        return places
    ids = workload.jobs["id"].to_numpy()
    partitions, places.notes = partitions_of(workload, platform)
    taken = _taken(workload, platform, partitions, asks, places)
    fits = _fitting(workload, platform, asks, partitions, places)
    room = np.zeros(len(workload), np.int64)
    places.allowed[:] = 0
    for a, atom in enumerate(platform.atoms):
        here = fits[:, a] & ((taken & atom.partitions) != 0 if platform.partitions else True)
        places.allowed |= np.where(here, np.int64(1) << a, 0)
        room += np.where(here, atom.count * _parts_a_node(asks, platform, a), 0)
    few = asks.parts > room
    word = "node" if not platform.sharing else "part"
    places.reject(
        few & asks.spread,
        ids,
        lambda j: (
            f"{counted(int(asks.parts[j]), 'node')}, and {_machine(workload, platform, j)} has {room[j]:,} for it"
        ),
    )
    places.reject(
        few,
        ids,
        lambda j: (
            f"{counted(int(asks.parts[j]), 'task')}, and {_machine(workload, platform, j)} has room for "
            f"{counted(int(room[j]), word)} like these"
        ),
    )
    return places


def _parts_a_node(asks: Asked, platform: Platform, a: int) -> np.ndarray:
    """How many parts of each job an idle node of an atom holds."""
    if not platform.classes:
        return np.ones(len(asks.parts), np.int64)
    has = within_atoms(platform)[a]
    holds = np.where(asks.each > 0, has // np.maximum(asks.each, 1), has[0]).min(axis=1)
    fewer: np.ndarray = np.where(asks.spread, np.minimum(holds, 1), holds)
    return fewer


def partitions_of(workload: Workload, platform: Platform) -> tuple[np.ndarray, list[str]]:
    """The partitions that each job names, as bits, the default for one that names none; and a remark."""
    code = column(workload, "queue", -1)
    bits = np.zeros(len(code), np.int64)
    if not platform.partitions:
        return bits, []
    known = [one.name for one in platform.partitions]
    default = next((k for k, one in enumerate(platform.partitions) if one.default), None)
    numbers = np.unique(code).tolist()
    named = {n: called(workload.names, "queue", n).split(",") for n in numbers if n >= 0}
    # Numbers without names are those of another machine's queues, unless a partition is called so.
    bare = [n for n, words in named.items() if n not in workload.names.get("queue", {}) and words[0] not in known]
    for number in numbers:
        mine = code == number
        if number < 0 or number in bare:
            if default is None:
                job, what = (
                    workload.jobs["id"][int(np.argmax(mine))],
                    f"is in queue {number}" if number >= 0 else "names",
                )
                raise InputError(
                    f"{workload.name}: job {job} {what}{', which is' if number >= 0 else ''} no partition, and "
                    f"{platform.name} has no default one; write default = true in one of {', '.join(known)}"
                )
            bits[mine] = 1 << default
            continue
        for word in (word.strip() for word in named[number]):
            if word not in known:
                job = workload.jobs["id"][int(np.argmax(mine))]
                raise InputError(
                    f"{workload.name}: job {job} is in partition {brief(word)}, which {platform.name} has not; "
                    f"{nearest(word, known)} (or write [partitions.{word}], or leave its jobs out: --filter "
                    f"'queue!={','.join(named[number])}')"
                )
            bits[mine] |= 1 << known.index(word)
    if not bare:
        return bits, []
    assert default is not None
    who = counted(int(np.isin(code, bare).sum()), "job is", "jobs are")
    return bits, [f"{who} in queues that have no names: all go to the default partition, {known[default]}"]


def ranks_of(workload: Workload, platform: Platform) -> np.ndarray:
    """How many lower priority tiers partitions of this machine have than the highest of those that a job names."""
    tiers = sorted({one.priority_tier for one in platform.partitions})
    ranks = np.zeros(len(workload), np.int64)
    if len(tiers) > 1:
        bits, _ = partitions_of(workload, platform)
        for k, one in enumerate(platform.partitions):
            ranks = np.where(bits >> k & 1 == 1, np.maximum(ranks, tiers.index(one.priority_tier)), ranks)
    return ranks


def atoms_within(workload: Workload, platform: Platform) -> np.ndarray:
    """The atoms of the partitions that each job names, as bits; -1 where the machine has none."""
    if not platform.partitions:
        return np.full(len(workload), _ALL, np.int64)
    bits, _ = partitions_of(workload, platform)
    found = np.zeros(len(workload), np.int64)
    for a, atom in enumerate(platform.atoms):
        found |= np.where(bits & atom.partitions != 0, np.int64(1) << a, 0)
    return found


def _taken(workload: Workload, platform: Platform, partitions: np.ndarray, asks: Asked, places: Places) -> np.ndarray:
    """Of the partitions of each job those that take it."""
    walltime, ids = workload.jobs["walltime"].to_numpy(), workload.jobs["id"].to_numpy()
    nodes = np.where(asks.spread, asks.parts, 0)
    taken, refusals, shut = partitions.copy(), [], np.zeros(len(ids), bool)
    for k, one in enumerate(platform.partitions):
        member = partitions >> k & 1 == 1
        takes, state = taken_by(workload, one)
        shut |= member & ~takes
        closed = (~takes, lambda j, one=one, state=state: f"partition {one.name}, which is {state}")
        for over, why in (closed, *_refusals(one, walltime, nodes)):
            refusals.append((member & over, why))
            taken[member & over] &= ~(1 << k)
    for over, why in refusals:
        places.reject(over & (taken == 0), ids, why)
    places.away = shut & (taken == 0)
    opens = np.zeros(len(ids), np.int64)
    for k, one in enumerate(platform.partitions):
        opens |= np.where(starts_after(workload, one), taken & (1 << k), 0)
    places.never = (taken != 0) & (opens == 0)
    places.taken = np.where(places.never, taken, opens)
    return places.taken


def _refusals(one: Partition, walltime: np.ndarray, nodes: np.ndarray) -> list[tuple[np.ndarray, Callable[[int], str]]]:
    """Whom a partition does not take, and how that is said of one of them."""
    found: list[tuple[np.ndarray, Callable[[int], str]]] = []
    if (time := one.max_time) is not None:
        # Without a walltime the partition's own holds; see `defaults`.
        over = (walltime > time) & np.isfinite(walltime)
        most = format_seconds(time)
        found.append((over, lambda j: f"{format_seconds(float(walltime[j]))}, and partition {one.name} allows {most}"))
    if one.max_nodes is not None:
        limit = counted(one.max_nodes, "node")
        found.append(
            (
                nodes > one.max_nodes,
                lambda j: f"{counted(int(nodes[j]), 'node')}, and partition {one.name} allows {limit}",
            )
        )
    return found


def _fitting(workload: Workload, platform: Platform, asks: Asked, partitions: np.ndarray, places: Places) -> np.ndarray:
    """Atoms of which one node has what a part asks for; bool[job, atom]."""
    ids = workload.jobs["id"].to_numpy()
    if not platform.classes:
        return np.ones((len(asks.parts), len(platform.atoms)), bool)
    fits = _with_features(workload, platform, _classes_of(platform, partitions), places)
    of_type = np.array([platform.gpu_types.index(one.gpu) if one.gpus else NONE_SUCH - 1 for one in platform.classes])
    wanted = asks.gpu[:, None]
    typed = (wanted == ANY) | (asks.total[:, GPUS, None] == 0) | (wanted == of_type)
    places.reject(~(fits & typed).any(axis=1) & fits.any(axis=1), ids, lambda j: _no_such_gpu(workload, platform, j))
    fits = (fits & typed)[:, [atom.cls for atom in platform.atoms]]
    if platform.partitions:
        fits &= (partitions[:, None] & np.array([atom.partitions for atom in platform.atoms])) != 0
    has = within_atoms(platform)
    # One who gives no nodes and no tasks has as many nodes as its totals need.
    each = np.where((asks.parts > 0)[:, None], asks.each, np.minimum(asks.each, 1))
    for d, name in enumerate((*INSIDE, platform.local.name) if platform.local else INSIDE):
        enough = each[:, d : d + 1] <= has[:, d]
        most = np.where(fits, has[:, d], 0).max(axis=1)

        def why(j: int, name: str = name, d: int = d, most: np.ndarray = most) -> str:
            much, there = int(each[j, d]), int(most[j])
            in_bytes = d in (MEMORY, LOCAL)
            asks_for = f"{format_bytes(much)} of {name}" if in_bytes else _so_many(much, name)
            holds = format_bytes(there) if in_bytes else _so_many(there, name)
            a_part = "a node" if asks.spread[j] else "a task"
            return f"{asks_for} {a_part}, and {_machine(workload, platform, j)} has {holds} in a node at most"

        left: np.ndarray = fits & enough
        places.reject(np.asarray(~left.any(axis=1) & fits.any(axis=1)), ids, why)
        fits = left
    return fits


def _so_many(number: int, name: str) -> str:
    return "none" if number == 0 else counted(number, {"cores": "core", "gpus": "GPU"}[name])


def _classes_of(platform: Platform, partitions: np.ndarray) -> np.ndarray:
    """Classes with nodes in the partitions of each job; bool[job, class]."""
    found = np.zeros((len(partitions), len(platform.classes)), bool)
    for atom in platform.atoms:
        found[:, atom.cls] |= (partitions & atom.partitions) != 0 if platform.partitions else True
    return found


def _with_features(workload: Workload, platform: Platform, inside: np.ndarray, places: Places) -> np.ndarray:
    """Of the classes of each job those that have all features it asks for; a class has its own name as one."""
    code, ids = column(workload, "features", -1), workload.jobs["id"].to_numpy()
    found = inside.copy()
    has = [{one.name, *one.features} for one in platform.classes]
    known = set().union(*has)
    for number in np.unique(code[code >= 0]).tolist():
        words = called(workload.names, "features", number).split("&")
        mine = code == number
        found[mine] &= [set(words) <= one for one in has]
        strange = [word for word in words if word not in known]

        def why(j: int, words: list[str] = words, strange: list[str] = strange) -> str:
            if strange:
                hint = nearest(strange[0], known)
                return f"the feature {brief(strange[0])}, which no node of {platform.name} has; {hint}"
            where, together = _machine(workload, platform, j), " together" if len(words) > 1 else ""
            what = f"the feature{'s' if together else ''} {' and '.join(map(brief, words))}"
            return f"{what}, which no node of {where} has{together}"

        places.reject(mine & ~found.any(axis=1), ids, why)
    return found


def _no_such_gpu(workload: Workload, platform: Platform, j: int) -> str:
    number = int(column(workload, "gpu", -1)[j])
    name, known = called(workload.names, "gpu", number), [one for one in platform.gpu_types if one]
    there = nearest(name, known) if known else f"{platform.name} has no GPUs with a type"
    return f"GPUs of type {brief(name)}, and {_machine(workload, platform, j)} has none; {there}"


def _machine(workload: Workload, platform: Platform, j: int) -> str:
    """Where a job may run, in words."""
    if not platform.partitions:
        return platform.name
    number = int(column(workload, "queue", -1)[j])
    known = [one.name for one in platform.partitions]
    words = called(workload.names, "queue", number).split(",") if number >= 0 else []
    mine = [word for word in words if word in known] or [one.name for one in platform.partitions if one.default]
    return f"partition{'s' if len(mine) > 1 else ''} {' and '.join(mine)}"
