"""The machine that Cerberus (2016) compares with: Trinity without a burst buffer, its jobs behind I/O nodes alone.

The paper's text speaks of 302,976 cores; the program of its authors has 300,000.
"""

from forebay.platforms._fields import Count, Rate
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs

DESCRIPTION = "trinity without a burst buffer: each job has 2.5 GB/s of the file system, through I/O nodes"


def make(cores: Count = 300_000, per_job: Rate = 2.5e9, shared: Rate | None = None) -> Platform:
    """Nodes are cores. `shared` is what all jobs together get of the file system, each way."""
    return Platform(
        name="trinity-io", nodes=cores, tiers=(pfs.Tier(name="pfs", read=shared, write=shared, per_job=per_job),)
    )
