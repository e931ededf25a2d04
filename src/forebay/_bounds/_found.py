"""A bound that was found."""

from typing import NamedTuple

import numpy as np

from forebay._bounds._jobs import Jobs


class Found(NamedTuple):
    """No schedule has less than `value` of the metric."""

    metric: str
    bound: str  # how it was found
    value: float
    resource: str  # that makes it so; several are joined by +; "" = none does
    proved: str = ""  # where a solver was stopped early: of how much it is proved
    best: float | None = None  # the metric of the best schedule found, where one was looked for


class Mix(NamedTuple):
    """Resources counted together, each by its share of the machine: whatever fits, fits on this one too."""

    name: str
    share: np.ndarray  # float64[resource], together 1

    def load(self, jobs: Jobs, area: np.ndarray) -> np.ndarray:
        """What jobs take of it, in seconds of the whole machine."""
        load: np.ndarray = area @ (self.share / np.maximum(jobs.capacity, 1))
        return load


def mixes(jobs: Jobs) -> list[Mix]:
    """Every resource that jobs use, each alone, and the two that they use most half and half."""
    use = np.where(jobs.capacity > 0, jobs.area.sum(axis=0) / np.maximum(jobs.capacity, 1), 0.0)
    used = [int(r) for r in np.argsort(-use, kind="stable") if use[r] > 0]
    unit = np.eye(len(use))
    found = [Mix(jobs.resources[r], unit[r]) for r in used]
    if len(used) > 1:
        both = sorted(used[:2])
        found.append(Mix(" + ".join(jobs.resources[r] for r in both), unit[both].mean(axis=0)))
    return found
