"""The parameters that the Cerberus policies share. A policy of the family is a few numbers: see its own file."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, ClassVar

import numpy as np

from forebay.core.units import parse_bytes
from forebay.errors import InputError
from forebay.policies._base import Policy, lay, one_of
from forebay.policies._families.predicted import LIKE
from forebay.policies._orders import ALL

_QUEUES = ("in", "run", "out")
CHOICES, COARSER = range(2)
"""What the kernel counts: knapsacks solved, and those of them in units coarser than asked for."""


class RunValue(IntEnum):
    """What a running job is worth."""

    PRODUCT = 0
    ONE = 1
    BY_TIME = 2
    BY_PREDICTION = 3


_RUN_VALUES = ("product", "one", "by-time", "by-prediction")


class Param(IntEnum):
    """What the kernel reads, by place."""

    FIRST = 0  # the queue that is served first
    SECOND = 1
    THIRD = 2
    BY_KNAPSACK_IN = 3
    BY_KNAPSACK_RUN = 4
    BY_KNAPSACK_OUT = 5
    COUNTS_JOBS = 6
    RUN_VALUE = 7
    CONSIDERED = 8
    ALPHA = 9
    UNIT_NODES = 10
    UNIT_BYTES = 11
    IN_UNITS = 12
    ROUNDS_DOWN = 13
    BANKER = 14
    LIKE = 15  # from here on, how runs are predicted
    WEIGHT = 16


class Row(IntEnum):
    """Rows of the integers that predictions keep, behind those of the counts."""

    KEYS = 1  # three
    COUNTS = 4
    FOLLOWED = 5  # jobs that run
    LEG = 6  # and the leg with which each does


N_INTEGERS = 7
FOLLOWS = 2  # in the row of counts: how many jobs are followed
N_FLOATS = 2  # behind the last run times: when each job began to run, and how long it is expected to


@dataclass(frozen=True)
class ThreeQueues(Policy):
    """Stage-in, run and stage-out queued and served separately."""

    compiled: ClassVar[str] = "cerberus.cerberus"

    service: str = "out/run/in"  # in which order queues are served
    knapsack: str = "none"  # queues that are served by knapsack, such as run/out; the others first come, first served
    stage_value: str = "volume"  # what a knapsack makes the most of in staging: "volume", or "jobs"
    run_value: str = (
        "product"  # in running: nodes x buffer; by the walltime squared: "by-time"; or "by-prediction"; "one"
    )
    considered: int = 10  # how many from the head of a queue a knapsack looks at
    alpha: float = 1.0  # and at most this part of the queue: one in alpha
    unit_nodes: int = 1  # nodes that count as one where demands are rounded up
    unit_bytes: Annotated[int, parse_bytes] = 1  # and bytes
    method: str = "auto"  # "table" always rounds to units; "auto" only where no exact way is quick
    round: str = "up"  # demands to units; "down" may choose more than fits, of which some then wait
    banker: bool = True  # whether a leg starts only if all jobs that have begun can still end
    like: str = "shape"  # whose runs predict one: those of its "user", of its "request" too, or of its "shape"
    last: int = 8  # how many of the last ones count
    weight: float = 1.0  # as how many of them the walltime counts

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        if self.run_value == "by-prediction":  # in a room of its own, which others need not compile
            object.__setattr__(self, "compiled", "cerberus_predicted.cerberus")
        if not 0 <= self.weight < np.inf:
            raise InputError(f"weight is {self.weight:g}; give a number from 0 up")
        one_of(self, like=LIKE)
        for name in ("considered", "unit_nodes", "unit_bytes", "last"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a count from 1 up")
        if not self.alpha >= 1:
            raise InputError(f"alpha is {self.alpha:g}; give a number from 1 up: one job in alpha is considered")
        one_of(
            self, stage_value=("volume", "jobs"), run_value=_RUN_VALUES, method=("auto", "table"), round=("up", "down")
        )
        if self.round == "down" and self.method != "table":
            raise InputError("round=down is how tables in units are made; write method=table with it, and units")
        if sorted(self.service.split("/")) != sorted(_QUEUES):
            raise InputError(f"service is {self.service!r}; name each of in, run and out once, as out/run/in")
        for word in self._by_knapsack:
            if word not in _QUEUES or self._by_knapsack.count(word) > 1:
                raise InputError(f"knapsack is {self.knapsack!r}; name some of in, run and out, as run/out, or none")

    @property
    def _by_knapsack(self) -> list[str]:
        return [] if self.knapsack == "none" else self.knapsack.split("/")

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Two counts; and where runs are predicted, who ran for how long."""
        if self.run_value != "by-prediction":
            return (1, 2), (1, 0)
        columns = 2 * n_jobs + 3  # keys fill half a table
        return (N_INTEGERS, columns), (self.last + N_FLOATS, columns)

    def remarks(self, memory: tuple[np.ndarray, np.ndarray]) -> list[str]:
        """Whether any knapsack was too large to be solved as it is."""
        choices, coarser = (int(count) for count in memory[0][0, :2])
        if not coarser:
            return []
        return [f"{coarser:,} of {choices:,} knapsacks were too large for exact amounts: solved in coarser units"]

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        first, second, third = (_QUEUES.index(word) for word in self.service.split("/"))
        return lay(
            Param,
            first=first,
            second=second,
            third=third,
            by_knapsack_in="in" in self._by_knapsack,
            by_knapsack_run="run" in self._by_knapsack,
            by_knapsack_out="out" in self._by_knapsack,
            counts_jobs=self.stage_value == "jobs",
            run_value=_RUN_VALUES.index(self.run_value),
            considered=min(self.considered, ALL),
            alpha=self.alpha,
            unit_nodes=self.unit_nodes,
            unit_bytes=self.unit_bytes,
            in_units=self.method == "table",
            rounds_down=self.round == "down",
            banker=self.banker,
            like=LIKE.index(self.like),
            weight=self.weight,
        )
