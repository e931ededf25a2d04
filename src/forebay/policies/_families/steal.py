"""Node stealing around backfilling: the parameters, and what a code of three digits means."""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from forebay.errors import InputError, nearest
from forebay.policies._base import Policy, lay
from forebay.policies._families.backfill import Backfill


class Param(IntEnum):
    """What the kernel reads behind the parameters of backfilling, by place."""

    RESUME = 0  # of the victim: Resume
    VICTIM = 1
    IF = 2
    SHRINKS = 3


class Victim(IntEnum):
    """Which running job gives up its nodes; what is alike in both is settled by order of arrival, the last first."""

    SMALLEST = 1  # of these the one submitted last
    LATEST = 2  # submitted last, of these the smallest
    SMALLEST_NEWEST = 3  # of the smallest the one that has run for the shortest time so far


class If(IntEnum):
    """When it does."""

    SMALLER = 1  # it has fewer nodes than the failed job
    LATER = 2  # it was submitted later
    LOWER_FLOW = 3  # the larger of both flows is expected to be lower


def _backfills(policy: object) -> bool:
    """Whether nodes can be stolen under a policy: it backfills with the kernel that stealing calls."""
    return isinstance(policy, Backfill) and policy.compiled == Backfill.compiled


@dataclass(frozen=True)
class Stealing(Policy):
    """Backfilling under which a failed job takes nodes from a running one if there are too few free ones."""

    compiled: ClassVar[str] = "malleable.steal.steal"

    over: str | Backfill = "conservative"  # the backfilling policy that decides else, by name or as an object
    variant: str = "111"  # three digits: checkpoint of the victim, its choice, the condition (1 to 3 each)

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        code = str(self.variant)
        if len(code) != 3 or any(not "1" <= digit <= most for digit, most in zip(code, "333", strict=True)):
            raise InputError(
                f"variant is {self.variant!r}; give three digits: the victim goes on from its last checkpoint, one "
                "that it writes now, or its next one; it is the smallest job, the latest, or of the smallest the "
                "one with the shortest run so far; it is smaller, later, or the larger of both flows falls (1 to 3 "
                "each); such as 111"
            )
        _ = self._inner

    @property
    def _inner(self) -> Backfill:
        from forebay.policies import load, names

        policy = load(self.over)
        if not _backfills(policy):
            known = [name for name in names() if _backfills(load(name))]
            raise InputError(f"over is {self.over!r}, under which nodes cannot be stolen: {nearest(self.over, known)}")
        assert isinstance(policy, Backfill)
        return policy

    def _own(self) -> np.ndarray:
        resume, victim, condition = (int(digit) for digit in str(self.variant))
        return lay(Param, resume=resume - 1, victim=victim, **{"if": condition}, shrinks=self.resizes)

    def params(self) -> np.ndarray:
        """What backfilling reads, and behind it what stealing needs."""
        return np.concatenate([self._inner.params(), self._own()])

    def params_on(self, resources: tuple[str, ...]) -> np.ndarray:
        """The same on a machine with these resources."""
        return np.concatenate([self._inner.params_on(resources), self._own()])

    def memory(self, n_jobs: int, n_resources: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """What backfilling remembers."""
        return self._inner.memory(n_jobs, n_resources)
