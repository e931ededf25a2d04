"""Slow storage: a file system behind one link that all jobs share, a stream each. Policies may prefer a faster tier."""

from typing import ClassVar, Literal

from forebay.core.units import format_rate
from forebay.platforms._fields import Rate
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies._base import BaseTopology
from forebay.platforms.wires import Door, Surroundings, Wire

DESCRIPTION = "slow storage without end, on which every job can run; beside it there are fast tiers"


class Tier(BaseTier):
    """Bandwidth in bytes/s between it and all nodes, for both ways together."""

    kind: Literal["slow"] = "slow"
    files: ClassVar[bool] = True
    by_choice: ClassVar[bool] = True
    bandwidth: Rate

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return f"slow storage at {format_rate(self.bandwidth)}"

    def links(self, topology: BaseTopology) -> dict[str, float]:
        """One for both ways."""
        return {self.name: self.bandwidth}

    def door(self) -> Door:
        """Its link, past all ports."""
        wire = Wire({self.name: 1.0}, whole=True)
        return Door(wire, wire, through_ports=False)

    def with_nodes(self, around: Surroundings, inwards: bool, site: int, servers: list[int]) -> Wire:
        """Its link, wherever the node is."""
        return self.door().into
