"""A burst buffer in every node: a device of its own that no other node reaches."""

from typing import Literal

from forebay.core.units import INT64_MAX, format_bytes, format_rate
from forebay.platforms._fields import Bytes, Rate
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology

DESCRIPTION = "a burst buffer in every node, for the job that holds the node"


class Tier(BaseTier):
    """Capacity in bytes and bandwidth in bytes/s each way, both of one node; None where the device never limits."""

    kind: Literal["node_local"] = "node_local"
    capacity: Bytes
    bandwidth: Rate | None = None

    @property
    def per_node(self) -> int:
        """The capacity."""
        return self.capacity

    @property
    def text(self) -> str:
        """The tier in a few words."""
        speed = f" at {format_rate(self.bandwidth)}" if self.bandwidth else ""
        return f"{format_bytes(self.capacity)} of burst buffer in every node{speed}"

    def check(self, nodes: int, topology: BaseTopology) -> None:
        """Raise ValueError where all nodes together have more than can be counted."""
        if nodes * self.capacity > INT64_MAX:
            raise ValueError(f"{self.name} of {nodes} nodes is too large to count; its capacity is that of ONE node")
