"""EASY backfilling by priority, at the sizes that jobs prefer: the EBF that malleable backfilling was compared with.

ADMIRE's D3.3 (2023), section 4.1.
"""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class Ebf(Backfill):
    """One reservation of nodes, for the waiting job of the highest priority; equal ones in order of their ids."""

    order: str = "priority"
    descending: bool = True
    reserve: str = "nodes"
