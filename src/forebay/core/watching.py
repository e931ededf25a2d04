"""The part of a View that tells what running jobs do, what users have, and what a workload says of its own."""

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forebay.core.codes import JobState, PhaseKind
from forebay.core.running import Io, Labels
from forebay.errors import BadActionError, brief, listed, nearest

if TYPE_CHECKING:
    from forebay.core.tables import State


class Activity(NamedTuple):
    """What a running job does now, as counters of a machine show it."""

    phase: PhaseKind | None
    """None = it does not run, or waits before a round."""
    done: int
    """Phases of its leg that are over; of an application, rounds. -1 once it was killed and only drains."""
    moved: float
    """Bytes of its phase that have moved; 0 of a phase that computes."""
    left: float
    """Bytes of it that are still to move."""
    rate: float
    """Bytes/s at which they do, with what began in this instant and before what is decided in it."""
    beside_left: float
    """Bytes that still move beside its phases, such as drains."""
    beside_rate: float
    """And at how many bytes/s."""


_IDLE = Activity(None, 0, 0.0, 0.0, 0.0, 0.0, 0.0)


class LinkLoad(NamedTuple):
    """A shared link."""

    capacity: float
    """Bytes/s that it can carry."""
    load: float
    """Bytes/s that cross it."""
    streams: int
    """Parallel streams of all that share it: of most transfers, one a node."""


class TierLoad(NamedTuple):
    """A tier of storage."""

    capacity: float
    """Bytes; inf where there is no end to it."""
    free: float
    """Bytes that nobody has reserved."""
    load: float
    """Bytes/s that are written to it and read from it."""
    streams: int


class Usage(NamedTuple):
    """What a user has."""

    running: int
    """Jobs."""
    waiting: int
    """Jobs, also those that wait between their legs."""
    held: np.ndarray
    """Of each resource, by all of them together."""


def _first(table: np.ndarray, n: int) -> np.ndarray:
    """The first `n` rows, to keep."""
    return np.array(table[:n])


