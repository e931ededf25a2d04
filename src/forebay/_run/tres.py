"""What PriorityWeightTRES adds to the priority of each job: its part of the resources of its partition, weighted.

SchedMD, Multifactor Priority Plugin: TRES factors. All of it is known when a job is submitted, and never changes.
"""

from collections.abc import Mapping

import numpy as np

from forebay.engine.build.eligibility import partitions_of
from forebay.engine.shared_nodes.requests import column
from forebay.platforms.atoms import Atom
from forebay.platforms.classes import NodeClass
from forebay.platforms.platform import Platform
from forebay.workload import Workload
from forebay.workload.names import numbers


def by_resources(weights: Mapping[str, float], workload: Workload, platform: Platform) -> tuple[np.ndarray, list[str]]:
    """The sum over resources of weight x asked for / there in the partition, job by job; and what counts for nothing.

    A job of several partitions counts in the first of them, as the machine lists them.
    """
    bits, _ = partitions_of(workload, platform)
    first, added, notes = bits & -bits, np.zeros(len(workload)), list[str]()
    for name, weight in weights.items():
        if weight == 0:
            continue
        totals = {bit: _total(name, platform, bit) for bit in np.unique(first).tolist()}
        asked = _asked(name, workload, platform)
        if not any(totals.values()):
            notes.append(f"PriorityWeightTRES of {name} adds nothing: {platform.name} does not say how many it has")
        for bit, total in totals.items():
            mine = first == bit
            added[mine] += weight * asked[mine] / total if total else 0.0
    return added, notes


def _total(name: str, platform: Platform, bit: int) -> int:
    """What the nodes of a partition have; those of the machine for jobs of none."""
    inside = [atom for atom in platform.atoms if not bit or atom.partitions & bit]
    return sum(atom.count * _of_node(name, platform, atom) for atom in inside)


def _of_node(name: str, platform: Platform, atom: Atom) -> int:
    if name == "nodes" or not platform.classes:
        return int(name in ("nodes", "cores"))  # of a machine of nodes alone, each is its own core
    one: NodeClass = platform.classes[atom.cls]
    if name == "cores":
        return one.cores
    if name == "memory":
        return one.memory or 0
    return one.gpus if name in ("gpus", f"gpus_{one.gpu}") else 0


def _asked(name: str, workload: Workload, platform: Platform) -> np.ndarray:
    """What each job asks for in all; cores of one that does not say go by its nodes."""
    if name.startswith("gpus_"):
        mine = np.isin(column(workload, "gpu", -1), numbers(workload.names, "gpu", name.partition("_")[2]))
        return np.where(mine, column(workload, "gpus"), 0)
    asked = column(workload, name)
    if name != "cores":
        return asked
    a_node = _total("cores", platform, 0) / platform.nodes if platform.classes else 1.0
    return np.where((asked > 0) & bool(platform.classes), asked, column(workload, "nodes") * a_node)
