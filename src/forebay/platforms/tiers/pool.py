"""A pool of anything jobs hold and give back: licences, GPUs behind a switch, memory."""

from typing import ClassVar, Literal

from forebay.platforms._fields import Units
from forebay.platforms.tiers._base import BaseTier

DESCRIPTION = "a counted pool, such as licences; whole units, or bytes with a unit"


class Tier(BaseTier):
    """Capacity in whole units (bytes, where it was written as a size)."""

    kind: Literal["pool"] = "pool"
    in_bytes: ClassVar[bool] = False
    capacity: Units

    @property
    def size(self) -> int:
        """The capacity."""
        return self.capacity

    @property
    def text(self) -> str:
        """The tier in a few words."""
        return f"pool of {self.capacity}"
