"""Jobs that read and write much run beside jobs that do not: running jobs are kept near the workload's I/O intensity.

The I/O-intensity-aware scheduler of ADMIRE's D3.3 (2023), section 4.2, Algorithms 2 and 3.
"""

from dataclasses import dataclass

from forebay.policies._families.intensity import Intensity


@dataclass(frozen=True)
class IoIntensity(Intensity):
    """`alpha` weighs intensity against order of arrival; malleable jobs are resized for intensity alone."""
