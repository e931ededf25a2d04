"""Predicted run times for any policy whose kernel has a twin for them: `class Mine(Predicting, SjfBb)`."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from forebay.errors import InputError
from forebay.policies._base import Policy, lay, one_of

LIKE = ("user", "request", "shape")
"""The same user; and the same walltime; and as many nodes."""


class Param(IntEnum):
    """What the kernel reads behind the policy's own numbers, by place."""

    LIKE = 0
    WEIGHT = 1
    ENDS = 2  # whether running jobs, too, are expected to end as predicted


N_INTEGERS = 6  # the last rows of a policy's integers: keys (three), counts, jobs followed, and how far it has come
N_FLOATS = 2  # the last rows of its floats: every job's first prediction and its present one


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
        one_of(self, like=LIKE, ends=("walltime", "predicted"))

    def params(self) -> np.ndarray:
        """The row of the policy itself, then what predictions need."""
        own = lay(Param, like=LIKE.index(self.like), weight=self.weight, ends=self.ends == "predicted")
        return np.append(super().params(), own)

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Behind the policy's own rows: who took how long last, and every job's predictions. Keys fill half a table."""
        (rows, _), _ = super().memory(n_jobs, n_resources)
        columns = 2 * n_jobs + 2
        return (rows + N_INTEGERS, columns), (self.window + N_FLOATS, columns)

    def __init_subclass__(cls) -> None:
        """The kernel is the twin of the one of the policy behind."""
        super().__init_subclass__()
        cls.compiled = "predicted." + super().compiled.rpartition(".")[2]
