"""Every job that can use fast storage waits for it; otherwise as SAS (2019), which it was compared with."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from forebay._support.text import counted
from forebay.errors import InputError
from forebay.policies._families.tiers import Tiering

if TYPE_CHECKING:
    from forebay.core.tables import State


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

    def check(self, state: "State") -> None:
        """Refuse a tier that the machine does not have: every job would run on slow storage without a word."""
        n_fast = len(state.tiers.rates) - 1
        if n_fast >= 0 and self.tier > max(n_fast, 1):
            raise InputError(
                f"policy tier-fast: tier is {self.tier}, and this machine has {counted(n_fast, 'fast tier')}"
            )
