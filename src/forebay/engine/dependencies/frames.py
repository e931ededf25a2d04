"""When jobs were free to start, in results."""

import numpy as np

from forebay.core.tables import State
from forebay.engine.dependencies.tables import Standing
from forebay.engine.limits.tables import Place
from forebay.engine.truth import Truth


def eligible_of(state: State, truth: Truth) -> np.ndarray | None:
    """When each job joined the queue, if some waited for others or outside; to policies, they were submitted then."""
    waits, place = truth.dependencies.jobs, truth.meters.place
    if not len(waits) and not len(place):
        return None
    gone = np.zeros(len(state.jobs), bool)
    if len(waits):
        gone |= waits["standing"] == Standing.GONE
    if len(place):
        gone |= place == Place.LEFT
    eligible: np.ndarray = np.where(gone, np.nan, state.jobs["submit"])
    return eligible
