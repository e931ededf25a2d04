"""First come, first served; jobs whose size is not fixed start with all the nodes they may have, and grow at points.

The FCFSm of ADMIRE's D3.3 (2023), section 4.2.5.1, where `when` is free.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from forebay.policies._base import Policy, lay, one_of
from forebay.policies._families.malleable import Param


@dataclass(frozen=True)
class FcfsMalleable(Policy):
    """Jobs start in order of arrival, up to the first that finds too few nodes; requests are granted where possible."""

    compiled: ClassVar[str] = "malleable.fcfs.malleable"
    resizes: ClassVar[bool] = True

    when: str = "free"  # a job grows at its point when nodes are "free", or when in addition nobody waits: "idle"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        one_of(self, when=("free", "idle"))

    def params(self) -> np.ndarray:
        """The row of numbers that the kernel reads."""
        return lay(Param, when_idle=self.when == "idle")
