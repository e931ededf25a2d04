"""Steal From Small Jobs: conservative backfilling in which a failed job takes nodes from the smallest running one.

The variant 111 of node stealing (ADMIRE's D3.3, 2023, section 3.1): the victim is the job submitted last among those
with the fewest nodes, if it has fewer than the failed one; it goes on from its last checkpoint.
"""

from dataclasses import dataclass

from forebay.policies._families.steal import Stealing


@dataclass(frozen=True)
class Sfsj(Stealing):
    """Stealing from small jobs over conservative backfilling."""
