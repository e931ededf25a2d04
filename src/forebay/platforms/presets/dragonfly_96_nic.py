"""The machine of Kopański and Rządca 2021 with their simulator's shortcuts put right.

Traffic of the file system crosses the port of the server or node, and every route ends at its target.
"""

from forebay.platforms._fields import Capacity, Rate
from forebay.platforms.platform import Platform
from forebay.platforms.presets import _dragonfly
from forebay.platforms.tiers.shared_bb import Placement

DESCRIPTION = "dragonfly-96 with minimal routes, and file system traffic through the ports of servers and nodes"


def make(
    burst_buffer: Capacity = 480 * 10**9, placement: Placement = "chunked", pfs: Rate = 5e9, bandwidth: Rate = 1.25e9
) -> Platform:
    """Capacity over all servers, rate of the file system for both ways together, and rate of a link each way."""
    return _dragonfly.make("dragonfly-96-nic", False, burst_buffer, placement, pfs, bandwidth)
