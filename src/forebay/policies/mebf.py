"""EASY backfilling by priority that takes nodes from running malleable jobs for waiting ones, and gives them idle ones.

Malleable EASY backfilling of ADMIRE's D3.3 (2023), section 4.1, Algorithm 1.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from forebay.errors import InputError
from forebay.policies._base import Policy, lay, one_of
from forebay.policies._families.backfill import index_on
from forebay.policies._families.mebf import RELATIVE, Param, priorities
from forebay.policies._orders import ORDERS

if TYPE_CHECKING:
    from forebay.core.tables import State


@dataclass(frozen=True)
class Mebf(Policy):
    """Waiting jobs start at the largest size up to the preferred one for which there are nodes; points do the rest."""

    compiled: ClassVar[str] = "malleable.mebf.mebf"
    resizes: ClassVar[bool] = True

    sharing_factor: float = 0.2  # the share of its nodes that a job gives back at a time
    gamma: float = 1.24  # how much longer it may take for that, as a ratio
    alpha: float = 10.0  # seconds that a change of size costs
    times: str = "walltime"  # how long jobs take: what users say, "walltime", or as "recorded" alone on the machine
    backfill: str = "preferred"  # the size at which jobs behind the first start: "preferred", or down to the "minimum"
    low_r: str = RELATIVE  # priorities of jobs that give nodes back, such as 0-3; or those below the waiting job's
    high_r: str = RELATIVE  # priorities of jobs that take idle nodes, such as 7-9; or those no lower than it
    guard: bool = False  # whether a job grows only if that delays no reservation

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        if not 0 < self.sharing_factor < 1:
            raise InputError(f"sharing_factor is {self.sharing_factor:g}; give a share between 0 and 1, such as 0.2")
        if not 1 <= self.gamma < math.inf:
            raise InputError(f"gamma is {self.gamma:g}; give a ratio from 1 up: 1.24 lets a job take 24 % longer")
        if not 0 <= self.alpha < math.inf:
            raise InputError(f"alpha is {self.alpha:g}; give the seconds that a change of size costs, from 0 up")
        one_of(self, times=("walltime", "recorded"), backfill=("preferred", "minimum"))
        priorities(self, "low_r"), priorities(self, "high_r")

    @property
    def needs_times(self) -> bool:
        """Only where they are asked for."""
        return self.times == "recorded"

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        low, high = priorities(self, "low_r"), priorities(self, "high_r")
        return lay(
            Param,
            sharing=self.sharing_factor,
            gamma=self.gamma,
            alpha=self.alpha,
            recorded=self.times == "recorded",
            guard=self.guard,
            at_least=self.backfill == "minimum",
            low_first=low[0],
            low_last=low[1],
            high_first=high[0],
            high_last=high[1],
        )

    def memory_on(self, state: "State") -> tuple[tuple[int, int], tuple[int, int]]:
        """An index over the queue, where no job can change its size."""
        rigid = len(state.flexible.row) == 0
        return index_on(state, ORDERS.index("priority")) if rigid else (0, 0), (0, 0)
