"""The parameters that tier-choosing policies share. A policy of the family is a few of them: see its own file."""

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from forebay.policies._base import Policy, lay, one_of
from forebay.policies._families.backfill import Backfill

if TYPE_CHECKING:
    from forebay.core.tables import State

EASY = Backfill(backfill_order="walltime")
"""What is left of the policy where there is one tier."""
CHOICES = ("shortest", "drawn", "fixed")


class Param(IntEnum):
    """What the kernel reads, by place."""

    CHOICE = 0
    P = 1
    TIER = 2
    STAY = 3
    LEFT = 4


@dataclass(frozen=True)
class Tiering(Policy):
    """Jobs start in order on the tier of storage chosen for them; others pass them, shortest first."""

    slot: str = "walltime"  # how long room is kept for a job: its "walltime", or the "stay" expected on its tier

    compiled: ClassVar[str] = "tiers.choose_tiers"
    needs_tiers: ClassVar[bool] = True
    choice: ClassVar[str] = "shortest"  # how the tier is: by "shortest" turnaround, "drawn", or "fixed"
    contention: ClassVar[bool] = False  # whether transfers are taken to share links with those of running jobs

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        one_of(self, slot=("walltime", "stay"))

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        return lay(
            Param,
            choice=CHOICES.index(self.choice),
            p=getattr(self, "p", 0.0),
            tier=getattr(self, "tier", 0),
            stay=self.slot == "stay",
            left=self.contention,
        )

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The tier drawn for each job, counted from 1."""
        return (1, n_jobs), (0, 0)

    def memory_on(self, state: "State") -> tuple[tuple[int, int], tuple[int, int]]:
        """The same; where there are no tiers to choose from, what backfilling remembers."""
        return super().memory_on(state) if len(state.tiers.rates) > 0 else EASY.memory_on(state)
