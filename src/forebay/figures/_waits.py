"""Waits of a result as plain numbers, and their letter values."""

import math

import numpy as np

from forebay.metrics._table import counted, measure
from forebay.results import Result

_NORMAL_95 = 1.96


def waiting_times(result: Result) -> np.ndarray:
    """The wait of each job that counts, in seconds: it began."""
    waits = counted(result).select(measure("wait").drop_nulls()).collect().to_series()
    return waits.to_numpy().astype(float)


def depth(n: int) -> int:
    """How many letter values, the median included, are worth showing of n numbers.

    The last is the one whose 95 % interval does not yet reach over the next.
    """
    return max(1, math.floor(math.log2(n / (2 * _NORMAL_95**2))) + 1) if n else 0


def letter_values(values: np.ndarray) -> list[tuple[float, float, float]]:
    """(share of the values between, lower end, upper end), median first."""
    found = []
    for place in range(1, depth(values.size) + 1):
        tail = 0.5**place
        low, high = np.quantile(values, [tail, 1 - tail])
        found.append((1 - 2 * tail, float(low), float(high)))
    return found
