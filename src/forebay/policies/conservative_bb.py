"""Conservative backfilling on all resources: nobody is delayed by a job that came later, as far as walltimes show."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill
from forebay.policies._orders import ALL


@dataclass(frozen=True)
class ConservativeBb(Backfill):
    """A reservation of everything for everybody."""

    depth: int = ALL
