"""Plan-based scheduling by simulated annealing; waits count to the power alpha.

Kopański & Rządca (2021), Algorithm 2."""

from dataclasses import dataclass

from forebay.policies._families.plan import Planning


@dataclass(frozen=True)
class Plan(Planning):
    """As in the paper, with any alpha."""
