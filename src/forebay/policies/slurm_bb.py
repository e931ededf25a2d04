"""Slurm's way with burst buffers: space goes to the jobs that are expected to start first, as long as it lasts.

Start times are estimated on nodes alone. A job whose stage-in has not begun holds no reservation, neither of nodes nor
of buffer: one that needs much of it may starve behind a stream of small ones (Kopański & Rządca 2021, section 3). For
jobs of three legs: see job model three-legs. Jobs whose buffer comes with their nodes wait until both are free.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from forebay.errors import InputError
from forebay.policies._base import Policy, lay
from forebay.policies._families.slurm import Param
from forebay.policies._orders import ALL


@dataclass(frozen=True)
class SlurmBb(Policy):
    """Backfilling by estimated starts for jobs that have their buffer, buffers by estimated starts for the others."""

    compiled: ClassVar[str] = "slurm.burst_buffer.slurm_bb"

    max_planned: int = 500  # how many jobs are looked at in a decision, as Slurm's bf_max_job_test

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        if self.max_planned < 1:
            raise InputError(f"max_planned is {self.max_planned}; give a count from 1 up")

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        return lay(Param, max_planned=min(self.max_planned, ALL))
