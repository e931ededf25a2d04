"""One question: jobs of a moment, and so many futures of it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forebay._predict._futures import Present, futures
from forebay._predict._playing import Played, play
from forebay._predict._world import Learned

_LEAST, _MOST = 86400.0, 14 * 86400.0
"""Seconds for which newcomers are drawn, at least and at most."""


@dataclass(frozen=True)
class Asked:
    """Futures of a moment, and the one that Slurm assumes."""

    requested: Played
    played: list[Played]
    horizon: float

    def starts(self, jobs: np.ndarray) -> np.ndarray:
        """Of each job, a row: when it starts in each future, 0 or later."""
        found = np.stack([one.start_of(jobs) for one in self.played], axis=1)
        # A future in which a job never starts has ended before: later than all that was drawn.
        return np.maximum(np.where(np.isnan(found), 2 * self.horizon, found), 0.0)

    def slurm(self, jobs: np.ndarray) -> np.ndarray:
        """When each would start by walltimes, without newcomers."""
        found = self.requested.start_of(jobs)
        return np.maximum(np.where(np.isnan(found), 2 * self.horizon, found), 0.0)


def ask(
    found: Present,
    learned: Learned,
    rng: np.random.Generator,
    number: int,
    watch: Callable[[], None] = lambda: None,
    horizon: float | None = None,
) -> Asked:
    """Play them. Newcomers are drawn for as long as the last of the waiting jobs may wait, and half of it longer."""
    site = found.world.site_at(found.time)
    requested = play(found.requested(), site)
    if horizon is None:
        waits = requested.start[requested.start > 0]
        horizon = float(np.clip(1.5 * waits.max(initial=0.0), _LEAST, _MOST))
    played = []
    for future in futures(found, learned, rng, number, horizon):
        played.append(play(future, site))
        watch()
    return Asked(requested, played, horizon)


def rng_of(seed: int, *key: int) -> np.random.Generator:
    """Draws of one moment, whatever was asked before."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(47, *key)))
