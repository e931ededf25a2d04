"""Plan-based scheduling by simulated annealing; waits count squared.

Kopański & Rządca (2021), Algorithm 2."""

from dataclasses import dataclass

from forebay.policies._families.plan import Planning


@dataclass(frozen=True)
class Plan2(Planning):
    """As in the paper."""

    alpha: float = 2.0
