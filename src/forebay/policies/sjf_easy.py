"""EASY backfilling that tries the shortest jobs first; the head is still the first to arrive, and reserves nodes alone.

Kopański & Rządca (2021), Algorithm 1 with SJF."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class SjfEasy(Backfill):
    """One reservation of nodes; candidates by walltime, then id."""

    reserve: str = "nodes"
    backfill_order: str = "walltime"
