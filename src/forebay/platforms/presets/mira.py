"""Mira, the Blue Gene/Q of Argonne's Leadership Computing Facility, 2012 to 2020; partitions are not modelled.

Recalled, not checked against a source: an I/O node for 128 nodes, with two links of 2 GB/s, and a file system that
wrote 240 GB/s.
"""

from forebay.platforms._fields import Count, Rate
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs as pfs_tier
from forebay.platforms.topologies.flat import Topology

DESCRIPTION = "49,152 nodes and a file system of 240 GB/s: Mira, the Blue Gene/Q at Argonne"

_OF_AN_IO_NODE, _BEHIND_IT = 4e9, 128


def make(nodes: Count = 49152, pfs: Rate = 240e9) -> Platform:
    """`pfs` is the file system's bandwidth, for reads and as much for writes."""
    network = Topology(bandwidth=_OF_AN_IO_NODE / _BEHIND_IT)
    return Platform(name="mira", nodes=nodes, topology=network, tiers=(pfs_tier.Tier(name="pfs", read=pfs, write=pfs),))
