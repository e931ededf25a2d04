"""What a policy in plain Python may ask of the future, and the building blocks that answer it."""

from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from forebay.core.codes import JobState
from forebay.core.tables import State
from forebay.errors import BadActionError, UnknownJobError, brief


class Profile(NamedTuple):
    """What will be free when, as walltimes tell: `free[i]` from `times[i]` up to the next time, the last for ever.

    Parameters
    ----------
    times
        Seconds, ascending; the first is now.
    free
        A row a time, a column a resource, as in `view.resources`.
    room
        A row a time, a column a server of a chunked buffer: its free bytes. No columns where buffers are pooled.
    """

    times: np.ndarray
    free: np.ndarray
    room: np.ndarray

    def at(self, time: float) -> np.ndarray:
        """What of each resource is free at a time, not before the first."""
        row: np.ndarray = self.free[max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)]
        return row


class Blocks(Protocol):
    """The kernels of the built-in policies, for those in plain Python. Whoever runs a policy hands them in."""

    def backfill(
        self, order: str | np.ndarray, descending: bool, reserve: str, depth: int | None, expected: np.ndarray
    ) -> tuple[np.ndarray, int]:
        """Write the starts of a line of jobs; returns what they leave, and the place of a wrong one (-1: none is).

        A depth of None is conservative: all hold a reservation.
        """

    def earliest(self, job: int) -> float: ...
    def fits_at(self, job: int, time: float) -> bool: ...
    def profile(self) -> Profile: ...
    def victims(self, job: int, candidates: np.ndarray) -> np.ndarray: ...


class Outlook:
    """The part of a View that looks ahead: running jobs, and those that this decision has started, end as expected."""

    _state: State
    _blocks: Blocks | None
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

    def _kernels(self) -> Blocks:
        if self._blocks is None:
            raise BadActionError(f"{self._when} has no building blocks here; run it by forebay.simulate")
        return self._blocks

    def earliest(self, job: int) -> float:
        """When the waiting job could start if nobody else does; inf if nothing known makes room for it.

        Counts what this decision has started, nodes that are down, and reservations of the site. The job must find what
        it needs for all of its walltime.

        Parameters
        ----------
        job
            Its row, as in `view.queue`.

        Examples
        --------
        >>> class Tells(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill()
        ...         if view.now == 180:
        ...             print([view.earliest(job) for job in view.queue])
        >>> result = fb.simulate("table1", policy=Tells())
        [600.0, 300.0, 300.0]
        """
        return self._kernels().earliest(self._waiting(job, "for the earliest start of"))

    def fits_at(self, job: int, time: float) -> bool:
        """Whether the waiting job, started at `time`, would find all that it needs for all of its walltime.

        Parameters
        ----------
        job
            Its row, as in `view.queue`.
        time
            Seconds, not before now.

        Examples
        --------
        >>> class Tells(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill()
        ...         if view.now == 180:
        ...             print([view.fits_at(job, 300) for job in view.queue])
        >>> result = fb.simulate("table1", policy=Tells())
        [False, True, True]
        """
        try:
            seconds = float(time)
        except (TypeError, ValueError):
            seconds = float("nan")
        if not seconds >= self._state.clock[0]["now"]:
            raise BadActionError(
                f"{self._when} asked whether a job fits at {brief(time)}; give seconds from view.now on"
            )
        return self._kernels().fits_at(self._waiting(job, "whether there is room for"), seconds)

    def profile(self) -> Profile:
        """What will be free when, as walltimes tell, after what this decision has started.

        Examples
        --------
        >>> class Tells(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill()
        ...         if view.now == 0:
        ...             print(view.profile().times, view.profile().free[:, 0])
        >>> result = fb.simulate("table1", policy=Tells())
        [  0. 240. 600.] [2 3 4]
        """
        return self._kernels().profile()
