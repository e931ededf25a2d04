"""Stage-in, run and stage-out queued separately, each first come, first served: Cerberus (2016), section 4.3."""

from dataclasses import dataclass

from forebay.policies._families.cerberus import ThreeQueues


@dataclass(frozen=True)
class CerberusFcfs(ThreeQueues):
    """Three queues whose heads wait for nobody else's."""
