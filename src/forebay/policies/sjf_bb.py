"""EASY backfilling with burst-buffer reservations that tries the shortest jobs first; the head is the first to arrive.

Kopański & Rządca (2021), Algorithm 1 with SJF and line 14 in full."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class SjfBb(Backfill):
    """One reservation of everything; candidates by walltime, then id."""

    backfill_order: str = "walltime"
