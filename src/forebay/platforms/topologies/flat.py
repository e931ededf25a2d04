"""A crossbar: every node reaches every other node and server over its own port alone."""

import math
from typing import Literal

from forebay.core.units import format_rate
from forebay.platforms._fields import Rate
from forebay.platforms.topologies._base import BaseTopology

DESCRIPTION = "a crossbar: nodes share no links, only their own ports limit them"


class Topology(BaseTopology):
    """Bandwidth of a node's port, each way, in bytes/s; None where the network never limits. All nodes are at one site.

    Servers have no such port: a pool is one server unless it says otherwise, and its bandwidth is the tier's to state.
    """

    kind: Literal["flat"] = "flat"
    bandwidth: Rate | None = None

    @property
    def text(self) -> str:
        """The network in a few words."""
        return f"flat, {format_rate(self.bandwidth)} a node" if self.bandwidth else "flat"

    @property
    def port(self) -> float:
        """Bytes/s of a compute node's own port, each way; inf where it never limits."""
        return math.inf if self.bandwidth is None else self.bandwidth
