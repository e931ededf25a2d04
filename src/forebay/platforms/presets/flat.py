"""The plainest machine: nodes, and if asked for a shared burst buffer and a parallel file system."""

from forebay.platforms._fields import Capacity, Count, Flops, Pools, Rate
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
) -> Platform:
    """A machine of that many nodes.

    `pfs` is the file system's bandwidth, the same for reads and writes; `port` a node's own, each way.
    `pools`, written 5000/200, are counted pools by the names of resource_1, resource_2, ...
    """
    tiers: list[BaseTier] = []
    if burst_buffer is not None:
        tiers.append(shared_bb.Tier(name="burst_buffer", capacity=burst_buffer))
    if pfs is not None:
        tiers.append(pfs_tier.Tier(name="pfs", read=pfs, write=pfs))
    if pools is not None:
        tiers += [pool.Tier(name=f"resource_{k}", capacity=units) for k, units in enumerate(pools, 1)]
    return Platform(name="flat", nodes=nodes, speed=speed, topology=Topology(bandwidth=port), tiers=tuple(tiers))
