"""How policies in plain Python name jobs, and the message where they name none."""

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.core.codes import JobState
from forebay.core.tables import State
from forebay.errors import BadActionError, UnknownJobError, brief


class Naming:
    """The part of a View that knows jobs by their rows."""

    _state: State
    _clock: np.void  # its row
    jobs: np.ndarray
    last_job: int  # for messages: the job that the policy asked about last

    if TYPE_CHECKING:

        @property
        def queue(self) -> np.ndarray:
            """See View."""

    @property
    def _when(self) -> str:
        """How messages on a policy's mistakes begin."""
        return f"at t = {float(self._state.clock[0]['now']):.10g} s the policy"

    def _row(self, job: Any) -> int:
        """The job's row, if it names one."""
        try:
            row = index(job)
        except TypeError:
            raise BadActionError(
                f"{self._when} named a job by {brief(job)}; name it by its row, a whole number, as view.queue does"
            ) from None
        if not 0 <= row < len(self.jobs):
            last = len(self.jobs) - 1
            raise UnknownJobError(
                f"{self._when} named row {row}, but jobs have rows 0 to {last}; use rows of view.queue, not ids"
            )
        self.last_job = row
        return row

    def _waiting(self, job: Any, what: str) -> int:
        """The row of a job that waits."""
        row, counts = self._row(job), self._state.counts[0]
        at = int(self._state.jobs["at"][row])
        if not counts["queue_first"] <= at < counts["queue_last"] or self._state.queue[at] != row:
            raise BadActionError(f"{self._when} asked {what} {self._not_waiting(row)}")
        return row

    def _not_waiting(self, row: int) -> str:
        """A job that does not wait, in words, and how to name one that does: perhaps it was taken for its id."""
        ids, waiting = self.jobs["id"], self.queue
        meant = waiting[ids[waiting] == row]
        hint = f" (job {row} has row {int(meant[0])})" if len(meant) else ""
        here = self.jobs["state"][row] != JobState.UNSUBMITTED  # else the row is blank
        who = f"job {int(ids[row])}, which does not wait" if here else "whose job has not arrived"
        return f"row {row}, {who}; jobs are named by their rows, as view.queue has them, not by their ids{hint}"

    def _line(self, order: Any, verb: str, more: str = "") -> np.ndarray:
        """Jobs that a policy names, as rows."""
        try:
            line = np.ascontiguousarray(order if isinstance(order, np.ndarray) else list(order))
            if line.ndim != 1 or (line.size and line.dtype.kind not in "iu"):
                raise TypeError
        except (TypeError, ValueError):
            raise BadActionError(f"{self._when} {verb.format(brief(order))}; give a list of jobs{more}") from None
        return line.astype(np.int64, copy=False)

    def _reserve(self, reserve: Any) -> str:
        """What reservations hold, as a policy says it."""
        if reserve not in ("all", "nodes"):
            raise BadActionError(f"{self._when}: reserve is {brief(reserve)}; give 'all' or 'nodes'")
        return str(reserve)
