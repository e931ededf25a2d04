"""A shared burst buffer: one pool of fast storage, striped, so that any free bytes serve any job."""

from typing import Literal

from forebay.core.units import format_bytes, format_rate
from forebay.platforms._fields import Bytes, Rate
from forebay.platforms.tiers._base import BaseTier

DESCRIPTION = "a burst buffer that all nodes share, pooled: any free byte serves any job"


class Tier(BaseTier):
    """Capacity in bytes over all servers; bandwidth in bytes/s, for job models that move data."""

    kind: Literal["shared_bb"] = "shared_bb"
    capacity: Bytes
    bandwidth: Rate | None = None

    @property
    def size(self) -> int:
        """The capacity."""
        return self.capacity

    @property
    def text(self) -> str:
        """The tier in a few words."""
        speed = f" at {format_rate(self.bandwidth)}" if self.bandwidth else ""
        return f"{format_bytes(self.capacity)} of shared burst buffer{speed}"
