"""Plan-based scheduling with a steadier search: Smith's rule, then jobs are put forward; nothing is drawn.

Plans are those of Kopański & Rządca (2021), the rule that of Smith (1956)."""

from dataclasses import dataclass

from forebay.policies._families.plan import Planning


@dataclass(frozen=True)
class PlanBest(Planning):
    """As many plans as annealing tries, at most."""

    search: str = "descent"
    alpha: float = 1.75
    exhaustive: int = 6  # goes on from shared beginnings: no more placements than annealing makes