class Watching:
    """What a View tells of running jobs, links, tiers, users and a workload's own columns."""

    _state: "State"
    _labels: Labels
    resources: tuple[str, ...]

    if TYPE_CHECKING:

        def _row(self, job: int) -> int:
            """See View."""

        @property
        def _when(self) -> str:
            """See View."""

        @property
        def queue(self) -> np.ndarray:
            """See View."""

        @property
        def running(self) -> np.ndarray:
            """See View."""

    @property
    def started(self) -> np.ndarray:
        """Jobs of which a leg has started since the last decision, in that order."""
        return _first(self._state.started, self._state.counts[0]["n_started"])

    @property
    def ended(self) -> np.ndarray:
        """Jobs that are over since the last decision, in that order: `jobs["state"]` says how, see JobState.

        Jobs are not among them that were turned away as they came.
        """
        return _first(self._state.ended, self._state.counts[0]["n_ended"])

    def activity(self, job: int) -> Activity:
        """What a running job does. For policies with `needs = ("io",)`."""
        row, table = self._row(job), self._told().jobs
        if self._state.jobs["state"][row] != JobState.RUNNING:
            return _IDLE
        *amounts, done, phase = table[row].tolist()
        return Activity(PhaseKind(phase) if phase >= 0 else None, done, *amounts)

    @property
    def links(self) -> dict[str, LinkLoad]:
        """The shared links of the machine, by name. For policies with `needs = ("io",)`."""
        table = self._told().links
        columns = (table[name].tolist() for name in LinkLoad._fields)  # in half the time of rows
        return dict(zip(self._labels.links, map(LinkLoad, *columns), strict=True))

    def link(self, name: str) -> LinkLoad:
        """What a shared link carries, by its name, a key of `links`. For policies with `needs = ("io",)`."""
        table = self._told().links
        return LinkLoad(*table[self._place("link", name, self._link_places)].tolist())

    def tier(self, name: str) -> TierLoad:
        """A tier of storage by the name that the platform gives it. For policies with `needs = ("io",)`."""
        row = self._told().tiers[self._place("tier", name, self._tier_places)]
        capacity = free = np.inf
        if row["resource"] >= 0:
            room = self._state.resources[row["resource"]]
            capacity, free = float(room["capacity"]), float(room["free"])
        return TierLoad(capacity, free, float(row["load"]), int(row["streams"]))

    def held(self, job: int) -> np.ndarray:
        """What a job holds of each resource, also one that waits between its legs."""
        row, state = self._row(job), self._state
        status, leg, last = (int(state.jobs[name][row]) for name in ("state", "leg", "last_leg"))
        if status not in (JobState.RUNNING, JobState.QUEUED):
            return np.zeros(len(self.resources), np.int64)
        taken = leg + 1 if status == JobState.RUNNING else leg  # as `running.held_of` has it
        held: np.ndarray = state.releases[leg : last + 1].sum(axis=0) - state.demands[taken : last + 1].sum(axis=0)
        held[0] = state.jobs["held"][row]
        return held

    @property
    def users(self) -> dict[int, Usage]:
        """What users have whose jobs run or wait, by their number; -1 are all that the workload does not name."""
        user, found = self._state.jobs["user"], dict[int, Usage]()
        for jobs, runs in ((self.running["job"], 1), (self.queue, 0)):
            for job in jobs.tolist():
                have = found.get(int(user[job]), Usage(0, 0, np.zeros(len(self.resources), np.int64)))
                found[int(user[job])] = Usage(have.running + runs, have.waiting + 1 - runs, have.held + self.held(job))
        return found

    def column(self, name: str) -> np.ndarray:
        """A column of numbers of the workload's own, by row of job; NaN of jobs that say nothing or are still to come.

        Of whole numbers that jobs ask of the machine, see `demands`.
        """
        if name in self._labels.words:
            raise BadActionError(f"{self._when} read column {name!r} as numbers, and it holds text; see view.codes")
        return self._column(name)

    def codes(self, name: str) -> np.ndarray:
        """A column of text as codes, by row of job: `words` tells what they stand for; -1 = unknown, or still to come.

        In order of the words, so that a workload gives the same codes in every run.
        """
        if name in self._labels.columns and name not in self._labels.words:
            raise BadActionError(f"{self._when} read codes of column {name!r}, and it holds numbers; see view.column")
        codes: np.ndarray = np.nan_to_num(self._column(name), nan=-1.0).astype(np.int64)
        return codes

    def words(self, name: str) -> dict[int, str]:
        """What the codes of a column of text stand for that jobs have brought so far."""
        if name not in self._labels.words:
            known = nearest(name, self._labels.words) if self._labels.words else "the workload has no column of text"
            raise BadActionError(f"{self._when} asked for the words of column {name!r}: {known}")
        return {code: self._labels.words[name][code] for code in np.unique(self.codes(name)).tolist() if code >= 0}

    def _column(self, name: str) -> np.ndarray:
        if name not in self._labels.columns:
            known = nearest(name, self._labels.columns) if self._labels.columns else "it has none of its own"
            raise BadActionError(f"{self._when} read a column {name!r}, which the workload lacks: {known}")
        values: np.ndarray = self._state.columns[:, self._labels.columns.index(name)].copy()
        return values

    def _told(self) -> Io:
        if not len(self._state.io.jobs):
            raise BadActionError(
                f"{self._when} asked what running jobs do, but has not said that it needs it; give its class "
                'needs = ("io",)'
            )
        return self._state.io

    @cached_property
    def _link_places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._labels.links)}

    @cached_property
    def _tier_places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._labels.tiers)}

    def _place(self, word: str, name: str, places: dict[str, int]) -> int:
        if name not in places:
            hint = nearest(name, places) if places else "the machine has none"
            others = f" It has {listed(places)}" if hint.endswith("?") else ""
            raise BadActionError(f"{self._when} asked about a {word} {brief(name)}: {hint}{others}")
        return places[name]
