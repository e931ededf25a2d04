"""The machine of "Efficient Job Scheduling for Clusters with Shared Tiered Storage" (Lackner, Fard & Wolf 2019).

128 nodes, slow storage without end, fast storage of 2,048 or 4,096 GB. The paper gives the bandwidths as ratios: fast
storage is 15 times, staging 5 times as fast as slow storage. In bytes a second slow storage is our choice; see the
study of that name.
"""

from forebay.platforms._fields import BytesOrZero, Count, Rate, Ratio
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import fast as fast_tier
from forebay.platforms.tiers import slow as slow_tier

DESCRIPTION = "128 nodes, slow storage, and 2,048 GB of fast storage that jobs are staged to: as simulated for SAS 2019"


def make(
    nodes: Count = 128,
    fast: BytesOrZero = 2048 * 10**9,
    slow: Rate = 3e8,
    ratio: Ratio = 15.0,
    k: Ratio = 5.0,
) -> Platform:
    """`slow` is the slow tier's bandwidth; the fast one has `ratio` times as much, staging `k` times."""
    tiers = (
        slow_tier.Tier(name="slow", bandwidth=slow),
        fast_tier.Tier(name="fast", capacity=fast, bandwidth=ratio * slow, stage=k * slow),
    )
    return Platform(name="sas2019", nodes=nodes, tiers=tiers)
