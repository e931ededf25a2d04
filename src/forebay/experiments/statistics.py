"""Statistics between runs: means with Student's 95 % intervals, paired differences, ratios, medians.

Between runs, not between the jobs of one: jobs of one queue are not independent, runs with draws of their own are.
"""

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
    n = len(_some(values))
    average = mean(values)
    deviation = half = None
    if n > 1:
        deviation = math.sqrt(math.fsum((value - average) ** 2 for value in values) / (n - 1))
        half = t_quantile(0.975, n - 1) * deviation / math.sqrt(n)
    return Spread(n, average, deviation, half, min(values), max(values))


def mean(values: Values) -> float:
    """The sum is exact, so the order of the values does not count."""
    return math.fsum(_some(values)) / len(values)


def paired(values: Values, others: Values) -> Spread:
    """What `values` have over `others`, pair by pair: far narrower than two intervals where pairs share their draws."""
    return spread([value - other for value, other in zip(values, others, strict=True)])


def rise(values: Values, others: Values) -> Spread:
    """By which share the mean of `values` is above that of `others`; the interval is that of the paired differences.

    Where pairs differ by factors among themselves, a mean of ratios would be that of the smallest ones.
    """
    base = mean(others)
    return spread([(value - other) / base for value, other in zip(values, others, strict=True)])


def geometric_mean(ratios: Values) -> float:
    """The mean for ratios: that of their inverses is its inverse."""
    if min(_some(ratios)) <= 0:
        raise ValueError("a geometric mean is of numbers above 0")
    return math.exp(mean([math.log(ratio) for ratio in ratios]))


def median(values: Values) -> float:
    """The middle value, or the mean of the two in the middle."""
    return quantile(values, 0.5)


def quantile(values: Values, share: float) -> float:
    """The value below which this share of the values lies, interpolated between neighbours."""
    ordered = sorted(_some(values))
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def t_quantile(share: float, freedom: float) -> float:
    """The value below which a Student t variable of so many degrees of freedom lies with this probability."""
    from scipy.special import stdtrit  # not scipy.stats, which takes far longer to import

    if not freedom > 0 or not 0 < share < 1:
        raise ValueError("a t quantile needs a degree of freedom and a share between 0 and 1")
    if share < 0.5:
        return -t_quantile(1 - share, freedom)  # the same to the last bit
    return float(stdtrit(freedom, share))


def _some(values: Values) -> Values:
    if not values:
        raise ValueError("statistics of no values")
    return values
