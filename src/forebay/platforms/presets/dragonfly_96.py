"""The simulated machine of Kopański and Rządca 2021, as they published it.

Their file system hangs where no port is crossed, and SimGrid's routes sometimes miss the target's chassis.
"""

from forebay.platforms._fields import Capacity, Rate
from forebay.platforms.platform import Platform
from forebay.platforms.presets import _dragonfly
from forebay.platforms.tiers.shared_bb import Placement

DESCRIPTION = "96 nodes and 12 buffer servers of 40 GB on a Dragonfly, as simulated by Kopański and Rządca 2021"


def make(
    burst_buffer: Capacity = 480 * 10**9, placement: Placement = "chunked", pfs: Rate = 5e9, bandwidth: Rate = 1.25e9
) -> Platform:
    """Capacity over all servers, rate of the file system for both ways together, and rate of a link each way."""
    return _dragonfly.make("dragonfly-96", True, burst_buffer, placement, pfs, bandwidth)
