"""Backfilling; where too few nodes are free for a job that has failed, a running job is interrupted for its nodes.

Du, Marchal, Pallez & Robert (2022), in ADMIRE's D3.3 (2023), section 3.1.
"""

from dataclasses import dataclass

from forebay.policies._families.steal import Stealing


@dataclass(frozen=True)
class Steal(Stealing):
    """Any of the 18 variants, over any backfilling policy."""
