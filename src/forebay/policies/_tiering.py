"""The parameters that tier-choosing policies share. A policy of the family is a few of them: see its own file."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from forebay.errors import InputError, nearest
from forebay.policies._base import Policy


@dataclass(frozen=True)
class Tiering(Policy):
    """Jobs start in order on the tier of storage chosen for them; others pass them, shortest first."""

    slot: str = "walltime"  # how long room is kept for a job: its "walltime", or the "stay" expected on its tier

    needs_tiers: ClassVar[bool] = True
    choice: ClassVar[str] = (
        "shortest"  # how the tier is: by "shortest" turnaround, also if "planned", "drawn", or "fixed"
    )
    contention: ClassVar[bool] = False  # whether transfers are taken to share links with those of running jobs

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        if self.slot not in ("walltime", "stay"):
            raise InputError(f"slot is {self.slot!r}: {nearest(self.slot, ('walltime', 'stay'))}")

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        from forebay.policies._tiers import CHOICES, PARAMS

        choice = CHOICES.index(self.choice) if self.choice in CHOICES else 0
        values = {"choice": choice, "stay": self.slot == "stay", "left": self.contention}
        return np.array([values.get(name, getattr(self, name, 0)) for name in PARAMS], np.float64)

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The tier drawn for each job, counted from 1."""
        return (1, n_jobs), (0, 0)

    def kernel(self) -> Any:
        """The one kernel of the family."""
        from forebay.policies._tiers import choose_tiers

        return choose_tiers
