"""What a policy will know of the I/O of each job, and what it is learned from."""

from typing import NamedTuple

import numpy as np

from forebay.core.running import KNOWN_IO


class IoKnowledge(NamedTuple):
    """All of it; empty where no policy asks."""

    jobs: np.ndarray  # KNOWN_IO[job], as it will be shown; where it is learned, what is shown of a user without jobs
    exact: np.ndarray  # KNOWN_IO[job], what a job that has ended has shown; empty where nothing is learned
    learner: np.ndarray  # int64[job]: the row of its user in `last`; the last row is that of all users together
    last: np.ndarray  # int64[row, 2]: the jobs that completed last, the later one first; -1 = there is none


def make_knowledge(n_jobs: int = 0, n_learners: int = 0) -> IoKnowledge:
    """Tables of the right size, blank."""
    n_learned = n_jobs if n_learners else 0
    return IoKnowledge(
        jobs=np.zeros(n_jobs, KNOWN_IO),
        exact=np.zeros(n_learned, KNOWN_IO),
        learner=np.zeros(n_learned, np.int64),
        last=np.full((n_learners, 2), -1, np.int64),
    )


def of_run(knowledge: IoKnowledge | None) -> IoKnowledge:
    """The tables for a run of its own: what runs change is copied."""
    if knowledge is None:
        return make_knowledge()
    return knowledge._replace(last=knowledge.last.copy())
