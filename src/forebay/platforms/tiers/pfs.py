"""A parallel file system: room without limit behind one aggregate link each way."""

from typing import Literal

from forebay.core.units import format_rate
from forebay.platforms._fields import Rate
from forebay.platforms.tiers._base import BaseTier

DESCRIPTION = "a parallel file system: unlimited room, one aggregate bandwidth each way"


class Tier(BaseTier):
    """Aggregate bandwidths in bytes/s, for job models that move data."""

    kind: Literal["pfs"] = "pfs"
    read: Rate
    write: Rate

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return f"parallel file system, read {format_rate(self.read)}, write {format_rate(self.write)}"
