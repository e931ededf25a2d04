"""Predicted run times for any policy whose kernel has a twin for them: `class Mine(Predicting, SjfBb)`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.errors import InputError, nearest
from forebay.policies._base import Policy

LIKE = ("user", "request", "shape")
"""The same user; and the same walltime; and as many nodes."""


@dataclass(frozen=True)
class Predicting(Policy):
    """A policy, put before its base, that takes run times as the last ones of the same user's jobs predict them."""

    like: str = (
        "shape"  # which jobs of a user are alike: all ("user"), of one walltime ("request"), and nodes ("shape")
    )
    window: int = 8  # how many of the last ones count
    weight: float = 1.0  # as how many of them the walltime counts
    ends: str = (
        "walltime"  # when running jobs are expected to end: by their "walltime", or as "predicted" and corrected
    )

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        parent: Any = super()
        parent.__post_init__()
        if self.window < 1:
            raise InputError(f"window is {self.window}; give a count from 1 up")
        if not 0 <= self.weight < float("inf"):
            raise InputError(f"weight is {self.weight:g}; give a number from 0 up")
        for name, known in (("like", LIKE), ("ends", ("walltime", "predicted"))):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}: {nearest(getattr(self, name), known)}")

    def params(self) -> np.ndarray:
        """The row of the policy itself, then what predictions need."""
        return np.append(super().params(), [LIKE.index(self.like), self.weight, self.ends == "predicted"])

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Behind the policy's own rows: who took how long last, and every job's predictions. Keys fill half a table."""
        from forebay.policies._predicted import N_FLOATS, N_INTEGERS

        (rows, _), _ = super().memory(n_jobs, n_resources)
        columns = 2 * n_jobs + 2
        return (rows + N_INTEGERS, columns), (self.window + N_FLOATS, columns)

    def kernel(self) -> Any:
        """The twin of the policy's kernel."""
        from forebay.policies._predicted import PREDICTED

        return PREDICTED[super().kernel()]
