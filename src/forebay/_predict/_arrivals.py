"""Who will come: what came at the same time of earlier weeks, or days where there is no week yet."""

from typing import NamedTuple

import numpy as np

from forebay._predict._world import World

DAY, WEEK = 86400.0, 7 * 86400.0
_MOST = 12
"""Weeks to draw from, the last ones: users and their work change."""


class Arrivals(NamedTuple):
    """Jobs of the past that come again, and when, in seconds from now."""

    jobs: np.ndarray
    submit: np.ndarray


class Past:
    """What came before a moment, to draw from."""

    def __init__(self, world: World, time: float) -> None:
        self._submit, self._time = world.submit[: np.searchsorted(world.submit, time, "right")], time
        self._long = time - float(self._submit[0]) if len(self._submit) else 0.0
        self.rhythm = next((one for one in (WEEK, DAY) if self._long >= one), 0.0)
        """Seconds after which it is the same time again; 0 = not known, and no job is expected to come."""

    def draw(self, rng: np.random.Generator, horizon: float) -> Arrivals:
        """One possible course of the next `horizon` seconds: whole weeks of the past, each drawn by itself.

        Work of a week stays together, so that a user's sessions and busy days stay what they were.
        """
        if not self.rhythm:
            return Arrivals(np.empty(0, np.int64), np.empty(0))
        rounds = min(int(self._long // self.rhythm), _MOST)
        jobs, submit = [], []
        for begin in np.arange(0.0, horizon, self.rhythm):
            back = self.rhythm * int(rng.integers(1, rounds + 1)) + begin
            low, high = np.searchsorted(
                self._submit,
                [self._time + begin - back, self._time + min(begin + self.rhythm, horizon) - back],
                "right",
            )
            jobs.append(np.arange(low, high))
            submit.append(self._submit[low:high] + back - self._time)
        return Arrivals(np.concatenate(jobs), np.concatenate(submit))
