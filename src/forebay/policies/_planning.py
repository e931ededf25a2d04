"""The parameters that plan-based policies share. A policy of the family is a few numbers: see its own file."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from forebay.errors import InputError, nearest
from forebay.policies._base import Policy
from forebay.policies._family import refuse_pinned

_STEEPEST = 30  # ten years to a higher power, many times, is more than a float can hold


@dataclass(frozen=True)
class Planning(Policy):
    """Plans of all waiting jobs, searched for by annealing their order."""

    search: str = "annealing"  # or "descent", by Smith's rule and then by putting jobs forward
    alpha: float = 2.0  # waits count to this power: the higher, the less one job may pay for the others
    exhaustive: int = 5  # up to so many jobs all orders are tried
    rate: float = 0.9  # by which the temperature falls
    steps: int = 30  # how often it falls
    moves: int = 6  # tried at each temperature
    floor: float = 1.0  # below which it does not fall
    heat: float = 1.0  # temperature at first, as a share of the gap between the best and worst order to begin with
    insertions: float = 0.0  # share of moves that put a job elsewhere, instead of swapping two
    rounds: int = 8  # of Smith's rule, before a descent
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
        if not self.rate > 0:
            raise InputError(f"rate is {self.rate:g}; give a number above 0")
        if self.exhaustive > 8:
            raise InputError(f"exhaustive is {self.exhaustive}; 8 jobs have 40,320 orders already, give at most 8")
        if not 0 <= self.insertions <= 1:
            raise InputError(f"insertions is {self.insertions:g}; give a share from 0 to 1")
        for name, known in (("search", ("annealing", "descent")), ("reservations", ("counted", "pinned"))):
            if getattr(self, name) not in known:
                raise InputError(f"{name} is {getattr(self, name)!r}: {nearest(getattr(self, name), known)}")

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        from forebay.policies._plan import PARAMS

        words = {"pinned": self.reservations == "pinned", "descends": self.search == "descent"}
        return np.array([words.get(name, getattr(self, name, None)) for name in PARAMS], np.float64)

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The same, unless nodes are of two kinds and to be pinned."""
        refuse_pinned(self.reservations, resources)
        return self.params()

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """The rank of each job in the last plan."""
        return (1, n_jobs) if self.keep else (0, 0), (0, 0)

    def kernel(self) -> Any:
        """The one kernel of the family."""
        from forebay.policies._plan import plan

        return plan
