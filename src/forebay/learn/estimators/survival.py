"""Run times of jobs ever more like this one, the more like it the more they count."""

import math
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from forebay.errors import InputError
from forebay.learn._base import Asked, Likely, by_request, within

_CROWD = 200
"""Jobs that are kept of the whole machine, and of a walltime: they stand for many users."""
_STEPS = np.array([-1.25, 0.0, 1.25])
_SHARES = np.array([0.25, 0.5, 0.25])
"""A run time is smeared over three points, a spread that has the variance of `blur`, about, in logarithms."""


class _Past(NamedTuple):
    """Jobs of one kind that have ended, the last ones."""

    seconds: deque[float]
    walltimes: deque[float]


@dataclass
class Survival:
    """What jobs like this one took, from the machine's to those of the same user, name, size and walltime.

    Each kind of jobs counts by how many of it have ended: n of them have the share n / (n + shrink) of the whole, and
    what is left goes to the next wider kind. Where walltimes differ within a kind, run times count as shares of them.
    A job that runs already is as likely to end at a time as those that ran for so long did: see `Likely.beyond`.
    """

    last: int = 20  # how many jobs of a kind are kept
    shrink: float = 6.0  # as many jobs count as much as all wider kinds together
    fade: float = 0.97  # what the job before counts, by the one after it
    blur: float = 0.15  # how far each run time is smeared: 0.15 = by some 15 %
    _kinds: dict[tuple[float, ...], _Past] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what makes no sense, by the parameter's name."""
        if self.last < 1:
            raise InputError(f"last is {self.last}; give a count from 1 up")
        if not 0 <= self.shrink < math.inf:
            raise InputError(f"shrink is {self.shrink:g}; give a number from 0 up")
        if not 0 < self.fade <= 1:
            raise InputError(f"fade is {self.fade:g}; give a number above 0, up to 1")
        if not 0 <= self.blur < math.inf:
            raise InputError(f"blur is {self.blur:g}; give a number from 0 up")

    def learn(self, asked: Asked, seconds: float) -> None:
        """The job is one more of each of its kinds."""
        for place, kind in enumerate(_kinds_of(asked)):
            if kind not in self._kinds:
                most = _CROWD if place < _CROWDS else self.last
                self._kinds[kind] = _Past(deque(maxlen=most), deque(maxlen=most))
            past = self._kinds[kind]
            past.seconds.append(max(seconds, 0.0))
            past.walltimes.append(asked.walltime)

    def likely(self, asked: Asked) -> Likely:
        """All kinds together, the narrowest first."""
        points, shares, left = [], [], 1.0
        for place, kind in reversed(list(enumerate(_kinds_of(asked)))):
            past = self._kinds.get(kind)
            if past is None:
                continue
            found = _as_asked(past, asked.walltime)
            ages = np.ones(len(found)) if place < _CROWDS else self.fade ** np.arange(len(found))[::-1]
            mine = left * ages.sum() / (ages.sum() + self.shrink)
            points.append(found)
            shares.append(mine * ages / ages.sum())
            left -= mine
        points.append(np.array([by_request(asked.walltime)]))
        shares.append(np.array([left]))
        seconds, weights = np.concatenate(points), np.concatenate(shares)
        if self.blur:
            seconds = (seconds[:, None] * np.exp(self.blur * _STEPS)).ravel()
            weights = (weights[:, None] * _SHARES).ravel()
        return within(Likely.of(seconds, weights), asked.walltime)


_CROWDS = 2
"""The first kinds are of all users."""


def _kinds_of(asked: Asked) -> list[tuple[float, ...]]:
    """From the widest to the narrowest. A first number keeps them apart; only what is known makes a kind."""
    request = asked.walltime if math.isfinite(asked.walltime) else -1.0
    kinds: list[tuple[float, ...]] = [(0,), (1, round(2 * math.log2(1 + request)) if request >= 0 else -1)]
    size = asked.nodes, asked.cores
    if asked.user >= 0:
        kinds += [(2, asked.user), (3, asked.user, request)]
    kinds += [(4, asked.user, request, *size)]
    if asked.name >= 0:
        kinds += [(5, asked.user, asked.name), (6, asked.user, asked.name, request, *size)]
    if asked.array >= 0:
        kinds += [(7, asked.array)]
    return kinds


def _as_asked(past: _Past, walltime: float) -> np.ndarray:
    """Run times as they would be with this walltime: as large a share of it, where theirs was another."""
    seconds, walltimes = np.array(past.seconds), np.array(past.walltimes)
    other = (walltimes != walltime) & np.isfinite(walltimes) & (walltimes > 0)
    if not math.isfinite(walltime) or not other.any():
        return seconds
    seconds[other] *= walltime / walltimes[other]
    return seconds
