"""What estimators are given, and what they give."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np


class Asked(NamedTuple):
    """What is known of a job when it is submitted."""

    user: int = -1
    """A number; -1 = unknown."""
    nodes: int = 1
    walltime: float = math.inf
    """Seconds; inf = no limit."""
    name: int = -1
    """A number for the job's name, or for the application it runs; -1 = unknown."""
    queue: int = -1
    """A number; -1 = unknown."""
    cores: int = 0
    """In all; 0 = not said."""
    array: int = -1
    """The number of the array whose task it is; -1 = of none."""


@dataclass(frozen=True)
class Likely:
    """A distribution of run times: points with weights, in ascending order.

    Parameters
    ----------
    seconds
        The points, ascending.
    weights
        How likely each is; they sum to 1.

    Examples
    --------
    >>> likely = fb.learn.Likely.of([60.0, 120.0, 600.0])
    >>> float(likely.quantile(0.5)), float(likely.beyond(100.0).quantile(0.5))
    (120.0, 120.0)
    """

    seconds: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, seconds: object, weights: object = None) -> "Likely":
        """Points in any order; without weights each is as likely as any other."""
        points = np.asarray(seconds, float)
        shares = np.ones(len(points)) if weights is None else np.asarray(weights, float)
        order = np.argsort(points, kind="stable")
        return cls(points[order], shares[order] / shares.sum())

    def quantile(self, share: float | np.ndarray) -> np.ndarray:
        """The first point up to which at least this share lies; of an array of shares, an array."""
        place = np.searchsorted(np.cumsum(self.weights), np.asarray(share) - 1e-12)
        return self.seconds[np.minimum(place, len(self.seconds) - 1)]

    def beyond(self, elapsed: float, walltime: float = math.inf) -> "Likely":
        """The same of a job that has run for `elapsed` seconds and goes on; no later than its walltime.

        Where no job so far ran for so long, the job may end at any time: as likely within its present age again as
        later, up to the walltime.
        """
        goes_on = self.seconds > elapsed
        if self.weights[goes_on].sum() > 1e-9:
            return Likely(self.seconds[goes_on], self.weights[goes_on] / self.weights[goes_on].sum())
        age = max(elapsed, 1.0)
        points = elapsed + age * _AGES
        return Likely(np.maximum(np.minimum(points, walltime), elapsed), np.full(len(points), 1 / len(points)))


_SHARES = (np.arange(16) + 0.5) / 16
_AGES = _SHARES / (1 - _SHARES)
"""A job of which only its age is known is as likely to go on for longer than its age as for less (Lindy's law)."""


class Estimator(Protocol):
    """What `forebay.learn.load` gives: it is shown jobs in the order in which they end."""

    def learn(self, asked: Asked, seconds: float) -> None:
        """A job has ended after `seconds`."""

    def likely(self, asked: Asked) -> Likely:
        """How long a job will run, by all that has ended so far. It never exceeds the walltime."""


def within(likely: Likely, walltime: float) -> Likely:
    """No longer than the walltime, at which jobs are stopped."""
    return Likely(np.minimum(likely.seconds, walltime), likely.weights)


def by_request(walltime: float) -> float:
    """All there is to say where nothing was learned: the walltime, or an hour where none is given."""
    return walltime if math.isfinite(walltime) else 3600.0
