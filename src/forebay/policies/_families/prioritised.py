"""Backfilling whose queue is in the order of multifactor priorities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from forebay.policies._families.backfill import Backfill, with_index
from forebay.policies._families.multifactor import Weighted
from forebay.policies._orders import ALL

if TYPE_CHECKING:
    from forebay.core.tables import State


@dataclass(frozen=True)
class Prioritised(Weighted, Backfill):
    """As Backfill, but for the order of the queue."""

    compiled: ClassVar[str] = "multifactor.multifactor"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        super().__post_init__()
        self.check_weights()

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads: those of backfilling, then the weights."""
        return np.concatenate([super().params(), self.weights()])

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Usage and priorities."""
        return self.remembered(n_jobs)

    def memory_on(self, state: "State") -> tuple[tuple[int, int], tuple[int, int]]:
        """The same, and an index over the queue where one reservation is laid."""
        integers, floats = self.remembered(len(state.jobs))
        indexed = self.depth <= 1 and self.max_backfill == ALL
        return (with_index(integers, state) if indexed else integers), floats
