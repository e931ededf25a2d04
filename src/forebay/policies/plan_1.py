"""Plan-based scheduling by simulated annealing; waits count as they are.

Kopański & Rządca (2021), Algorithm 2."""

from dataclasses import dataclass

from forebay.policies._families.plan import Planning


@dataclass(frozen=True)
class Plan1(Planning):
    """As in the paper."""

    alpha: float = 1.0
