"""Backfilling whose queue is in the order of multifactor priorities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from forebay.policies._families.backfill import Backfill, index_on
from forebay.policies._families.multifactor import Weighted
from forebay.policies._orders import ALL

if TYPE_CHECKING:
    from forebay.core.tables import State


@dataclass(frozen=True)
class Prioritised(Weighted, Backfill):
    """As Backfill, but for the order of the queue."""

    compiled: ClassVar[str] = "priority.multifactor.multifactor"

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
        """The same, and in the last rows an index over the queue where at most one reservation is laid."""
        from forebay.policies._kernels.queue.index import rows_of
        from forebay.policies._kernels.queue.keys import BY_NUMBER

        (n_rows, n_columns), floats = self.remembered(len(state.jobs))
        if self.depth <= 1 and self.max_backfill == ALL and self.backfill_order == "as-queued":
            n_rows += rows_of(*index_on(state, BY_NUMBER), n_columns)
        return (n_rows, n_columns), floats
