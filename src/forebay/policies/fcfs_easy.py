"""EASY backfilling (Lifka 1995): the head of the queue holds a reservation of nodes; others pass without delaying it.

Burst buffers are not reserved, so a head that waits for them keeps its nodes idle: Kopański & Rządca (2021), Fig. 1.
"""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class FcfsEasy(Backfill):
    """One reservation, of nodes alone."""

    reserve: str = "nodes"
