"""What an estimator knows of run times at ever later moments of a world."""

from typing import Any

import numpy as np

from forebay._predict._world import World
from forebay.learn import Estimator, Likely, load


class Learned:
    """An estimator that has seen what ended up to a time, and goes on to later ones."""

    def __init__(self, world: World, estimator: Any) -> None:
        self.world = world
        self.estimator: Estimator = load(estimator)
        ends = np.where(np.isnan(world.end) | np.isnan(world.start), np.inf, world.end)
        self._order = np.argsort(ends, kind="stable")
        self._ends = ends[self._order]
        self._seen = 0

    def to(self, time: float) -> "Learned":
        """Learn from what has ended by then."""
        until = int(np.searchsorted(self._ends, time, "right"))
        world = self.world
        for j in self._order[self._seen : until]:
            self.estimator.learn(world.asked[j], float(world.end[j] - world.start[j]))
        self._seen = max(until, self._seen)
        return self

    def likely(self, job: int, elapsed: float = 0.0) -> Likely:
        """How long a job of the world takes in all, where it has run for `elapsed` seconds already."""
        asked = self.world.asked[job]
        found = self.estimator.likely(asked)
        return found.beyond(elapsed, asked.walltime) if elapsed > 0 else found
