"""Statistics between runs: means with Student's 95 % intervals, paired differences, ratios, medians.

Between runs, not between the jobs of one: jobs of one queue are not independent, runs with draws of their own are.
"""

import math

from forebay._support.student import Spread, Values, mean, some, spread, t_quantile

__all__ = ["Spread", "geometric_mean", "mean", "median", "paired", "quantile", "rise", "spread", "t_quantile"]


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
    if min(some(ratios)) <= 0:
        raise ValueError("a geometric mean is of numbers above 0")
    return math.exp(mean([math.log(ratio) for ratio in ratios]))


def median(values: Values) -> float:
    """The middle value, or the mean of the two in the middle."""
    return quantile(values, 0.5)


def quantile(values: Values, share: float) -> float:
    """The value below which this share of the values lies, interpolated between neighbours."""
    ordered = sorted(some(values))
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
