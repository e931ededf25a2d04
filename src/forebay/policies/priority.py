"""EASY backfilling on all resources with the queue sorted by a job column: highest priority first by default.

`priority:order=walltime,descending=false` is shortest job first, head included."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill


@dataclass(frozen=True)
class Priority(Backfill):
    """One reservation, for the job that ranks first."""

    order: str = "priority"
    descending: bool = True
