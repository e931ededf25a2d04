"""The parameters of plans that choose a tier of storage for each job."""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from forebay.errors import InputError
from forebay.policies._base import lay
from forebay.policies._families import tiers


class Param(IntEnum):
    """What the kernel reads behind the numbers of tier-choosing policies, by place."""

    ALPHA = len(tiers.Param)
    MOVES = ALPHA + 1
    PLANNED = MOVES + 1


@dataclass(frozen=True)
class TierPlanning(tiers.Tiering):
    """As tier-choosing policies, but the order is searched for, and every waiting job has its place ahead."""

    alpha: float = 1.0  # turnarounds count to this power: the higher, the less one job may pay for the others
    moves: int = 100  # orders tried a decision
    planned: int = 40  # jobs, from the front of the queue, whose order is searched for; those behind keep theirs

    compiled: ClassVar[str] = "plan.tier_plan.plan_tiers"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        super().__post_init__()
        if not 0 < self.alpha <= 30:
            raise InputError(f"alpha is {self.alpha:g}; give a number above 0 and up to 30")
        for name in ("moves", "planned"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} is {getattr(self, name)}; give a count from 0 up")

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        return np.append(super().params(), lay(Param, alpha=self.alpha, moves=self.moves, planned=self.planned))
