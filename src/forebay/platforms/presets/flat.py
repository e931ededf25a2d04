"""The plainest machine: nodes, and if asked for what is inside them, a shared burst buffer, a parallel file system."""

from forebay.platforms._fields import Capacity, Count, Flag, Flops, Memory, Pools, Rate
from forebay.platforms.classes import Cores, Gpus, NodeClass
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs as pfs_tier
from forebay.platforms.tiers import pool, shared_bb
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies.flat import Topology

DESCRIPTION = "nodes on a crossbar; with burst_buffer=10TB a pooled burst buffer, with pfs=5GB/s a file system"


def make(
    nodes: Count,
    burst_buffer: Capacity | None = None,
    speed: Flops = 1e9,
    pfs: Rate | None = None,
    port: Rate | None = None,
    pools: Pools | None = None,
    cores: Cores | None = None,
    memory: Memory = None,
    gpus: Gpus = 0,
    sharing: Flag = False,
) -> Platform:
    """A machine of that many nodes, all of one class.

    `pfs` is the file system's bandwidth, the same for reads and writes; `port` a node's own, each way.
    `pools`, written 5000/200, are counted pools by the names of resource_1, resource_2, ...
    `cores`, `memory` and `gpus` are those of a node; with `sharing` jobs share nodes by them.
    """
    tiers: list[BaseTier] = []
    if burst_buffer is not None:
        tiers.append(shared_bb.Tier(name="burst_buffer", capacity=burst_buffer))
    if pfs is not None:
        tiers.append(pfs_tier.Tier(name="pfs", read=pfs, write=pfs))
    if pools is not None:
        tiers += [pool.Tier(name=f"resource_{k}", capacity=units) for k, units in enumerate(pools, 1)]
    classes: tuple[NodeClass, ...] = ()
    if cores is not None or memory is not None or gpus:
        classes = (NodeClass(name="node", nodes=nodes, cores=cores or 1, memory=memory, gpus=gpus),)
    network = Topology(bandwidth=port)
    return Platform(
        name="flat", nodes=nodes, classes=classes, sharing=sharing, speed=speed, topology=network, tiers=tuple(tiers)
    )
