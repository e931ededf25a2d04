"""Whether a policy is better than a reference: a change in per cent with its 95 % interval, in one word.

A single run is one draw of a chaotic system, so no verdict rests on one mean. `judge` compares pairs of runs that share
their draws; `weigh` adds what blocks of one trace tell, as `forebay.experiments.comparison.blocks` resamples them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from forebay.experiments.statistics import mean, spread, t_quantile
from forebay.metrics._numbers import NONE, change_percent

BETTER, WORSE, UNDECIDED, SAME = "better", "worse", "undecided", "same"
SEEDS, REPLICAS, BLOCKS = "seeds", "replicas", "blocks"


@dataclass(frozen=True)
class Verdict:
    """A policy against the reference by one metric.

    `change`, `low` and `high` are shares of the reference's value: 0.05 is 5 % above it. None: it is not known.
    """

    policy: str
    reference: str
    metric: str
    value: float | None
    reference_value: float | None
    change: float | None
    low: float | None
    high: float | None
    word: str  # better, worse, undecided, or same where both schedules are one
    n: int  # how many pairs of runs, or blocks of jobs
    over: str  # seeds, replicas or blocks


@dataclass(frozen=True)
class Deviation:
    """The standard deviation of the logarithm of a ratio, and the degrees of freedom it was estimated with."""

    size: float
    freedom: float


def change_text(verdict: Verdict, narrow: bool = False) -> str:
    """A change with its interval: "-12 % (-18 to -6)"; for narrow tables without."""
    if verdict.change is None:
        return NONE
    text = f"{change_percent(verdict.change)} %"
    if narrow or verdict.low is None or verdict.high is None or verdict.low == verdict.high:
        return text
    low, high = (change_percent(end, verdict.word in (BETTER, WORSE)) for end in (verdict.low, verdict.high))
    return f"{text} ({low} to {high})"


def higher_is_better(metric: str) -> bool:
    """As the metric says of itself: of use and throughput more is better; of waits, slowdowns and the like, less."""
    from forebay.metrics._listing import find

    found = find(metric)
    return found is not None and found.higher_is_better(metric)


def judge(
    values: Sequence[float | None],
    others: Sequence[float | None],
    metric: str = "mean_wait",
    policy: str = "",
    reference: str = "",
    over: str = SEEDS,
) -> Verdict:
    """A verdict by pairs of runs: the k-th value and the k-th of the reference share their draws.

    The change is that of the mean. Its interval is Student's, of the paired differences, on a logarithmic scale: half
    as long and twice as long are equally far. Pairs of which either value is missing do not count.
    """
    pairs = [(a, b) for a, b in zip(values, others, strict=True) if a is not None and b is not None]
    mine, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    deviation = pair_deviation(mine, theirs)
    means = (mean(mine), mean(theirs)) if pairs else (None, None)
    return weigh((policy, reference, metric), means, [] if deviation is None else [deviation], len(pairs), over)


def pair_deviation(values: Sequence[float], others: Sequence[float]) -> Deviation | None:
    """How uncertain the ratio of two means is, by pairs; None where a single pair or a mean of 0 does not tell.

    A pair of zeros is in the means, and has no ratio: with a single other pair the interval would have no width.
    """
    n_known = sum(a != 0 or b != 0 for a, b in zip(values, others, strict=True))
    if n_known < 2 or mean(values) <= 0 or mean(others) <= 0:
        return None
    value, other = mean(values), mean(others)
    found = spread([a / value - b / other for a, b in zip(values, others, strict=True)])
    assert found.deviation is not None, "there are two pairs"
    return Deviation(found.deviation / math.sqrt(found.n), found.n - 1)


def weigh(
    names: tuple[str, str, str],
    values: tuple[float | None, float | None],
    deviations: Sequence[Deviation],
    n: int,
    over: str,
) -> Verdict:
    """A verdict of two values and of what makes their ratio uncertain: variances add up.

    `names` are the policy, the reference and the metric. The degrees of freedom of the sum are Satterthwaite's.
    """
    policy, reference, metric = names
    value, other = values
    change = None if value is None or not other else value / other - 1
    low = high = None
    if change is not None and change > -1 and deviations:
        half = half_width(deviations)
        low, high = _grown(change, -half), _grown(change, half)
    return Verdict(policy, reference, metric, value, other, change, low, high, _word(metric, low, high), n, over)


def same(names: tuple[str, str, str], values: tuple[float | None, float | None], n: int, over: str) -> Verdict:
    """The verdict on a policy that gave the reference's schedule."""
    policy, reference, metric = names
    return Verdict(policy, reference, metric, *values, 0.0, 0.0, 0.0, SAME, n, over)


def half_width(deviations: Sequence[Deviation]) -> float:
    """Half of the 95 % interval of the logarithm of a ratio."""
    variances = [deviation.size**2 for deviation in deviations]
    total = math.fsum(variances)
    if total == 0:
        return 0.0
    shares = [(variance / total) ** 2 / one.freedom for variance, one in zip(variances, deviations, strict=True)]
    return t_quantile(0.975, 1 / math.fsum(shares)) * math.sqrt(total)


def _grown(change: float, exponent: float) -> float:
    return (1 + change) * math.exp(min(exponent, 700.0)) - 1


def _word(metric: str, low: float | None, high: float | None) -> str:
    if low is None or high is None or low <= 0 <= high:
        return UNDECIDED
    return BETTER if (low > 0) == higher_is_better(metric) else WORSE
