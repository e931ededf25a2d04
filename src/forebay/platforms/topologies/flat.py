"""A crossbar: every node reaches every other node and server over its own port alone."""

from typing import Literal

from forebay.core.units import format_rate
from forebay.platforms._fields import Rate
from forebay.platforms.topologies._base import BaseTopology

DESCRIPTION = "a crossbar: nodes share no links, only their own ports limit them"


class Topology(BaseTopology):
    """Bandwidth of a node's port in bytes/s; None where the network never limits."""

    kind: Literal["flat"] = "flat"
    bandwidth: Rate | None = None

    @property
    def text(self) -> str:
        """The network in a few words."""
        return f"flat, {format_rate(self.bandwidth)} a node" if self.bandwidth else "flat"
