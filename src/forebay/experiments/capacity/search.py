"""How much is enough: the least capacity at which a number of the runs keeps to a limit, with its interval.

Every capacity is tried on the same replicas, so that two capacities differ by what they are and not by their draws. A
number need not fall with capacity: a larger machine lets other jobs go first, and these may hold up the rest. So the
answer is the least capacity from which on all that were tried keep to the limit, and rises are reported.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forebay.experiments.statistics import Spread, paired, spread, t_quantile

Evaluate = Callable[[Sequence[float]], Sequence[Sequence[float]]]
"""For each of some capacities, the number in each replica, smaller being better; inf where it cannot count."""
Snap = Callable[[float], float]

FIRST = 7
"""Capacities, evenly spaced on a logarithmic scale, that are tried before the search knows where to look."""
RESAMPLES = 2000
_NORMAL = 1.96  # what Student's t is for many replicas
_ROUNDS = 4  # of looking around the answer


@dataclass(frozen=True)
class Point:
    """A capacity that was tried, and the number in each replica."""

    capacity: float
    values: tuple[float, ...]

    @cached_property
    def spread(self) -> Spread | None:
        """Mean and interval between replicas; None where the number does not count in one of them."""
        return spread(self.values) if all(map(math.isfinite, self.values)) else None

    @property
    def mean(self) -> float:
        """Over replicas; inf where it does not count in one of them."""
        return math.inf if self.spread is None else self.spread.mean


@dataclass(frozen=True)
class Answer:
    """What a search found. Points go from the least capacity to the largest."""

    limit: float
    points: tuple[Point, ...]
    interval: tuple[float, float] | None  # 95 %; None of one replica; inf where it goes beyond what was tried

    @property
    def capacity(self) -> float | None:
        """The least capacity from which on every one tried keeps to the limit; None if the largest does not."""
        place = _after_last_failure([point.mean for point in self.points], self.limit)
        return self.points[place].capacity if place < len(self.points) else None

    @property
    def reached(self) -> bool:
        """Whether any capacity is enough."""
        return self.capacity is not None

    @property
    def at_lowest(self) -> bool:
        """Whether the least capacity tried is enough already: a smaller one may be too."""
        return self.capacity == self.points[0].capacity

    @property
    def best(self) -> Point:
        """The point with the smallest number, of several the one of the least capacity."""
        return min(self.points, key=lambda point: (point.mean, point.capacity))

    @property
    def rises(self) -> tuple[tuple[Point, Point], ...]:
        """Neighbours of which the larger capacity is worse, in pairs of replicas and not by chance alone."""
        return tuple(pair for pair in zip(self.points, self.points[1:], strict=False) if _worse(*pair))

    @property
    def lucky(self) -> tuple[Point, ...]:
        """Points below the answer that keep to the limit, though a larger capacity does not."""
        end = math.inf if self.capacity is None else self.capacity
        return tuple(point for point in self.points if point.capacity < end and point.mean <= self.limit)


def least(
    evaluate: Evaluate, limit: float, low: float, high: float, precision: float = 0.05, snap: Snap = float
) -> Answer:
    """The least capacity from `low` to `high` that keeps the mean over replicas at or below `limit`.

    Parameters
    ----------
    evaluate
        Tries capacities.
    limit
        What the mean may be at most.
    low, high
        The range, above 0.
    precision
        The answer exceeds the largest capacity that is too small by this share at most.
    snap
        The nearest capacity that can be had, such as a whole number of nodes.
    """
    tried: dict[float, Point] = {low: Point(low, ()), high: Point(high, ())}

    def look(capacities: Sequence[float]) -> bool:
        new = sorted({one for one in capacities if low <= one <= high and not (one in tried and tried[one].values)})
        for one, values in zip(new, evaluate(new) if new else [], strict=True):
            tried[one] = Point(one, tuple(values))
        return bool(new)

    look([low, *(snap(one) for one in np.geomspace(low, high, FIRST)[1:-1].tolist()), high])
    rounds = 0
    while True:
        answer = _answer(tried, limit)
        middle = _middle(answer, precision, snap)
        if middle is not None:
            look([middle])
        elif rounds == _ROUNDS or not look(_around(answer, precision, snap)):
            return answer
        else:
            rounds += 1


def _answer(tried: dict[float, Point], limit: float) -> Answer:
    points = tuple(tried[capacity] for capacity in sorted(tried))
    return Answer(limit, points, _interval(points, limit))


def _middle(answer: Answer, precision: float, snap: Snap) -> float | None:
    """Between the last capacity that is too small and the next; None where these are close enough."""
    place = _after_last_failure([point.mean for point in answer.points], answer.limit)
    if place in (0, len(answer.points)):
        return None
    below, above = answer.points[place - 1].capacity, answer.points[place].capacity
    middle = snap(math.sqrt(below * above))
    return middle if above > below * (1 + precision) and below < middle < above else None


def _around(answer: Answer, precision: float, snap: Snap) -> list[float]:
    """Capacities at which the answer could prove wrong: just above it, and the ends of its interval."""
    if answer.capacity is None:
        return []
    wanted = [answer.capacity * (1 + precision) ** power for power in (1, 2)]
    wanted += [end for end in answer.interval or () if math.isfinite(end)]
    # Below a point without a number, no line can be drawn: the interval may end there only for want of points.
    for below, point in zip(answer.points, answer.points[1:], strict=False):
        if answer.interval and math.isclose(answer.interval[0], point.capacity) and below.spread is None:
            wanted.append(math.sqrt(below.capacity * point.capacity))
    known = [point.capacity for point in answer.points]
    return [one for one in map(snap, wanted) if all(abs(math.log(one / other)) > precision / 2 for other in known)]


def _after_last_failure(means: Sequence[float], limit: float) -> int:
    """The place after the last mean above the limit."""
    return max((place for place, mean in enumerate(means, 1) if not mean <= limit), default=0)


def _worse(small: Point, large: Point) -> bool:
    if small.spread is None or large.spread is None:
        return small.mean < large.mean
    more = paired(large.values, small.values)
    return more.mean - (more.half or 0.0) > 0


def _interval(points: Sequence[Point], limit: float) -> tuple[float, float] | None:
    """Of the crossing, by bootstrap: replicas are drawn again, and each draw has a curve and a crossing of its own.

    Noise makes a curve cross several times, and its last crossing lies too high. So the upper end is that of last
    crossings, but the lower end that of the best falling curve. It is widened to hold the answer, which is a capacity
    that was tried, at or above the crossing.
    """
    n = len(points[0].values)
    if n < 2:
        return None
    values, logs = np.array([point.values for point in points]), np.log([point.capacity for point in points])
    # The same draws at every call: an answer depends on its runs alone.
    draws = np.random.default_rng(0).integers(0, n, (RESAMPLES, n))
    curves, means = values[:, draws].mean(axis=2).T, values.mean(axis=1)
    finite = np.isfinite(means)
    curves[:, finite] = means[finite] + _widening(n) * (curves[:, finite] - means[finite])
    place = _after_last_failure([point.mean for point in points], limit)
    centre = points[place].capacity if place < len(points) else math.inf
    low = np.quantile(_crossings(logs, curves, _best_falling(curves, limit), limit), 0.025, method="nearest")
    high = np.quantile(_crossings(logs, curves, _last_failing(curves, limit), limit), 0.975, method="nearest")
    return min(_amount(points, low), centre), max(_amount(points, high), centre)


def _amount(points: Sequence[Point], log: float) -> float:
    """The capacity of a logarithm; at the ends of the range, exactly that."""
    return min(max(math.exp(log), points[0].capacity), points[-1].capacity) if math.isfinite(log) else math.inf


def _widening(n: int) -> float:
    """By how much draws of n replicas vary too little: they know no deviation but that of the n themselves."""
    return t_quantile(0.975, n - 1) / _NORMAL * math.sqrt(n / (n - 1))


def _last_failing(curves: np.ndarray, limit: float) -> np.ndarray:
    """The place of the last point of each curve above the limit; -1 if none is."""
    failing = ~(curves <= limit)
    last = curves.shape[1] - 1 - np.argmax(failing[:, ::-1], axis=1)
    return np.asarray(np.where(failing.any(axis=1), last, -1))


def _best_falling(curves: np.ndarray, limit: float) -> np.ndarray:
    """The same of the falling curve that fits best by least squares: up to there, points are most above the limit."""
    above = curves - limit
    finite = np.isfinite(above)
    known = np.where(finite, above, 0.0)
    above = np.where(finite, above, 1.0 + np.abs(known).sum(axis=1, keepdims=True))
    sums = np.concatenate([np.zeros((len(curves), 1)), np.cumsum(above, axis=1)], axis=1)
    return np.asarray(np.argmax(sums, axis=1) - 1)


def _crossings(logs: np.ndarray, curves: np.ndarray, places: np.ndarray, limit: float) -> np.ndarray:
    """The logarithms of the capacities where curves meet the limit, on the line from one point of each to the next."""
    rows, after = np.arange(len(curves)), np.minimum(places + 1, len(logs) - 1)
    above, below = curves[rows, places], curves[rows, after]
    share = np.ones(len(curves))
    some = np.isfinite(above) & (above > below)  # no number counts as inf, and inf less inf as nothing
    share[some] = (above[some] - limit) / (above[some] - below[some])
    crossings = logs[places] + share * (logs[after] - logs[places])
    return np.asarray(np.where(places < 0, logs[0], np.where(places == len(logs) - 1, np.inf, crossings)))
