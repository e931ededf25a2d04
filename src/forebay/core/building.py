"""The verbs of a policy in plain Python that the kernels of the built-in policies carry out."""

from collections.abc import Iterable
from operator import index
from typing import Any, Protocol

import numpy as np

from forebay.core.codes import JobState, LogReason, Resume, Verb
from forebay.core.view import View
from forebay.core.views.profile import Profile
from forebay.errors import BadActionError, brief

_NOTHING = np.zeros(0)


class Places(Protocol):
    """Where jobs would go, after what this decision has started."""

    matter: bool  # whether fitting depends on places, not on amounts alone

    def begin(self) -> None: ...
    def fits(self, job: int) -> bool: ...
    def pick(self, nodes: list[int]) -> tuple[int, int]: ...
    def place(self, job: int, nodes: list[int] | None = None, count: int | None = None) -> tuple[int, int]: ...
    def follow(self, actions: np.ndarray) -> None: ...
    def idle(self, actions: np.ndarray) -> np.ndarray: ...


class Building:
    """The part of Actions that is made of building blocks: whole lines of starts, and starts in others' place."""

    _view: View
    _counts: np.void
    _actions: np.ndarray
    _places: Places
    _n: int
    _left: list[int] | None
    _uncounted: list[tuple[int, int, list[int] | None]]
    _odd: bool
    _displaced: bool

    def _add(self, verb: int, job: int, reason: int = LogReason.NONE) -> np.void:
        raise NotImplementedError

    def backfill(
        self,
        order: str | Iterable[int] = "arrival",
        reserve: str = "all",
        depth: int = 1,
        conservative: bool = False,
        *,
        descending: bool = False,
        expected: Iterable[float] | None = None,
    ) -> list[int]:
        """Start jobs in an order until one does not fit; reserve for it, and let others pass that do not delay it.

        The kernel of the built-in policies does it: on chunks, kinds, classes and partitions and on shared nodes as
        they do. What this decision has started before counts; jobs that it has started or turned away are left out.

        Parameters
        ----------
        order
            Waiting jobs, first first: any of them, each once; those left out neither start nor hold a reservation. Or
            what to order the queue by: "arrival", "walltime", "priority", "nodes", "area", "user", "group" or "queue",
            ties by id.
        reserve
            What reservations hold: "all" resources, or "nodes" alone.
        depth
            How many jobs that cannot start hold a reservation; 0 lets everybody pass who fits.
        conservative
            Reserve for all of them, whatever `depth` is.
        descending
            Whether the largest goes first, in an order by a word.
        expected
            Seconds that each job is expected to take, running ones in all, by row of `view.jobs`; 0 where that is its
            walltime. Without it, walltimes count. The engine still ends jobs at these.

        Returns
        -------
        list of int
            The jobs that it has started.

        Examples
        --------
        >>> class LargestFirst(fb.Policy):
        ...     def decide(self, view, act):
        ...         act.backfill("area", descending=True)
        >>> fb.simulate("table1", policy=LargestFirst())
        <Result of LargestFirst: 8 jobs on 4 nodes, mean wait 2.62 min>
        """
        self._check_plain("called act.backfill", "backfill")
        hint = f", or a word such as {'area'!r}"
        line = order if isinstance(order, str) else self._view._line(order, "gave act.backfill {} as its order", hint)
        deep = None if conservative else self._depth(depth)
        held = self._view._reserve(reserve)
        seconds = _NOTHING if expected is None else self._seconds(expected)
        left, wrong = self._view._kernels().backfill(line, bool(descending), held, deep, seconds)
        if wrong >= 0:
            row = self._view._row(line[wrong])
            twice = f"row {row} twice, job {int(self._view.jobs['id'][row])}; give rows of view.queue, each once"
            fault = twice if row in line[:wrong] else self._view._not_waiting(row)
            raise BadActionError(f"{self._view._when} gave act.backfill {fault}")
        jobs: list[int] = self._take_in(left)["job"].tolist()
        return jobs

    def _start_beside(self, row: int, profile: Profile, reason: int) -> None:
        """Start a job in its place in a profile."""
        self._check_plain("started a job beside a profile", "start such jobs")
        left = profile._start(row)
        self._take_in(left)["reason"] = reason

    def _check_plain(self, did: str, instead: str) -> None:
        """Refuse kernels what only the engine can tell: what others leave, and other ways and sizes."""
        if self._displaced:
            raise BadActionError(
                f"{self._view._when} {did} after act.preempt; return: it is called again in this instant"
            )
        if self._odd:
            raise BadActionError(
                f"{self._view._when} {did} after it started a job in another way or size, or resized one; {instead} "
                "first, in the same decision"
            )

    def _take_in(self, left: np.ndarray) -> np.ndarray:
        """The starts that a kernel has written, which leave so much of each resource."""
        first, self._n = self._n, int(self._counts["n_actions"])
        started = self._actions[first : self._n]
        if self._n > first:
            self._left = left.tolist()
            self._uncounted.clear()
            if self._places.matter:
                self._places.follow(started)
        return started

    def preempt(self, job: int, candidates: Iterable[int], *, cancel: bool = False) -> list[int]:
        """Start a waiting job in the place of running ones, if enough of them can give way; few of them do.

        They are asked in the order given until the job fits. Of those found, the largest are asked again first, and
        who is no longer needed runs on. Victims start again from their last checkpoint, or from the beginning. The
        policy is called again in this instant: return after it.

        Parameters
        ----------
        job
            The waiting job, by its row. One that fits already displaces nobody: start it.
        candidates
            Running jobs, who gives way first first. Those that start in this instant are passed over.
        cancel
            Whether victims are over, and do not wait again.

        Returns
        -------
        list of int
            The jobs that give way; nobody, and then nothing happens, if all of them are too few.

        Examples
        --------
        >>> class Shortest(fb.Policy):
        ...     def decide(self, view, act):
        ...         for job in sorted(view.queue, key=view.walltime):
        ...             if act.fits(job):
        ...                 act.start(job)
        ...             elif act.preempt(job, [one for one in view.running["job"] if view.walltime(one) > 600]):
        ...                 return
        >>> fb.simulate("table1", policy=Shortest())
        <Result of Shortest: 8 jobs on 4 nodes, mean wait 2.38 min>
        """
        row = self._view._waiting(job, "for room for")
        if row in self._started():
            raise BadActionError(f"{self._view._when} asked for room for {self._begun(row)}")
        line = self._candidates(candidates)
        found: list[int] = self._view._kernels().victims(row, line).tolist()
        for one in found:
            self._add(Verb.INTERRUPT, one)["way"] = Resume.LAST
            if cancel:
                self._add(Verb.KILL, one)
        if found:
            self._add(Verb.START, row, reason=LogReason.IN_ORDER)  # the engine places it, on what the others leave
            self._displaced = True
        return found

    def _candidates(self, candidates: Iterable[int]) -> np.ndarray:
        """Running jobs that a policy names, each once."""
        line = self._view._line(candidates, "gave act.preempt {} as its order")
        states, started = self._view.jobs["state"], self._started()
        for one in line.tolist():
            if self._view._row(one) in started:
                raise BadActionError(f"{self._view._when} gave act.preempt {self._begun(one)}")
            if states[one] != JobState.RUNNING:
                number = int(self._view.jobs["id"][one])
                raise BadActionError(f"{self._view._when} gave act.preempt job {number}, which does not run")
        if len(np.unique(line)) < len(line):
            raise BadActionError(f"{self._view._when} gave act.preempt a job twice; give each once")
        return line

    def _started(self) -> set[int]:
        """Jobs that this decision has started so far."""
        written = self._actions[: min(self._n, len(self._actions))]
        return set(written["job"][written["verb"] == Verb.START].tolist())

    def _begun(self, row: int) -> str:
        """A job that this decision has started, in words."""
        return (
            f"job {int(self._view.jobs['id'][row])} (row {row}), which it has started already in the same decision, by "
            "act.start or by act.backfill, which returns the jobs that it starts; leave these out"
        )

    def _depth(self, depth: Any) -> int:
        try:
            whole = index(depth)
        except TypeError:
            whole = -1
        if whole < 0:
            raise BadActionError(f"{self._view._when}: depth is {brief(depth)}; give a count of reservations from 0 up")
        return whole

    def _seconds(self, expected: Iterable[float]) -> np.ndarray:
        try:
            seconds = np.ascontiguousarray(
                expected if isinstance(expected, np.ndarray) else list(expected), dtype=np.float64
            )
        except (TypeError, ValueError):
            seconds = _NOTHING
        if seconds.shape != (len(self._view.jobs),) or not (seconds >= 0).all():
            raise BadActionError(
                f"{self._view._when} gave act.backfill {brief(expected)} as expected seconds; give a number from 0 up "
                "for each row of view.jobs"
            )
        return seconds
