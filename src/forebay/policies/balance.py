"""EASY backfilling with reservations of nodes and burst buffer, in an order that keeps both equally used.

Kopański & Rządca (2021) tried such dynamic priorities (section 5) without saying how; the rule here is ours.
"""

from dataclasses import dataclass

from forebay.policies._families.balance import Balancing


@dataclass(frozen=True)
class Balance(Balancing):
    """One reservation, for the waiting job that ranks first by place in the queue and balance."""

    depth: int = 1
