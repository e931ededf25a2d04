"""A mean and its Student's 95 % interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Values = Sequence[float]


@dataclass(frozen=True)
class Spread:
    """Some values in short. `half` is half of the 95 % interval of the mean; None of a single value."""

    n: int
    mean: float
    deviation: float | None
    half: float | None
    least: float
    largest: float


def spread(values: Values) -> Spread:
    """Mean, standard deviation (n - 1), Student interval and range of some values."""
    n = len(some(values))
    average = mean(values)
    deviation = half = None
    if n > 1:
        deviation = math.sqrt(math.fsum((value - average) ** 2 for value in values) / (n - 1))
        half = t_quantile(0.975, n - 1) * deviation / math.sqrt(n)
    return Spread(n, average, deviation, half, min(values), max(values))


def mean(values: Values) -> float:
    """The sum is exact, so the order of the values does not count."""
    return math.fsum(some(values)) / len(values)


def t_quantile(share: float, freedom: float) -> float:
    """The value below which a Student t variable of so many degrees of freedom lies with this probability."""
    from scipy.special import stdtrit  # not scipy.stats, which takes far longer to import

    if not freedom > 0 or not 0 < share < 1:
        raise ValueError("a t quantile needs a degree of freedom and a share between 0 and 1")
    if share < 0.5:
        return -t_quantile(1 - share, freedom)  # the same to the last bit
    return float(stdtrit(freedom, share))


def some(values: Values) -> Values:
    if not values:
        raise ValueError("statistics of no values")
    return values
