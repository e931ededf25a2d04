"""Backfilling by Slurm's multifactor priority: age, size, fair share, QOS and partition, weighted as in slurm.conf.

SchedMD, Multifactor Priority Plugin (slurm.schedmd.com/priority_multifactor.html).
"""

from dataclasses import dataclass

from forebay.policies._families.prioritised import Prioritised


@dataclass(frozen=True)
class Multifactor(Prioritised):
    """Sites set weights of their own; these let waiting and use count alike."""

    PriorityWeightAge: int = 1000
    PriorityWeightFairshare: int = 1000
