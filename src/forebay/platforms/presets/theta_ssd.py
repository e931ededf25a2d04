"""The machine of the case study with local SSDs in Fan et al., "Scheduling Beyond CPUs for HPC" (2019): Theta.

Half of the nodes have an SSD of 128 GB, half one of 256 GB; a burst buffer is shared beside. Its size is ours.
"""

from forebay.platforms._fields import Bytes, Capacity, Count
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, shared_bb

DESCRIPTION = "4,392 nodes with SSDs, half of 128 GB and half of 256 GB, and a shared buffer: after Fan et al. 2019"


def make(
    nodes: Count = 4392,
    burst_buffer: Capacity = 300 * 10**12,
    ssd: Bytes = 128 * 10**9,
    large: Bytes = 256 * 10**9,
    large_nodes: Count = 2196,
) -> Platform:
    """`ssd` is what a node has; `large` what the `large_nodes` with the highest ids have."""
    devices = node_local.Tier(name="ssd", capacity=ssd, large=large, large_nodes=large_nodes)
    return Platform(
        name="theta-ssd", nodes=nodes, tiers=(shared_bb.Tier(name="burst_buffer", capacity=burst_buffer), devices)
    )
