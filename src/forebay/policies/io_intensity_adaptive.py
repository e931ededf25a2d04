"""io-intensity whose alpha follows the workload: order of arrival while the file system has time, intensity when not.

What ADMIRE's D3.3 (2023), section 4.2.6, leaves as future work.
"""

from dataclasses import dataclass
from typing import ClassVar

from forebay.policies._families.intensity import Intensity


@dataclass(frozen=True)
class IoIntensityAdaptive(Intensity):
    """`alpha` is the most, reached where running jobs of the workload's intensity would keep the file system busy."""

    adaptive: ClassVar[bool] = True
    alpha: float = 0.6
