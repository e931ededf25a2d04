"""Run times by gradient-boosted trees, a model a quantile, refitted as jobs end; needs scikit-learn."""

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from forebay.errors import InputError
from forebay.learn._base import Asked, Likely, by_request, within

_LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
_FEWEST = 200
"""Jobs that have ended below which there is no model."""
_OWN = 3
"""Last run times of a user that the model sees."""


@dataclass
class Boosted:
    """Gradient-boosted quantiles of scikit-learn (`pip install "forebay[learn]"`), refitted as jobs end.

    A model a quantile sees what the job asks for and the user's last run times. Between its quantiles, run times are
    as likely everywhere, in logarithms. Until 200 jobs have ended the walltime is all there is to say.
    """

    keep: int = 5000  # how many jobs, the last ones, a model is fitted to
    every: float = 0.2  # refitted when so many more have ended, as a share of those it was fitted to
    trees: int = 60
    _rows: deque[list[float]] = field(default_factory=deque, init=False, repr=False)
    _seconds: deque[float] = field(default_factory=deque, init=False, repr=False)
    _users: dict[int, deque[float]] = field(default_factory=dict, init=False, repr=False)
    _models: list[Any] = field(default_factory=list, init=False, repr=False)
    _new: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what makes no sense, and a machine without scikit-learn."""
        if self.keep < _FEWEST:
            raise InputError(f"keep is {self.keep}; give a count from {_FEWEST} up")
        if not 0 < self.every < math.inf:
            raise InputError(f"every is {self.every:g}; give a share above 0, such as 0.2")
        if self.trees < 1:
            raise InputError(f"trees is {self.trees}; give a count from 1 up")
        _library()
        self._rows, self._seconds = deque(maxlen=self.keep), deque(maxlen=self.keep)

    def learn(self, asked: Asked, seconds: float) -> None:
        """Keep the job, as the model would have seen it, and refit now and then."""
        self._rows.append(self._seen(asked))
        self._seconds.append(math.log(max(seconds, 1.0)))
        self._users.setdefault(asked.user, deque(maxlen=_OWN)).append(math.log(max(seconds, 1.0)))
        self._new += 1
        enough = _FEWEST if not self._models else max(_FEWEST, self.every * len(self._rows))
        if self._new >= enough:
            self._fit()

    def likely(self, asked: Asked) -> Likely:
        """Points between the quantiles of the models."""
        if not self._models:
            return Likely.of([by_request(asked.walltime)])
        row = np.array([self._seen(asked)])
        found = np.sort([float(model.predict(row)[0]) for model in self._models])
        shares = (np.arange(20) + 0.5) / 20
        return within(Likely.of(np.exp(np.interp(shares, _LEVELS, found))), asked.walltime)

    def _seen(self, asked: Asked) -> list[float]:
        """What a model sees of a job; -1 is unknown."""
        request = math.log(asked.walltime) if 0 < asked.walltime < math.inf else -1.0
        last = list(self._users.get(asked.user, ()))[::-1]
        last += [-1.0] * (_OWN - len(last))
        numbers = [float(one) for one in (asked.user, asked.name, asked.queue)]
        return [request, math.log(asked.nodes), math.log(1 + asked.cores), *numbers, *last]

    def _fit(self) -> None:
        rows, seconds, make = np.array(self._rows), np.array(self._seconds), _library()
        how = {"loss": "quantile", "max_iter": self.trees, "max_leaf_nodes": 15, "early_stopping": False}
        self._models = [make(quantile=level, random_state=0, **how).fit(rows, seconds) for level in _LEVELS]
        self._new = 0


def _library() -> Any:
    try:
        from sklearn.ensemble import HistGradientBoostingRegressor
    except ImportError:
        raise InputError('scikit-learn is not installed; install it with pip install "forebay[learn]"') from None
    return HistGradientBoostingRegressor
