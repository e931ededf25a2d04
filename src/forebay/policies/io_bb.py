"""EASY backfilling with reservations of nodes and burst buffer, in the order that io-intensity would take jobs.

The order of ADMIRE's D3.3 (2023), section 4.2, around Algorithm 1 of Kopański & Rządca (2021).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from forebay.core.codes import EXACT, KNOWN
from forebay.errors import InputError
from forebay.policies._base import one_of
from forebay.policies._families.backfill import Backfill
from forebay.policies._families.intensity import check_alpha, intensity_params


@dataclass(frozen=True)
class IoBb(Backfill):
    """One reservation, for the waiting job that ranks first by place in the queue and I/O intensity."""

    compiled: ClassVar[str] = "intensity.balanced_backfill"
    needs_files: ClassVar[bool] = True

    alpha: float = 0.4  # how much I/O intensity counts against order of arrival, from 0 to 1
    known: str = EXACT  # of I/O: what jobs do, "exact", what users say, "stated", or "learned" from earlier jobs

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        super().__post_init__()
        check_alpha(self.alpha)
        one_of(self, known=KNOWN)
        if self.order != "arrival" or self.descending:
            raise InputError("order and descending are not for io-bb, whose order alpha sets; leave them out")

    @property
    def needs_times(self) -> bool:
        """Intensities are shares of times."""
        return True

    def params(self) -> np.ndarray:
        """What backfilling reads, and behind it what intensities need."""
        return np.concatenate([super().params(), intensity_params(self.alpha)])
