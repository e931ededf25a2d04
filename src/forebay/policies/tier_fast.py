"""Every job that can use fast storage waits for it; otherwise as SAS (2019), which it was compared with."""

from dataclasses import dataclass
from typing import ClassVar

from forebay.errors import InputError
from forebay.policies._families.tiers import Tiering


@dataclass(frozen=True)
class TierFast(Tiering):
    """Jobs that cannot use the tier run on the slow one."""

    tier: int = 1  # the first fast tier, or another of several

    choice: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        """Refuse what is no fast tier."""
        super().__post_init__()
        if self.tier < 1:
            raise InputError(f"tier is {self.tier}; fast tiers are counted from 1")
