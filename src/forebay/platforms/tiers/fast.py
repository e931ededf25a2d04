"""Fast storage: little room, a link to the nodes and one to the file system, each shared by all jobs, a stream each."""

from typing import ClassVar, Literal

from forebay.core.units import format_bytes, format_rate
from forebay.platforms._fields import BytesOrZero, Rate
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.wires import Surroundings, Wire

DESCRIPTION = "fast storage of limited room, which jobs may run on instead of the file system; data is staged between"


class Tier(BaseTier):
    """Capacity in bytes; bandwidths in bytes/s, for both ways together: to all nodes, and to the file system (`stage`).

    Without any capacity it is as if it were not there.
    """

    kind: Literal["fast"] = "fast"
    by_choice: ClassVar[bool] = True
    capacity: BytesOrZero
    bandwidth: Rate
    stage: Rate

    @property
    def size(self) -> int | None:
        """The capacity."""
        return self.capacity or None

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return (
            f"{format_bytes(self.capacity)} of fast storage at {format_rate(self.bandwidth)}, "
            f"staged at {format_rate(self.stage)}"
        )

    @property
    def buffers(self) -> int:
        """After those that were made for it."""
        return 1 if self.capacity else 0

    def links(self, topology: BaseTopology) -> dict[str, float]:
        """One to the nodes, one to the file system."""
        return {self.name: self.bandwidth, f"{self.name} staging": self.stage}

    def with_nodes(self, around: Surroundings, inwards: bool, site: int, servers: list[int]) -> Wire:
        """Its link to the nodes."""
        return Wire({self.name: 1.0}, whole=True)

    def with_files(self, around: Surroundings, inwards: bool, servers: list[int]) -> Wire:
        """Its link for staging alone: the bandwidth is given for both ends together."""
        return Wire({f"{self.name} staging": 1.0}, whole=True)
