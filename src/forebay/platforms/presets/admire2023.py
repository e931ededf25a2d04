"""The machine of the malleable experiments in ADMIRE's deliverable D3.3 (2023), sections 4.1 and 4.2.

The text gives each node's link 12.5 GB/s, so four nodes fill the file system's 48 GB/s. The authors simulated with
ElastiSim, and there a stream has a window of 4194304 bytes over a route of 50 + 500 us: it gets 3.813 GB/s at most,
and it takes thirteen. They do not say which links they gave latencies; with `bound` they are those of ElastiSim's
examples. `share` is ours: jobs that tell how much they move on average reserve it of a pool, so that policies weigh it.
"""

from forebay.platforms._fields import Count, Flag, Rate, Ratio
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs as pfs_tier
from forebay.platforms.tiers import pool
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies.flat import Topology

DESCRIPTION = "500 nodes of 100 Gflop/s on a crossbar and a file system of 48 GB/s: as simulated for ADMIRE 2023"

_LINK, _FILES, _WINDOW = 50e-6, 500e-6, 4 * 2**20


def make(nodes: Count = 500, pfs: Rate = 48e9, bound: Flag = False, share: Ratio | None = None) -> Platform:
    """`pfs` is the file system's bandwidth, for reads and as much for writes; `bound` has latencies and windows.

    With `share` there is a pool `bandwidth` of so much of the file system's: whole bytes/s, at least one.
    """
    network = Topology(bandwidth=12.5e9, latency=_LINK if bound else None, window=_WINDOW if bound else None)
    tiers: list[BaseTier] = [pfs_tier.Tier(name="pfs", read=pfs, write=pfs, latency=_FILES if bound else None)]
    if share is not None:
        tiers.append(pool.Tier(name="bandwidth", capacity=max(1, round(share * pfs))))
    return Platform(name="admire2023", nodes=nodes, speed=100e9, topology=network, tiers=tuple(tiers))
