"""Three queues served by knapsack: run for the most nodes x buffer, stage the most data.

Cerberus (2016), eqs. 1 and 4."""

from dataclasses import dataclass

from forebay.policies._families.cerberus import ThreeQueues


@dataclass(frozen=True)
class CerberusThroughput(ThreeQueues):
    """As much data on the way as possible."""

    knapsack: str = "in/run/out"
