"""The slow tier of storage: room without end behind one link that all jobs share, a stream each."""

from typing import Literal

from forebay.core.units import format_rate
from forebay.platforms._fields import Rate
from forebay.platforms.tiers._base import BaseTier

DESCRIPTION = "slow storage without end, on which every job can run; beside it there are fast tiers"


class Tier(BaseTier):
    """Bandwidth in bytes/s between it and all nodes, for both ways together."""

    kind: Literal["slow"] = "slow"
    bandwidth: Rate

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return f"slow storage at {format_rate(self.bandwidth)}"
