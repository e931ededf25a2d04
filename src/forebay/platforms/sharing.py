"""Nodes that jobs share: what schedulers count of them besides cores, and what does not go with them."""

from collections.abc import Sequence

from forebay.platforms.classes import NodeClass
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology

CORES, MEMORY, GPUS = "cores", "memory", "gpus"


def gpus_of(one: NodeClass) -> str:
    """The resource that counts the GPUs of a class, by their type."""
    return f"{GPUS}_{one.gpu}" if one.gpu else GPUS


def inside_of(classes: Sequence[NodeClass]) -> dict[str, int]:
    """Name and capacity of what is counted inside nodes, beside their cores: memory, then GPUs by type."""
    found: dict[str, int] = {}
    if any(one.memory is not None for one in classes):
        found[MEMORY] = sum(one.nodes * (one.memory or 0) for one in classes)
    for one in classes:
        if one.gpus:
            found[gpus_of(one)] = found.get(gpus_of(one), 0) + one.nodes * one.gpus
    return found


def check_topology(topology: BaseTopology) -> None:
    """Raise ValueError for a network that has no meaning where nodes are shared."""
    if topology.kind != "flat":
        raise ValueError(
            f"nodes are shared, but {topology.kind} has links inside, which count by nodes; make it flat, or write "
            "sharing = false"
        )


def check_tiers(classes: Sequence[NodeClass], tiers: Sequence[BaseTier]) -> None:
    """Raise ValueError for storage that has no meaning yet where nodes are shared."""
    local = [tier for tier in tiers if tier.per_node is not None]
    for tier in tiers:
        if tier.name in (CORES, *inside_of(classes)):
            raise ValueError(f"{tier.name} is what shared nodes have inside; give the tier another name")
        if tier.chunked:
            why = f"{tier.name} lies in chunks, one a node, and parts of nodes have none; make it pooled"
        elif tier.per_node is not None and tier is not local[0]:
            why = f"{tier.name} is in nodes, as {local[0].name} is, and of one alone jobs can have parts; leave one out"
        elif tier.by_choice:
            why = f"{tier.name} is for policies to choose, who then count whole nodes; make it a shared_bb"
        else:
            continue
        raise ValueError(f"nodes are shared, but {why}, or write sharing = false")
