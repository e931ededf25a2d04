"""Three queues served by knapsack: run for the most nodes x buffer, stage the most jobs.

Cerberus (2016), eqs. 2 and 4."""

from dataclasses import dataclass

from forebay.policies._families.cerberus import ThreeQueues


@dataclass(frozen=True)
class CerberusParallelism(ThreeQueues):
    """As many jobs staging as possible."""

    knapsack: str = "in/run/out"
    stage_value: str = "jobs"
