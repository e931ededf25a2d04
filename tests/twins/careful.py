"""Jobs that write checkpoints, for the slow twin of failures, and the failures that are drawn."""

import math
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from twins.jobs import Job

DRAWS = 4096  # of times, then of nodes
LEAST = 1e-6  # seconds that are left of any walltime


@dataclass(eq=False)
class Careful(Job):
    """A job with what it has saved."""

    rules: list = field(default_factory=list)  # by leg: period, save and recover in seconds, nodes; None = unguarded
    safe: tuple | None = None  # (phase, part of it that is done) where it goes on
    saved: float = 0.0  # work up to there
    worked: float = 0.0  # since then, but for the piece under way
    at: tuple = (0, 0.0)  # where it is, if it were saved now
    life: Generator | None = None  # of the running leg, if that is guarded
    step: str = ""  # work, save or recover
    step_began: float = math.nan
    deadline: float = math.inf
    leaves: float = math.inf  # when it is expected to stop as asked
    asked: str = ""  # to leave at its "next" checkpoint, or at one that it writes "now"
    attempts: int = 0
    urgency: int = 0

    @property
    def rule(self):
        """Of the current leg."""
        return self.rules[self.leg]

    @property
    def walltime(self):
        """Work that may be left, with the checkpoints to come and the recovery."""
        asked = self.legs[self.leg].walltime
        if self.rule is None or asked == math.inf:
            return asked
        left = max(asked - self.saved, LEAST)
        saves = max(math.ceil(left / self.rule.period - 1e-9) - 1, 0)
        return left + saves * self.rule.save + (self.rule.recover if self.safe else 0.0)

    @property
    def expected_end(self):
        """The walltime's, or when it is to leave."""
        return min(self.deadline, self.leaves)


def drawn(failures, nodes, seed):
    """Failures for ever, as (time, u, downtime)."""
    rng = np.random.default_rng(np.random.SeedSequence(seed if failures.seed < 0 else failures.seed).spawn(2)[1])
    scale, time = failures.machine_mtbf(nodes) / math.gamma(1 + 1 / failures.shape), 0.0
    while True:
        gaps, strikes = scale * rng.weibull(failures.shape, DRAWS), rng.random(DRAWS)
        for gap, u in zip(gaps, strikes, strict=True):
            time += float(gap)
            yield time, float(u), failures.downtime
