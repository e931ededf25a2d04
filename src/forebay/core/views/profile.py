"""What will be free when, and the reservations that a policy in plain Python lays into it."""

from collections.abc import Iterable
from typing import Any, Protocol, Self

import numpy as np

from forebay.core.views.naming import Naming
from forebay.errors import BadActionError, brief

NOT_WAITING = -2
"""What `Space.lay` returns, less its place, if a job does not wait."""


class Space(Protocol):
    """The nodes and resources of a profile, over time; the run hands it in.

    `spans` has the beginning and the end of each job's reservation.
    """

    def amounts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, free resources and free room of servers."""

    def lay(self, jobs: np.ndarray, spans: np.ndarray, only: bool, keeps: bool) -> int:
        """Find the earliest time from spans[i, 0] on for each job in turn, or see whether it fits at that time `only`.

        With `keeps` it holds what it takes then. Returns the place of the first that does not fit, else -1; or
        NOT_WAITING less the place of one that does not wait.
        """

    def give_back(self, job: int) -> None: ...
    def start(self, job: int) -> np.ndarray | None:
        """Write the start of a job where it has room, and hold that; what is left now of each resource."""

    def copy(self) -> "Space": ...


class Profile:
    """What will be free when, as walltimes tell, and room for reservations of your own.

    It is of the decision in which `view.profile()` made it: running jobs, and those that the decision has started, end
    by their walltimes, nodes are repaired, and reservations of the site hold. A job that holds a reservation takes its
    nodes and resources over [start, start + walltime), by the arithmetic of the built-in policies: on chunked buffers
    it holds room on servers, with classes and partitions nodes of each, and on shared nodes particular nodes.

    Jobs are rows of `view.jobs`, as in `view.queue`. A job of several ways to run is laid in its first way.

    Examples
    --------
    Conservative backfilling: everybody holds a reservation, in order of arrival.

    >>> class Conservative(fb.Policy):
    ...     def decide(self, view, act):
    ...         profile = view.profile()
    ...         for job in view.queue:
    ...             start = profile.earliest(job)
    ...             if start == view.now:
    ...                 act.start(job, beside=profile)
    ...             else:
    ...                 profile.reserve(job, start)
    >>> mine, built_in = fb.simulate("table1", policy=Conservative()), fb.simulate("table1", policy="conservative-bb")
    >>> mine.jobs["starting_time"].equals(built_in.jobs["starting_time"])
    True
    """

    def __init__(self, naming: Naming, space: Space):
        self._naming, self._space = naming, space
        self._made = self._now()
        self._holders = dict[int, float]()
        self._nowhere = set[int]()  # reserved for at inf: they hold nothing, and may be released all the same
        self._shown: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def __repr__(self) -> str:
        return f"<Profile at {self._made:,.10g} s: {len(self.times):,} times, {len(self._holders):,} reserved>"

    @property
    def times(self) -> np.ndarray:
        """Seconds, ascending, at which what is free changes; the first is now."""
        return self._amounts()[0]

    @property
    def free(self) -> np.ndarray:
        """What is free from each of the times on, the last for ever: a row a time, a column a resource.

        Resources are those of `view.resources`; with reserve="nodes" the first one alone, nodes.
        """
        return self._amounts()[1]

    @property
    def room(self) -> np.ndarray:
        """The same of each server of a chunked buffer: its free bytes. No columns where buffers are pooled."""
        return self._amounts()[2]

    @property
    def reserved(self) -> dict[int, float]:
        """Who holds a reservation, and when it begins."""
        return dict(self._holders)

    def at(self, time: float) -> np.ndarray:
        """What of each resource is free at a time, not before the first.

        Parameters
        ----------
        time
            Seconds.
        """
        times, free, _ = self._amounts()
        row: np.ndarray = free[max(int(np.searchsorted(times, time, side="right")) - 1, 0)]
        return row

    def earliest(self, job: int, after: float | None = None) -> float:
        """The earliest time at which the waiting job fits for its whole walltime; inf if there is none.

        What it holds itself counts as taken: release that first.

        Parameters
        ----------
        job
            Its row.
        after
            Not before this time, in seconds; without it, not before now.
        """
        first = self._made if after is None else self._time(after, "for a start after")
        return max(self._ask(job, first, False, False)[0], first)

    def earliest_each(self, jobs: Iterable[int], after: float | None = None) -> np.ndarray:
        """The same of each of these jobs, in one go; none of them takes anything from the others.

        Parameters
        ----------
        jobs
            Rows of waiting jobs.
        after
            Not before this time, in seconds; without it, not before now.

        Returns
        -------
        numpy.ndarray
            When each could start; inf where nothing has room.
        """
        first = self._made if after is None else self._time(after, "for starts after")
        starts: np.ndarray = np.maximum(self._lay(jobs, first, False, False)[0][:, 0], first)
        return starts

    def fits(self, job: int, start: float) -> bool:
        """Whether the waiting job, started then, would find all that it needs for its whole walltime.

        Parameters
        ----------
        job
            Its row.
        start
            Seconds, not before now.
        """
        return self._ask(job, self._time(start, "whether a job fits at"), True, False)[1] < 0

    def reserve(self, job: int, start: float) -> None:
        """Hold what the waiting job needs from `start` on for its whole walltime. It must fit; see `fits`.

        Parameters
        ----------
        job
            Its row. It must hold no reservation yet.
        start
            Seconds, not before now; inf, for a job that nothing has room for, holds nothing.
        """
        time = self._time(start, "for a reservation at")
        if self._naming._row(job) in self._holders:
            raise self._twice(int(job))
        if time == np.inf:
            self._nowhere.add(int(job))
            return
        begin, wrong = self._ask(job, time, True, True)
        if wrong >= 0:
            soonest = self._ask(job, time, False, False)[0]
            raise BadActionError(
                f"{self._naming._when} reserved for {self._name(job)} at {time:.10g} s, where it does not fit; "
                f"profile.earliest(job, after) tells where it does, from then on first at {soonest:.10g} s"
            )
        self._holders[int(job)] = begin
        self._nowhere.discard(int(job))

    def lay(self, jobs: Iterable[int], after: float | None = None) -> np.ndarray:
        """Reserve for each of these jobs in turn at its earliest time. In one go this takes a tenth of the time.

        Parameters
        ----------
        jobs
            Rows of waiting jobs that hold no reservation, each once.
        after
            None of them begins before this time, in seconds; without it, not before now.

        Returns
        -------
        numpy.ndarray
            When each begins; inf for those that nothing has room for: these hold nothing.
        """
        first = self._made if after is None else self._time(after, "for starts after")
        rows = self._naming._line(jobs, "gave a profile {}")
        names: list[int] = rows.tolist()
        if not self._holders.keys().isdisjoint(names) or len(set(names)) < len(names):
            raise self._twice(next(job for k, job in enumerate(names) if job in self._holders or job in names[:k]))
        if first == np.inf:  # never: nothing is held from then on
            starts = np.full(len(rows), np.inf)
        else:
            starts = self._lay(rows, first, False, True)[0][:, 0].copy()
        self._holders.update(zip(names, starts.tolist(), strict=True))
        if len(starts) and starts.max() == np.inf:
            self._nowhere |= {job for job, start in self._holders.items() if start == np.inf}
            self._holders = {job: start for job, start in self._holders.items() if start < np.inf}
        return starts

    def plan(self, jobs: Iterable[int], after: float | None = None) -> np.ndarray:
        """When each would begin if `lay` were called with these; nothing is held.

        Parameters
        ----------
        jobs
            Rows of waiting jobs, each once.
        after
            None of them begins before this time, in seconds; without it, not before now.

        Returns
        -------
        numpy.ndarray
            As that of `lay`.
        """
        first = self._made if after is None else self._time(after, "for starts after")
        starts: np.ndarray = self._lay(jobs, first, False, True, self._space.copy())[0][:, 0]
        return starts

    def release(self, job: int) -> None:
        """Give back what the reservation of a job holds: nothing, if it was reserved for at inf.

        Parameters
        ----------
        job
            Its row.
        """
        self._check_fresh()
        row = self._naming._row(job)
        if row in self._nowhere:
            self._nowhere.discard(row)
            return
        if row not in self._holders:
            raise BadActionError(f"{self._naming._when} released {self._name(job)}, which holds no reservation here")
        del self._holders[int(job)]
        self._space.give_back(int(job))
        self._shown = None

    def copy(self) -> Self:
        """The same once more, to try something out."""
        made = type(self)(self._naming, self._space.copy())
        made._made, made._holders, made._nowhere = self._made, self._holders.copy(), self._nowhere.copy()
        return made

    def _start(self, job: int) -> np.ndarray:
        """Write the start of a job in its place here; what is left now of each resource."""
        row = self._naming._waiting(job, "for the start of")
        self._check_fresh()
        if self._holders.get(row, self._made) > self._made:
            raise BadActionError(
                f"{self._naming._when} started {self._name(row)} beside a profile in which it holds a reservation from "
                f"{self._holders[row]:.10g} s on; release that first"
            )
        if row in self._holders:
            self.release(row)
        left = self._space.start(row)
        self._shown = None
        if left is None:
            raise BadActionError(
                f"{self._naming._when} started {self._name(row)} beside a profile that has no room for it now; "
                "test profile.fits(job, view.now) first, and act.fits(job) where reservations hold nodes alone"
            )
        return left

    def _ask(self, job: int, first: float, only: bool, keeps: bool) -> tuple[float, int]:
        """When a job begins that is laid by itself, and whether it does not: see `Space`."""
        spans, wrong = self._lay([self._naming._row(job)], first, only, keeps)
        return float(spans[0, 0]), wrong

    def _lay(
        self, jobs: Iterable[int], first: float, only: bool, keeps: bool, space: Space | None = None
    ) -> tuple[np.ndarray, int]:
        rows = self._naming._line(jobs, "gave a profile {}")
        self._check_fresh()
        spans = np.empty((len(rows), 2))
        spans[:] = first
        wrong = (space or self._space).lay(rows, spans, only, keeps)
        if wrong <= NOT_WAITING:
            row = self._naming._row(rows[NOT_WAITING - wrong])
            raise BadActionError(f"{self._naming._when} asked a profile about {self._naming._not_waiting(row)}")
        if keeps:
            self._shown = None
        return spans, wrong

    def _amounts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._shown is None:
            self._shown = self._space.amounts()
        return self._shown

    def _now(self) -> float:
        return float(self._naming._clock["now"])

    def _check_fresh(self) -> None:
        if self._now() != self._made:
            raise BadActionError(
                f"{self._naming._when} used a profile that it made at {self._made:.10g} s; call view.profile() in each "
                "decision, as what is free changes"
            )

    def _time(self, time: Any, what: str) -> float:
        """A time that a policy names, not before now."""
        try:
            seconds = float(time)
        except (TypeError, ValueError):
            seconds = float("nan")
        if not seconds >= self._made:
            raise BadActionError(
                f"{self._naming._when} asked a profile {what} {brief(time)}; give seconds from view.now on"
            )
        return seconds

    def _name(self, job: int) -> str:
        return f"job {int(self._naming.jobs['id'][job])} (row {int(job)})"

    def _twice(self, job: int) -> BadActionError:
        return BadActionError(
            f"{self._naming._when} reserved for {self._name(job)} twice in one profile; release it first"
        )
