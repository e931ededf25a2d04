"""The parameters of policies that balance I/O intensity, by place."""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from forebay.core.codes import EXACT, KNOWN
from forebay.errors import InputError
from forebay.policies._base import Policy, lay, one_of


class Param(IntEnum):
    """What the kernel reads, by place."""

    ALPHA = 0
    CLUSTER = 1  # whether the workload's intensity is per node of the machine
    ADAPTIVE = 2
    FITTING = 3  # whether the best of those is taken that fit


def check_alpha(alpha: float) -> None:
    """Refuse what is no share."""
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha is {alpha:g}; give a number from 0 (order of arrival) to 1 (intensity alone)")


def intensity_params(alpha: float, cluster: bool = False, adaptive: bool = False, fitting: bool = False) -> np.ndarray:
    """The row of numbers that the kernel reads."""
    return lay(Param, alpha=alpha, cluster=cluster, adaptive=adaptive, fitting=fitting)


@dataclass(frozen=True)
class Intensity(Policy):
    """Jobs by a mix of their place in the queue and of how near they bring the running jobs to the workload's mean."""

    compiled: ClassVar[str] = "intensity.balance"
    resizes: ClassVar[bool] = True
    needs_files: ClassVar[bool] = True
    adaptive: ClassVar[bool] = False

    alpha: float = 0.4  # how much I/O intensity counts against order of arrival, from 0 to 1
    workload: str = "mean"  # the workload's intensity: "mean" over the nodes asked for, or per node of the "cluster"
    candidates: str = "all"  # among which the best is looked for: "all" that wait, or those "fitting" now
    known: str = EXACT  # of I/O: what jobs do, "exact", what users say, "stated", or "learned" from earlier jobs

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        check_alpha(self.alpha)
        one_of(self, known=KNOWN, workload=("mean", "cluster"), candidates=("all", "fitting"))

    @property
    def needs_times(self) -> bool:
        """Intensities are shares of times."""
        return True

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        return intensity_params(self.alpha, self.workload == "cluster", self.adaptive, self.candidates == "fitting")
