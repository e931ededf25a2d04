"""What the presets of the 96-node Dragonfly have in common."""

from forebay.platforms._fields import Capacity, Rate
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs as pfs_tier
from forebay.platforms.tiers import shared_bb
from forebay.platforms.topologies import dragonfly


def make(
    name: str,
    as_published: bool,
    burst_buffer: Capacity,
    placement: shared_bb.Placement,
    pfs: Rate,
    bandwidth: Rate,
) -> Platform:
    """3 groups of 4 chassis of 3 routers of 3 slots, the first slot of every chassis a storage server.

    As published: SimGrid's routes, servers searched in Batsim's order, a file system whose traffic crosses no port.
    """
    network = dragonfly.Topology(
        groups=3,
        chassis=4,
        routers=3,
        ports=3,
        storage=1,
        bandwidth=bandwidth,
        routing="simgrid" if as_published else "minimal",
        far_order="name" if as_published else "number",
    )
    buffer = shared_bb.Tier(name="burst_buffer", capacity=burst_buffer, placement=placement, servers=12)
    files = pfs_tier.Tier(name="pfs", bandwidth=pfs, through_ports=not as_published)
    return Platform(name=name, nodes=96, topology=network, tiers=(buffer, files))
