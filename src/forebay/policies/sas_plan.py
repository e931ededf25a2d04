"""Plans of all waiting jobs in which each runs on the tier of storage that ends it soonest (beyond SAS, 2019)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from forebay.errors import InputError
from forebay.policies._tiering import Tiering


@dataclass(frozen=True)
class SasPlan(Tiering):
    """As sas, but the order is searched for, and every waiting job has its place ahead."""

    alpha: float = 1.0  # turnarounds count to this power: the higher, the less one job may pay for the others
    moves: int = 100  # orders tried a decision
    planned: int = 40  # jobs, from the front of the queue, whose order is searched for; those behind keep theirs

    choice: ClassVar[str] = "planned"

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
        return np.array([*super().params(), self.alpha, self.moves, self.planned])

    def kernel(self) -> Any:
        """A kernel of its own."""
        from forebay.policies._tier_plan import plan_tiers

        return plan_tiers
