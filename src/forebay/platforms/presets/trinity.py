"""The machine of Cerberus, "A Parallelism Oriented Three Phase Based Burst Buffering Aware Scheduler" (2016): Trinity.

Every job has a bandwidth of its own, which it does not share. The paper's text speaks of 302,976 cores; the program
of its authors has 300,000.
"""

from forebay.platforms._fields import Capacity, Count, Rate
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs, shared_bb

DESCRIPTION = "300,000 cores and 4 PB of burst buffer, 8 GB/s for each job: Trinity as simulated for Cerberus 2016"


def make(
    cores: Count = 300_000, burst_buffer: Capacity = 4 * 10**15, per_job: Rate = 8e9, shared: Rate | None = None
) -> Platform:
    """Nodes are cores. `shared` is what all jobs together get of the buffer and of the file system, each way."""
    buffer = shared_bb.Tier(name="burst_buffer", capacity=burst_buffer, bandwidth=shared, per_job=per_job)
    files = pfs.Tier(name="pfs", read=shared, write=shared, per_job=per_job)
    return Platform(name="trinity", nodes=cores, tiers=(buffer, files))
