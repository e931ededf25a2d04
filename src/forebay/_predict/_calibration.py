"""Intervals as wide as past ones should have been.

A simulation knows neither held jobs nor nodes that fail, and draws run times one by one: its intervals are too narrow.
Where the truth lay among the draws of predictions made earlier says by how much. The levels at which draws are read
are moved so that each would have covered its share of those: conformal prediction, on shares in place of seconds.
"""

from dataclasses import dataclass, field

import numpy as np

from forebay._predict._quantiles import LEVELS, quantile, share_up_to

FEWEST = 40
"""Past predictions below which levels stay as they are."""
_SOON = 300.0
"""Seconds: waits are alike by their ratio, but for those of a few minutes."""
_OUTER = np.clip(LEVELS + 0.02 * (LEVELS - 0.5), 0.0, 1.0)
"""A few past predictions cover a little less of the future than of themselves."""


@dataclass
class Calibration:
    """Predictions whose outcome is known: how long a wait they expected, and where the truth lay."""

    expected: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def add(self, waits: np.ndarray, truth: float) -> None:
        """A prediction has come true, one way or another."""
        self.expected.append(_scale(waits))
        self.shares.append(share_up_to(waits, truth))

    def __len__(self) -> int:
        return len(self.shares)

    def levels(self, waits: np.ndarray) -> np.ndarray:
        """Where to read draws: by the half of past predictions that expected a wait the most like this one."""
        if len(self.shares) < FEWEST:
            return LEVELS
        far = np.abs(np.array(self.expected) - _scale(waits))
        near = np.argsort(far, kind="stable")[: max(FEWEST, len(far) // 2)]
        found: np.ndarray = np.quantile(np.array(self.shares)[near], _OUTER)
        return found

    def quantiles(self, waits: np.ndarray) -> np.ndarray:
        """Waits at the usual levels."""
        return quantile(waits, self.levels(waits))

    def within(self, waits: np.ndarray, seconds: float) -> float:
        """The chance that the wait is over by then."""
        raw = share_up_to(waits, seconds)
        if len(self.shares) < FEWEST:
            return raw
        read = np.r_[0.0, self.levels(waits), 1.0]
        return float(np.interp(raw, read, np.r_[0.0, LEVELS, 1.0]))


def _scale(waits: np.ndarray) -> float:
    return float(np.log(_SOON + np.median(waits)))
