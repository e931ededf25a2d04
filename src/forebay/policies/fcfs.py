"""First come, first served: start from the head of the queue, stop at the first job that does not fit."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class Fcfs(Backfill):
    """Nobody passes anybody."""

    depth: int = 0
    max_backfill: int = 0
