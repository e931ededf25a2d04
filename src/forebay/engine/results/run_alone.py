"""What results need and logs lack: how long jobs would have run alone."""

import numpy as np

from forebay.core.codes import JobState
from forebay.core.tables import State
from forebay.engine.truth import Truth


def by_itself(state: State, truth: Truth) -> np.ndarray | None:
    """How long jobs with applications take alone at the size that they ask for, and those that were given up."""
    rounds, failed = truth.rounds, state.jobs["state"] == JobState.FAILED
    if not len(rounds.row) and not failed.any():
        return None
    found, scripts = np.full(len(state.jobs), np.nan), truth.scripts
    for j in np.flatnonzero(failed):
        last = state.jobs["last_leg"][j]
        mine = scripts[last - state.legs["number"][last] : last + 1]
        each = [truth.phases["seconds"][leg["first_phase"] : leg["last_phase"]].sum() for leg in mine]
        found[j] = np.where(mine["kills"], np.minimum(each, mine["asked"]), each).sum()
    if len(rounds.row):
        jobs = np.flatnonzero(rounds.row >= 0)
        flex, kills = rounds.jobs[rounds.row[jobs]], scripts["kills"][truth.jobs["leg"][jobs]]
        size = rounds.sizes[flex["first"] + flex["size"]]
        least = np.minimum(size["seconds"], np.where(kills, size["walltime"], np.inf))
        found[jobs] = np.where(size["seconds"] > 0, least, np.nan)
    return found
