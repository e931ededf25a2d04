"""A burst buffer in every node: a device of its own that no other node reaches. Nodes may be of two kinds."""

import math
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from forebay._text import counted
from forebay.core.units import INT64_MAX, format_bytes, format_rate
from forebay.platforms._fields import Bytes, Count, Rate
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.wires import Surroundings, Wire, joined

DESCRIPTION = "a burst buffer in every node, for the job that holds the node"


class Tier(BaseTier):
    """Capacity in bytes and bandwidth in bytes/s each way, both of one node; None where the device never limits.

    The `large_nodes` nodes with the highest ids may have `large` bytes instead.
    """

    kind: Literal["node_local"] = "node_local"
    capacity: Bytes
    bandwidth: Rate | None = None
    large: Bytes | None = None
    large_nodes: Count | None = Field(default=None, validate_default=True)

    @field_validator("large")
    @classmethod
    def _larger(cls, large: int | None, info: ValidationInfo) -> int | None:
        small = info.data.get("capacity")
        if large is not None and small is not None and large <= small:
            raise ValueError(
                f"{format_bytes(large)} is not more than the capacity of {format_bytes(small)} that the other nodes "
                "have; write a larger size, or leave out large and large_nodes"
            )
        return large

    @field_validator("large_nodes")
    @classmethod
    def _both(cls, large_nodes: int | None, info: ValidationInfo) -> int | None:
        if "large" not in info.data:
            return large_nodes  # it is wrong in itself, and has been reported
        if large_nodes is None and info.data["large"] is not None:
            raise ValueError("missing; write beside large how many nodes have it, such as large_nodes = 100")
        if large_nodes is not None and info.data["large"] is None:
            raise ValueError('given without large; write beside it what such a node has, such as large = "256 GB"')
        return large_nodes

    @property
    def per_node(self) -> int:
        """The capacity; where nodes are of two kinds, that of the smaller one."""
        return self.capacity

    @property
    def most(self) -> int:
        """What the largest node has."""
        return self.large or self.capacity

    def on(self, nodes: int) -> int:
        """What so many nodes have together."""
        return nodes * self.capacity + (self.most - self.capacity) * (self.large_nodes or 0)

    @property
    def text(self) -> str:
        """The tier in a few words."""
        speed = f" at {format_rate(self.bandwidth)}" if self.bandwidth else ""
        if self.large is not None:
            rest = f"{format_bytes(self.large)} in {self.large_nodes} of them"
            return f"{format_bytes(self.capacity)} of burst buffer in every node, {rest}{speed}"
        return f"{format_bytes(self.capacity)} of burst buffer in every node{speed}"

    @property
    def buffers(self) -> int:
        """Where no shared burst buffer does."""
        return 2

    @property
    def several_streams(self) -> str | None:
        """Every node's device has its own bandwidth."""
        return "has a bandwidth in every node; leave it out" if self.bandwidth is not None else None

    @property
    def two_kinds(self) -> bool:
        """Whether some nodes have a larger device."""
        return self.large is not None

    def _device(self) -> Wire:
        return Wire({}, math.inf if self.bandwidth is None else self.bandwidth)

    def with_nodes(self, around: Surroundings, inwards: bool, site: int, servers: list[int]) -> Wire:
        """The node's own device."""
        return self._device()

    def with_files(self, around: Surroundings, inwards: bool, servers: list[int]) -> Wire:
        """The device behind the node's port."""
        files = around.files.out if inwards else around.files.into
        return joined(files, self._device(), Wire({}, around.port))

    def check(self, nodes: int, topology: BaseTopology) -> None:
        """Raise ValueError where all nodes together have more than can be counted, or nodes are not of two kinds."""
        if self.large_nodes is not None and self.large_nodes >= nodes:
            raise ValueError(
                f"{self.name} has {self.large_nodes} large nodes of {nodes}, which leaves no small ones; "
                f"write large_nodes = {max(nodes - 1, 1)} or fewer, or the larger capacity alone"
            )
        if nodes * self.most > INT64_MAX:
            raise ValueError(
                f"{self.name} of {counted(nodes, 'node')} is too large to count; its capacity is that of ONE node"
            )
