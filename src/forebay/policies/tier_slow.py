"""Every job on slow storage; otherwise as SAS (2019), which it was compared with."""

from dataclasses import dataclass
from typing import ClassVar

from forebay.policies._families.tiers import Tiering


@dataclass(frozen=True)
class TierSlow(Tiering):
    """Nobody waits for fast storage."""

    choice: ClassVar[str] = "fixed"
    tier: ClassVar[int] = 0
