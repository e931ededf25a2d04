"""A crossbar: every node reaches every other node and server over its own port alone."""

import math
from typing import ClassVar, Literal

from forebay.core.units import format_bytes, format_rate
from forebay.platforms._fields import Bytes, Latency, Rate, format_latency
from forebay.platforms.topologies._base import BaseTopology

DESCRIPTION = "a crossbar: nodes share no links, only their own ports limit them"


class Topology(BaseTopology):
    """Bandwidth of a node's port, each way, in bytes/s; None where the network never limits. All nodes are at one site.

    Servers have no such port: a pool is one server unless it says otherwise, and its bandwidth is the tier's to state.

    `latency`, in seconds, is that of a node's link: two nodes are two of them apart. A stream has at most `window`
    bytes under way, so it gets no more than window / (2 x the latency of its route).
    """

    kind: Literal["flat"] = "flat"
    bandwidth: Rate | None = None
    latency: Latency | None = None
    window: Bytes | None = None

    told_if_set: ClassVar[tuple[str, ...]] = ("latency", "window")

    @property
    def text(self) -> str:
        """The network in a few words."""
        parts = ["flat"]
        parts += [f"{format_rate(self.bandwidth)} a node"] if self.bandwidth else []
        parts += [f"{format_latency(self.latency)} a link"] if self.latency else []
        parts += [f"windows of {format_bytes(self.window)}"] if self.window else []
        return ", ".join(parts)

    @property
    def port(self) -> float:
        """Bytes/s of a compute node's own port, each way; inf where it never limits."""
        return math.inf if self.bandwidth is None else self.bandwidth

    @property
    def hop(self) -> float:
        """Seconds that a compute node's own link delays what crosses it."""
        return self.latency or 0.0

    def bound(self, latency: float) -> float:
        """Bytes/s that one stream gets at most over a route of that latency; inf where it never limits."""
        return self.window / (2 * latency) if self.window is not None and latency > 0 else math.inf
