"""The parameters that the Cerberus policies share. A policy of the family is a few numbers: see its own file."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.errors import InputError, nearest
from forebay.policies._base import Policy
from forebay.policies._orders import ALL

_QUEUES = ("in", "run", "out")


@dataclass(frozen=True)
class ThreeQueues(Policy):
    """Stage-in, run and stage-out queued and served separately."""

    service: str = "out/run/in"  # in which order queues are served
    knapsack: str = "none"  # queues that are served by knapsack, such as run/out; the others first come, first served
    stage_value: str = "volume"  # what a knapsack makes the most of in staging: "volume", or "jobs"
    run_value: str = "product"  # and in running: nodes x buffer, or that by the walltime squared, "by-time"
    considered: int = 10  # how many from the head of a queue a knapsack looks at
    alpha: float = 1.0  # and at most this part of the queue: one in alpha
    unit_nodes: int = 1  # nodes that count as one where demands are rounded up
    unit_bytes: int = 1  # and bytes
    method: str = "auto"  # "table" always rounds to units; "auto" only where no exact way is quick

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        for name in ("considered", "unit_nodes", "unit_bytes"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a count from 1 up")
        if not self.alpha >= 1:
            raise InputError(f"alpha is {self.alpha:g}; give a number from 1 up: one job in alpha is considered")
        for name, known in (
            ("stage_value", ("volume", "jobs")),
            ("run_value", ("product", "by-time")),
            ("method", ("auto", "table")),
        ):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}: {nearest(getattr(self, name), known)}")
        if sorted(self.service.split("/")) != sorted(_QUEUES):
            raise InputError(f"service is {self.service!r}; name each of in, run and out once, as out/run/in")
        for word in self._by_knapsack:
            if word not in _QUEUES or self._by_knapsack.count(word) > 1:
                raise InputError(f"knapsack is {self.knapsack!r}; name some of in, run and out, as run/out, or none")

    @property
    def _by_knapsack(self) -> list[str]:
        return [] if self.knapsack == "none" else self.knapsack.split("/")

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        row: list[float] = [_QUEUES.index(word) for word in self.service.split("/")]
        row += [word in self._by_knapsack for word in _QUEUES]
        row += [self.stage_value == "jobs", self.run_value == "by-time", min(self.considered, ALL), self.alpha]
        return np.array([*row, self.unit_nodes, self.unit_bytes, self.method == "table"], np.float64)

    def kernel(self) -> Any:
        """The one kernel of the family."""
        from forebay.policies._cerberus import cerberus

        return cerberus
