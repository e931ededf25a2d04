"""Backfilling by fair share: who has used the least of the machine lately goes first, usage halves in a week.

Fair share alone of Slurm's multifactor priority (slurm.schedmd.com/fair_tree.html).
"""

from dataclasses import dataclass

from forebay.policies._families.prioritised import Prioritised


@dataclass(frozen=True)
class Fairshare(Prioritised):
    """No other factor counts. The weight is large, so that factors are not rounded to the same priority."""

    PriorityWeightFairshare: int = 10**9
