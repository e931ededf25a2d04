"""Quantiles of a few draws, also beyond them, and where a value lies among them."""

import numpy as np

LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
BANDS = {0.5: (2, 4), 0.8: (1, 5), 0.9: (0, 6)}
"""Shares that intervals are to cover, and the levels between which they lie."""
MEDIAN = 3
_FURTHER = 1.5
"""The truth may lie beyond all draws: the distribution ends this much later than the last of them."""


def _ends(waits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares and the waits up to which they lie: drawn ones in the middle of their steps, and both ends."""
    ordered = np.sort(waits)
    places = (np.arange(len(ordered)) + 0.5) / len(ordered)
    known = np.r_[ordered[0] / _FURTHER, ordered, ordered[-1] * _FURTHER]
    return np.r_[0.0, places, 1.0], known


def quantile(waits: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Waits up to which these shares of the distribution lie; waits are from now on, 0 or longer."""
    places, known = _ends(waits)
    found: np.ndarray = np.interp(shares, places, known)
    return found


def share_up_to(waits: np.ndarray, value: float) -> float:
    """What share of the distribution lies up to a wait; of equal waits, half of their steps."""
    places, known = _ends(waits)
    low, high = np.searchsorted(known, value, "left"), np.searchsorted(known, value, "right")
    if high > low:
        return float((places[low] + places[high - 1]) / 2)
    if low in (0, len(known)):
        return float(low > 0)
    span = known[low] - known[low - 1]
    return float(places[low - 1] + (places[low] - places[low - 1]) * (value - known[low - 1]) / span)
