"""The parameters that plan-based policies share. A policy of the family is a few numbers: see its own file."""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from forebay.errors import InputError
from forebay.policies._base import Policy, lay, one_of
from forebay.policies._families.backfill import refuse_pinned

_MOST = 10_000_000
"""Orders that one decision may try: minutes, where a queue is long."""
_STEEPEST = 30  # ten years to a higher power, many times, is more than a float can hold


class Param(IntEnum):
    """What the kernel reads, by place."""

    ALPHA = 0
    EXHAUSTIVE = 1
    RATE = 2
    STEPS = 3
    MOVES = 4
    FLOOR = 5
    HEAT = 6
    INSERTIONS = 7
    KEEP = 8
    PINNED = 9
    SHORTCUTS = 10
    DESCENDS = 11
    ROUNDS = 12
    PLANNED = 13
    OBJECTIVE = 14


class Objective(IntEnum):
    """What plans are made for, by the names in specs."""

    WAIT = 0
    SLOWDOWN = 1


@dataclass(frozen=True)
class Planning(Policy):
    """Plans of all waiting jobs, searched for by annealing their order."""

    compiled: ClassVar[str] = "plan.plan.plan"

    search: str = "annealing"  # or "descent", by Smith's rule and then by putting jobs forward
    alpha: float = 2.0  # waits count to this power: the higher, the less one job may pay for the others
    objective: str = "wait"  # or "slowdown": waits over lengths, for the mean bounded slowdown
    exhaustive: int = 5  # up to so many jobs all orders are tried
    rate: float = 0.9  # by which the temperature falls
    steps: int = 30  # how often it falls
    moves: int = 6  # tried at each temperature
    floor: float = 1.0  # below which it does not fall
    heat: float = 1.0  # temperature at first, as a share of the gap between the best and worst order to begin with
    insertions: float = 0.0  # share of moves that put a job elsewhere, instead of swapping two
    rounds: int = 8  # of Smith's rule, before a descent
    planned: int = 300  # jobs, from the front of the queue, that are planned; those behind may only pass
    keep: bool = False  # whether the last plan's order is among those to begin with
    reservations: str = "counted"  # "pinned" fixes the nodes and servers of planned jobs, "counted" their number
    shortcuts: bool = True  # save work that cannot change the outcome

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        for name in ("exhaustive", "steps", "moves", "floor", "heat", "rounds"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} is {getattr(self, name)}; give a number from 0 up")
        if not 0 < self.alpha <= _STEEPEST:
            raise InputError(f"alpha is {self.alpha:g}; give a number above 0 and up to {_STEEPEST}")
        if self.planned < 1:
            raise InputError(f"planned is {self.planned}; give a count from 1 up, or all")
        if not self.rate > 0:
            raise InputError(f"rate is {self.rate:g}; give a number above 0")
        for name in ("rate", "floor", "heat"):
            if getattr(self, name) == math.inf:
                raise InputError(f"{name} has no end; give a number")
        for what, tries in (("steps x moves", self.steps * self.moves), ("rounds", self.rounds)):
            if tries > _MOST:
                raise InputError(
                    f"{what} is {tries:,}: so many orders would be tried at each decision; give at most {_MOST:,}"
                )
        if self.exhaustive > 8:
            raise InputError(f"exhaustive is {self.exhaustive}; 8 jobs have 40,320 orders already, give at most 8")
        if not 0 <= self.insertions <= 1:
            raise InputError(f"insertions is {self.insertions:g}; give a share from 0 to 1")
        objectives = [name.lower() for name in Objective.__members__]
        one_of(self, search=("annealing", "descent"), reservations=("counted", "pinned"), objective=objectives)

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        return lay(
            Param,
            alpha=self.alpha,
            exhaustive=self.exhaustive,
            rate=self.rate,
            steps=self.steps,
            moves=self.moves,
            floor=self.floor,
            heat=self.heat,
            insertions=self.insertions,
            keep=self.keep,
            pinned=self.reservations == "pinned",
            shortcuts=self.shortcuts,
            descends=self.search == "descent",
            rounds=self.rounds,
            planned=self.planned,
            objective=Objective[self.objective.upper()],
        )

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The same, unless nodes are of two kinds and to be pinned."""
        refuse_pinned(self.reservations, resources)
        return self.params()

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rank of each job in the last plan."""
        return (1, n_jobs) if self.keep else (0, 0), (0, 0)
