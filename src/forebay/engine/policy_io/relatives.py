"""Who waits for whom, among jobs that are submitted: what users have said of them, and so no policy looks ahead."""

import numpy as np

from forebay.core.codes import JobState
from forebay.core.tables import State
from forebay.engine.dependencies.tables import Dependencies, Kind, Standing
from forebay.engine.truth import Truth

_TO_COME = (Standing.AHEAD, Standing.DOOMED)


class Kin:
    """The family of a run: see `forebay.core.views.relatives`."""

    def __init__(self, state: State, truth: Truth):
        self._state, self._walltime = state, truth.jobs["walltime"]
        self._waits: Dependencies = truth.dependencies
        self._order = np.argsort(self._waits.edges["child"], kind="stable")  # of edges, by child and then parent
        self._parent = np.repeat(np.arange(len(self._waits.jobs)), np.diff(self._waits.first))
        self._paths: dict[int, float] = {}
        self._submitted = -1  # how many jobs were, when these were worked out

    def is_known(self, job: int) -> bool:
        """Whether a job is submitted: who waits for others is blank in State until it joins the queue."""
        standing = self._waits.jobs["standing"][job]
        if standing == Standing.FREE:
            return bool(self._state.jobs["state"][job] != JobState.UNSUBMITTED)
        return standing not in _TO_COME

    def children(self, job: int) -> list[int]:
        """Those that wait for it."""
        rows = {int(self._waits.edges["child"][e]) for e in self._edges(job)}
        return sorted(row for row in rows if self.is_known(row))

    def parents(self, job: int) -> list[int]:
        """Those that it waits for."""
        child = self._waits.edges["child"]
        low, high = np.searchsorted(child, [job, job + 1], sorter=self._order)
        rows = set(self._parent[self._order[low:high]].tolist())
        return sorted(row for row in rows if self.is_known(row))

    def critical_path(self, job: int) -> float:
        """Seconds until the last job behind it could end; worked out from the last ones on, once for each job."""
        submitted = int(self._waits.counts[0]["submitted"])
        if submitted != self._submitted:
            self._submitted = submitted
            self._paths.clear()
        open_ = [job]
        while open_:
            row = open_[-1]
            missing = [child for child in self.children(row) if child not in self._paths]
            if missing:
                open_ += missing
            else:
                self._paths[row] = self._longest(row)
                open_.pop()
        return self._paths[job]

    def _longest(self, job: int) -> float:
        """Its path, where those of its children are known."""
        walltime = float(self._walltime[job])
        longest = walltime
        for e in self._edges(job):
            edge = self._waits.edges[e]
            if self.is_known(int(edge["child"])):
                begin = 0.0 if edge["kind"] == Kind.AFTER else walltime
                longest = max(longest, begin + float(edge["delay"]) + self._paths[int(edge["child"])])
        return longest

    def _edges(self, job: int) -> range:
        return range(int(self._waits.first[job]), int(self._waits.first[job + 1]))
