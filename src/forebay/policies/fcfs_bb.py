"""EASY backfilling whose reservation holds nodes and burst buffer together.

Kopański & Rządca (2021), Algorithm 1 with line 14 in full."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class FcfsBb(Backfill):
    """One reservation, of everything the head asks for."""

    depth: int = 1
