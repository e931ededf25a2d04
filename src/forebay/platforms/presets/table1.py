"""The machine of the worked example in Kopański and Rządca 2021, Table 1: 4 nodes and 10 TB of burst buffer."""

from forebay.platforms.platform import Platform
from forebay.platforms.tiers import shared_bb

DESCRIPTION = "4 nodes and a 10 TB burst buffer: the worked example of Kopański and Rządca 2021, Table 1"


def make() -> Platform:
    """The machine of Table 1."""
    return Platform(name="table1", nodes=4, tiers=(shared_bb.Tier(name="burst_buffer", capacity=10 * 10**12),))
