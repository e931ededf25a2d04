"""A burst buffer in every node: a device of its own that no other node reaches. Nodes may be of two kinds."""

import math
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from forebay._support.text import counted
from forebay.core.units import INT64_MAX, format_bytes, format_rate
from forebay.platforms._fields import Bytes, Count, Rate
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.wires import Surroundings, Wire, joined

DESCRIPTION = "a burst buffer in every node, for the job that holds the node"


class Tier(BaseTier):
    """Capacity in bytes and bandwidth in bytes/s each way, both of one node; None where the device never limits.

    Instead of `bandwidth` it may have `read` and `write`: what reads and what writes get at most. At the same time they
    share the larger of the two.

    The `large_nodes` nodes with the highest ids may have `large` bytes instead.
    """

    kind: Literal["node_local"] = "node_local"
    capacity: Bytes | None = None
    bandwidth: Rate | None = None
    large: Bytes | None = None
    large_nodes: Count | None = Field(default=None, validate_default=True)
    read: Rate | None = None
    write: Rate | None = Field(default=None, validate_default=True)

    told_if_set: ClassVar[tuple[str, ...]] = ("read", "write")

    @field_validator("large")
    @classmethod
    def _larger(cls, large: int | None, info: ValidationInfo) -> int | None:
        small = info.data.get("capacity", 0)
        if large is not None and small is None:
            raise ValueError("given without capacity; write beside it what the other nodes have")
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

    @field_validator("write")
    @classmethod
    def _both_ways(cls, write: float | None, info: ValidationInfo) -> float | None:
        if not {"bandwidth", "read"} <= info.data.keys():
            return write  # one of them is wrong in itself, and has been reported
        if (write is None) != (info.data["read"] is None):
            raise ValueError("write read and write, or neither of them")
        if write is not None and info.data["bandwidth"] is not None:
            raise ValueError("given beside bandwidth; write either bandwidth, or both read and write")
        return write

    @property
    def per_node(self) -> int | None:
        """The capacity; where nodes are of two kinds, that of the smaller one."""
        return self.capacity

    @property
    def most(self) -> int | None:
        """What the largest node has."""
        return self.large or self.capacity

    def on(self, nodes: int) -> int | None:
        """What so many nodes have together."""
        if self.capacity is None:
            return None
        return nodes * self.capacity + ((self.large or 0) - self.capacity) * (self.large_nodes or 0)

    @property
    def text(self) -> str:
        """The tier in a few words."""
        room = "burst buffer" if self.capacity is None else f"{format_bytes(self.capacity)} of burst buffer"
        rest = "" if self.large is None else f", {format_bytes(self.large)} in {self.large_nodes} of them"
        speed = f" at {format_rate(self.bandwidth)}" if self.bandwidth else ""
        if self.read and self.write:
            speed = f", read {format_rate(self.read)}, write {format_rate(self.write)}"
        return f"{room} in every node{rest}{speed}"

    @property
    def buffers(self) -> int:
        """Where no shared burst buffer does."""
        return 2

    @property
    def several_streams(self) -> str | None:
        """Every node's device has its own bandwidth."""
        slow = self.bandwidth is not None or self.read is not None
        return "has a bandwidth in every node; leave it out" if slow else None

    @property
    def may_run_on(self) -> bool:
        """Never: it is part of the nodes."""
        return False

    @property
    def device(self) -> float:
        """Bytes/s of reads and writes together."""
        return math.inf if self.read is None or self.write is None else max(self.read, self.write)

    @property
    def two_kinds(self) -> bool:
        """Whether some nodes have a larger device."""
        return self.large is not None

    def _device(self, inwards: bool) -> Wire:
        rate = (self.write if inwards else self.read) or self.bandwidth
        return Wire({}, math.inf if rate is None else rate)

    def with_nodes(self, around: Surroundings, inwards: bool, site: int, servers: list[int]) -> Wire:
        """The node's own device."""
        return self._device(inwards)

    def with_files(self, around: Surroundings, inwards: bool, servers: list[int]) -> Wire:
        """The device behind the node's port."""
        files = around.files.out if inwards else around.files.into
        return around.bounded(joined(files, self._device(inwards), around.own_link), around.files.parts)

    def check(self, nodes: int, topology: BaseTopology) -> None:
        """Raise ValueError where all nodes together have more than can be counted, or nodes are not of two kinds."""
        if self.large_nodes is not None and self.large_nodes >= nodes:
            raise ValueError(
                f"{self.name} has {self.large_nodes} large nodes of {nodes}, which leaves no small ones; "
                f"write large_nodes = {max(nodes - 1, 1)} or fewer, or the larger capacity alone"
            )
        if nodes * (self.most or 0) > INT64_MAX:
            raise ValueError(
                f"{self.name} of {counted(nodes, 'node')} is too large to count; its capacity is that of ONE node"
            )
