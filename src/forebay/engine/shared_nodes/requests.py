"""What jobs ask of the inside of nodes: so many equal parts, and what each of them takes.

A job that gives `nodes` is spread over so many different nodes, evenly. One that gives `tasks` alone is so many equal
parts that may lie together on nodes, each of them whole. One that gives neither has as few nodes as can hold it all.
"""

from dataclasses import dataclass

import numpy as np

from forebay.core.schemas import INSIDE
from forebay.platforms.classes import NodeClass
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

PLENTY = np.int64(1) << 60
"""What a node has of something that its class does not tell: more than anybody asks for."""

ANY, NONE_SUCH = -1, -2
"""Instead of a type of GPU, by its place: all will do; the machine has none of that name."""


@dataclass(frozen=True)
class Asked:
    """A row a job."""

    parts: np.ndarray  # int64: nodes where it is spread, else tasks; 0 of a job that does not say yet
    spread: np.ndarray  # bool: each part on a node of its own
    exclusive: np.ndarray  # bool: its nodes are its own, with all that is in them
    each: np.ndarray  # int64[job, cores memory gpus local]: of a part
    total: np.ndarray  # int64[job, cores memory gpus local]: as it was stated
    gpu: np.ndarray  # int64: a place among `Platform.gpu_types`, or ANY or NONE_SUCH


def column(workload: Workload, name: str, unknown: int = 0) -> np.ndarray:
    """A column that a job table may lack."""
    jobs = workload.jobs
    return jobs[name].to_numpy() if name in jobs.columns else np.full(len(jobs), unknown, np.int64)


def asked(workload: Workload, platform: Platform) -> Asked:
    """What the job table says, as parts."""
    # Local storage of nodes that are not shared goes with these, however much is asked: see `node_set_demands`.
    local = [column(workload, platform.local.name)] if platform.local else [np.zeros(len(workload), np.int64)]
    total = np.column_stack([column(workload, name) for name in INSIDE] + local).astype(np.int64)
    nodes, tasks, exclusive = column(workload, "nodes"), column(workload, "tasks"), column(workload, "exclusive", -1)
    cores = total[:, 0]
    spread = (nodes > 0) | (tasks == 0)
    parts = np.where(nodes > 0, nodes, tasks)
    each = -(-total // np.maximum(parts, 1)[:, None])
    each[:, 0] = np.maximum(each[:, 0], 1)  # who says nothing has one core of a node, or all
    alone = np.where(exclusive < 0, cores == 0, exclusive > 0) if platform.sharing else np.ones(len(nodes), bool)
    return Asked(parts, spread, alone, each, total, _types(workload, platform))


def _types(workload: Workload, platform: Platform) -> np.ndarray:
    """The type of GPU that each job names."""
    code, known = column(workload, "gpu", -1), platform.gpu_types
    names = workload.names.get("gpu", {})
    places = np.full(len(code), ANY, np.int64)
    for number in np.unique(code[code >= 0]).tolist():
        name = names.get(number, str(number))
        places[code == number] = known.index(name) if name in known else NONE_SUCH
    return places


def within(one: NodeClass, local: int = 0) -> np.ndarray:
    """What a node of a class has: cores, memory, GPUs, and so many bytes of local storage."""
    return np.array([one.cores, PLENTY if one.memory is None else one.memory, one.gpus, local], np.int64)


def within_atoms(platform: Platform) -> np.ndarray:
    """What a node of each atom has, where nodes are of classes; int64[atom, cores memory gpus local]."""
    return np.array([within(platform.classes[atom.cls], platform.local_in(atom)) for atom in platform.atoms])
