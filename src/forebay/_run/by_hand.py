"""Decisions by hand: verbs that are checked as they are spoken, and the policy of a run that has no other."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from forebay._support.text import amount
from forebay.core.actions import Actions
from forebay.core.codes import JobState, LogReason
from forebay.core.view import View
from forebay.core.views.profile import Profile
from forebay.errors import OversubscribedError, StartedEarlyError, StartedTwiceError


class ByHand:
    """Decides nothing: the caller that steps through the run does. Sizes of jobs may be changed."""

    resizes = True

    def decide(self, view: View, act: Actions) -> None:
        """Leave all as it is."""


class Hands(Actions):
    """The verbs of a run that is stepped through: a start that cannot be is refused at once, and nothing changes."""

    strict = True
    """Off while a policy decides: what it does is checked when it is carried out, as in every run."""

    def _begin(self) -> None:
        """A new decision."""
        super()._begin()
        self._freed = False  # whether more may be free than when the decision began

    def start(
        self,
        job: int,
        reason: LogReason = LogReason.NONE,
        nodes: int | Iterable[int] | None = None,
        way: int = 0,
        beside: Profile | None = None,
    ) -> None:
        """Start the job's waiting leg now, on the lowest idle nodes, on as many of them as given, or on those given."""
        if self.strict:
            self._check(self._view._row(job), nodes, way)
        super().start(job, reason, nodes, way, beside)

    def interrupt(self, job: int, checkpoint: str = "last") -> None:
        """Stop a running job; see `Actions.interrupt`."""
        self._freed = True
        super().interrupt(job, checkpoint)

    def kill(self, job: int) -> None:
        """End a job, wherever it is."""
        self._freed = True
        super().kill(job)

    def _check(self, row: int, nodes: Any, way: int) -> None:
        view = self._view
        at, state = f"at t = {view.now:.10g} s", JobState(int(view.jobs["state"][row]))
        if state == JobState.UNSUBMITTED:
            raise StartedEarlyError(f"{at} row {row} is not submitted yet; start jobs of view.queue")
        job = f"job {view.jobs['id'][row]}"
        if state != JobState.QUEUED:
            what = "runs already" if state == JobState.RUNNING else f"is {state.name.lower()}"
            raise StartedTwiceError(f"{at} {job} {what}; start jobs of view.queue")
        if row in self._rows_started():
            raise StartedTwiceError(f"{at} {job} was started in this decision; start others, or sim.step()")
        counted = nodes is None or isinstance(nodes, int | np.integer)
        if counted and not self._freed and not self.fits(row, way, nodes):
            raise OversubscribedError(f"{at} {job} does not fit: {self._lacks(row, way, nodes)}; test act.fits(job)")

    def _rows_started(self) -> list[int]:
        rows: list[int] = self._actions["job"][: self._n].tolist()
        return rows

    def _lacks(self, row: int, way: int, nodes: Any) -> str:
        needs = self._view.demands[self._view.leg_of(row, way)].tolist()
        if nodes is not None:
            needs[0] = int(nodes)
        for name, need, left in zip(self._view.resources, needs, self.free, strict=True):
            if need > left:
                return f"it needs {amount(need, name)}, and {left:,} are free"
        return "there is no room where it may run, or on the servers of its buffer"
