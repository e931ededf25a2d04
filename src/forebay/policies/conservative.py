"""Conservative backfilling: every waiting job holds a reservation of nodes, recomputed at each decision.

Mu'alem & Feitelson (2001); reservations are made in order of arrival.
Burst buffers are not reserved: see conservative-bb."""

from dataclasses import dataclass

from forebay.policies._families.backfill import Backfill
from forebay.policies._orders import ALL


@dataclass(frozen=True)
class Conservative(Backfill):
    """A reservation of nodes for everybody."""

    depth: int = ALL
    reserve: str = "nodes"
