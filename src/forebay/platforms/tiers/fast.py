"""A fast tier of storage: little room, a link to the nodes and one to the slow tier, each shared, a stream a job."""

from typing import Literal

from forebay.core.units import format_bytes, format_rate
from forebay.platforms._fields import BytesOrZero, Rate
from forebay.platforms.tiers._base import BaseTier

DESCRIPTION = "fast storage of limited room, which jobs may use instead of the slow tier; data is staged between them"


class Tier(BaseTier):
    """Capacity in bytes; bandwidths in bytes/s, for both ways together: to all nodes, and to the slow tier (`stage`).

    Without any capacity it is as if it were not there.
    """

    kind: Literal["fast"] = "fast"
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
