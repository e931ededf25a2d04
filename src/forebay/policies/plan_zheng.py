"""Plan-based scheduling with the long annealing that came before: 100 orders at each of 88 temperatures.

Zheng et al. (2016), as Kopański & Rządca (2021, section 3.3) tell of it; the orders to begin with are theirs.
"""

from dataclasses import dataclass

from forebay.policies._families.plan import Planning


@dataclass(frozen=True)
class PlanZheng(Planning):
    """It cools by a tenth until a ten-thousandth of the temperature is left; no orders are tried one by one."""

    exhaustive: int = 0
    steps: int = 88  # 100 x log(0.0001) / log(0.9) are 8,742 orders: 87 temperatures, and part of the next
    moves: int = 100
    floor: float = 0.0
