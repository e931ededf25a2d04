"""A future played to its end: when each job starts and ends, and nothing else."""

from typing import Any, NamedTuple

import numpy as np

from forebay._predict._world import Site
from forebay._run.case import case_of
from forebay._run.handing import handed_to
from forebay.core.codes import JobState
from forebay.engine.driver.batch import run
from forebay.workload import Workload


class Played(NamedTuple):
    """Jobs of a future in its order, with times in seconds from now; NaN of those that never start."""

    ids: np.ndarray
    nodes: np.ndarray
    queue: np.ndarray
    submit: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def start_of(self, jobs: np.ndarray) -> np.ndarray:
        """When these start."""
        order = np.argsort(self.ids, kind="stable")
        return self.start[order[np.searchsorted(self.ids, jobs, sorter=order)]]


def play(w: Workload, site: Site, policy: Any = None) -> Played:
    """Run it; results are not put together, which takes longer than a short run."""
    if not len(w):  # nothing runs, waits or comes
        return Played(*(np.empty(0, np.int64) for _ in range(3)), *(np.empty(0) for _ in range(3)))
    case = case_of(w, site.platform, site.policy if policy is None else policy, site.seed, None, None)
    state, truth, notes, draw, rng = case.tables(once=True)
    run(state, truth, case.scheduler, case.platform.resources, rng, None, notes, draw, handed=handed_to(case))
    jobs = state.jobs
    never = np.isin(jobs["state"], (JobState.REJECTED, JobState.UNSUBMITTED, JobState.QUEUED)) | np.isinf(jobs["start"])
    start = np.where(never, np.nan, jobs["start"])
    return Played(
        jobs["id"].copy(),
        jobs["nodes"].copy(),
        case.workload.jobs["queue"].to_numpy(),
        jobs["submit"].copy(),
        start,
        np.where(never, np.nan, jobs["finish"]),
    )
