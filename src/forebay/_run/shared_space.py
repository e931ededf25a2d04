"""What profiles of shared nodes are made of: a calendar of each node, and of pools."""

from typing import Any

import numpy as np

from forebay._run.spaces import Amounts, Kernels
from forebay.algorithms.availability.timelines import Timelines
from forebay.core.tables import PICK, State
from forebay.core.views.profile import NOT_WAITING
from forebay.policies._kernels.availability.calendar import Calendar

_Kept = dict[int, tuple[float, float, np.ndarray]]


class SharedNodes:
    """Room in particular nodes over time. What is free in total is counted beside it, and only to be shown."""

    def __init__(self, state: State, kernels: Kernels, reserved: int, totals: Amounts, kept: _Kept | None = None):
        self._state, self._kernels, self._reserved, self._totals = state, kernels, reserved, totals
        self._kept: _Kept = {} if kept is None else kept
        """Who holds a place: from when, until when, and which."""
        self._n_actions = int(state.counts[0]["n_actions"])
        self._made: Calendar | None = None

    @property
    def _calendar(self) -> Calendar:
        """Made when it is first needed, and as it would have been when the profile was made."""
        if self._made is None:
            counts = self._state.counts[0]
            now, counts["n_actions"] = int(counts["n_actions"]), self._n_actions
            self._made = self._kernels("open_calendar")(self._reserved)
            counts["n_actions"] = now
        return self._made

    def amounts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, free resources and no servers."""
        times, free, room = self._totals.amounts()
        edges = [edge for begin, end, _ in self._kept.values() for edge in (begin, end) if edge < np.inf]
        merged = np.unique(np.concatenate([times, edges]))
        free = free[np.searchsorted(times, merged, side="right") - 1]
        for job, (begin, end, _) in self._kept.items():
            first, last = np.searchsorted(merged, (begin, end))
            free[first:last] -= self._state.demands[self._state.jobs["leg"][job], : free.shape[1]]
        return merged, free, np.empty((len(merged), room.shape[1]), np.int64)

    def lay(self, jobs: np.ndarray, spans: np.ndarray, only: bool, keeps: bool) -> int:
        """Find a time for each job in turn; with `keeps` it holds its places then."""
        ends, picks = np.zeros(len(jobs), np.int64), np.empty(len(self._calendar.picks) if keeps else 0, PICK)
        at = 0
        while at < len(jobs):
            found = self._kernels("lay_inside")(
                self._calendar, self._reserved, jobs, spans, picks, ends, (only, keeps), at
            )
            at = int(found)
            if at < 0:
                return at + len(jobs) if at <= NOT_WAITING - len(jobs) else -1 - at
            if at < len(jobs):
                picks = np.concatenate([picks, np.empty(len(picks), PICK)])
                self._make_room()
        if keeps:
            firsts = [0, *ends.tolist()]
            for i, job in enumerate(jobs.tolist()):
                if spans[i, 0] < np.inf:
                    self._kept[job] = (float(spans[i, 0]), float(spans[i, 1]), picks[firsts[i] : firsts[i + 1]])
        return -1

    def give_back(self, job: int) -> None:
        """Give back the places of a job."""
        begin, end, picks = self._kept.pop(job)
        self._make_room()
        self._kernels("give_back_inside")(self._calendar, self._reserved, job, picks, begin, end)

    def start(self, job: int) -> np.ndarray | None:
        """Write the start of a job where it has room, and hold that."""
        self._make_room()
        first = int(self._state.counts[0]["n_picks"])
        left: np.ndarray
        left, fits = self._kernels("start_in_calendar")(self._calendar, self._reserved, job)
        if not fits:
            return None
        now, leg = float(self._state.clock[0]["now"]), self._state.jobs["leg"][job]
        picks = self._state.picks[first : self._state.counts[0]["n_picks"]].copy()
        self._kept[job] = (now, now + float(self._state.legs["walltime"][leg]), picks)
        return left

    def copy(self) -> "SharedNodes":
        """The same tables once more; what is scratch is shared."""
        made = SharedNodes(self._state, self._kernels, self._reserved, self._totals, self._kept.copy())
        made._n_actions = self._n_actions
        if self._made is not None:
            own: dict[str, Any] = {name: getattr(self._made, name).copy() for name in ("reserved", "runs", "unsure")}
            made._made = self._made._replace(lines=Timelines(*(table.copy() for table in self._made.lines)), **own)
        return made

    def _make_room(self) -> None:
        """Have rows for what one reservation may take."""
        calendar, used = self._calendar, int(self._calendar.lines.used[0])
        more = 2 * len(calendar.picks) + 2
        if used + more > len(calendar.lines.rows):
            rows = np.empty(2 * (used + more), calendar.lines.rows.dtype)
            free = np.empty((len(rows), calendar.lines.free.shape[1]), np.int64)
            rows[:used], free[:used] = calendar.lines.rows[:used], calendar.lines.free[:used]
            self._made = calendar._replace(lines=calendar.lines._replace(rows=rows, free=free))
