"""The two faces of a State that a policy in plain Python sees: a View to read, Actions to write."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from forebay.core.codes import Reason, Verb, Why
from forebay.core.tables import State


def _sealed(table: np.ndarray) -> np.ndarray:
    view = table.view()
    view.flags.writeable = False
    return view


class View:
    """What the scheduler knows now. Jobs are named by their row in `jobs`; `jobs["id"]` has the trace's numbers.

    Tables are the engine's own, read-only: copy what must outlive the decision.
    """

    def __init__(self, state: State, resources: tuple[str, ...], rng: np.random.Generator):
        self._state = state
        self._clock = state.clock[0]
        self._leg = state.jobs["leg"]
        self._free = state.resources["free"]
        self._walltime = state.legs["walltime"]
        self.resources = resources
        """Names; 0 is nodes."""
        self.rng = rng
        """The only randomness a policy may use: it follows --seed."""
        self.jobs = _sealed(state.jobs)
        self.legs = _sealed(state.legs)
        self.demands = _sealed(state.demands)
        self.releases = _sealed(state.releases)
        self.capacity = _sealed(state.resources)["capacity"]
        self.last_job = -1  # for messages: the job that the policy asked about last

    @property
    def now(self) -> float:
        """Seconds since the workload's beginning."""
        return float(self._clock["now"])

    @property
    def reason(self) -> int:
        """Why the policy is called, as Reason bits."""
        return int(self._clock["reason"])

    def because(self, reason: Reason) -> bool:
        """Whether `reason` is among the causes of this call."""
        return bool(self.reason & reason)

    @property
    def queue(self) -> np.ndarray:
        """Waiting jobs in order of arrival; first of all those that have begun and wait for their next leg."""
        clock = self._clock
        line = self._state.queue[clock["queue_first"] : clock["queue_last"]]
        return line.copy() if len(line) == clock["n_queued"] else line[line >= 0]

    @property
    def running(self) -> np.ndarray:
        """Running legs by expected end: columns `end`, `job`, `leg`."""
        return _sealed(self._state.running[: self._clock["n_running"]])

    @property
    def free(self) -> np.ndarray:
        """What each resource had left when the decision began; `act.free` counts what was started since."""
        return self._free.copy()

    @property
    def free_nodes(self) -> np.ndarray:
        """The nodes that were free when the decision began, ascending."""
        pieces = self._state.free[: self._clock["n_free"]][::-1]
        return np.concatenate([np.arange(low, high + 1) for low, high, _ in pieces] or [np.zeros(0, np.int64)])

    def demand(self, job: int) -> np.ndarray:
        """What the job's waiting leg asks of each resource."""
        self.last_job = int(job)
        row: np.ndarray = self.demands[self._leg[job]]
        return row

    def chunk(self, job: int) -> int:
        """Bytes that each node of the job's waiting leg needs whole on one server; 0 where buffers are pooled."""
        return int(self._state.legs["chunk"][self._leg[job]])

    @property
    def room(self) -> np.ndarray:
        """Free bytes of each server of a chunked buffer; empty where buffers are pooled."""
        return self._state.room.copy()

    def tiers(self, job: int) -> list[int]:
        """Tiers of storage on which the waiting job may be started, by their number; 0 is the slow one."""
        leg, found = int(self._leg[job]), []
        while leg >= 0:
            found.append(int(self.legs["tier"][leg]))
            leg = int(self.legs["other"][leg])
        return found

    def leg_on(self, job: int, tier: int) -> int:
        """The row of the leg that the job would begin with on a tier of storage; its waiting leg if it has none there.

        `legs`, `demands` and `releases` tell what it is like.
        """
        self.last_job = int(job)
        leg = int(self._leg[job])
        while leg >= 0 and self.legs["tier"][leg] != tier:
            leg = int(self.legs["other"][leg])
        return leg if leg >= 0 else int(self._leg[job])

    def walltime(self, job: int) -> float:
        """How long the job's waiting or running leg may take."""
        self.last_job = int(job)
        return float(self._walltime[self._leg[job]])


class Places(Protocol):
    """Where jobs would go, after what this decision has started."""

    matter: bool  # whether fitting depends on places, not on amounts alone

    def begin(self) -> None: ...
    def fits(self, job: int) -> bool: ...
    def place(self, job: int, nodes: Iterable[int] | None = None) -> tuple[int, int]: ...


class Actions:
    """The verbs. The engine checks and carries them out, in order, when the policy returns."""

    def __init__(self, state: State, view: View, places: Places):
        self._view, self._clock, self._room = view, state.clock[0], len(state.actions)
        self._columns = tuple(state.actions[name] for name in ("verb", "job", "time", "why", "first_pick", "n_picks"))
        self._tier = state.actions["tier"]
        self._large = state.actions["large"]
        self._kinds = int(state.clock[0]["large"])
        self._first_large = len(state.site) - int(state.resources[self._kinds]["capacity"]) if self._kinds >= 0 else 0
        self._places = places
        self._free = state.resources["free"]
        self._n = 0
        self._left: list[int] | None = None
        self._uncounted: list[tuple[int, int]] = []  # legs started since `_left` was counted; on how many large nodes

    def begin(self) -> None:
        """A new decision: forget what the last one started."""
        self._n = 0
        self._left = None
        self._uncounted.clear()
        self._places.begin()

    @property
    def free(self) -> list[int]:
        """What each resource has left after what this decision has started."""
        if self._left is None:
            self._left = self._free.tolist()
        for leg, n_large in self._uncounted:
            needs = self._view.demands[leg].tolist()
            if self._kinds >= 0:  # without picks, as few as can be
                fewest = max(needs[self._kinds], needs[0] - (self._left[0] - self._left[self._kinds]), 0)
                needs[self._kinds] = fewest if n_large < 0 else n_large
            self._left = [left - need for left, need in zip(self._left, needs, strict=True)]
        self._uncounted.clear()
        return self._left

    def fits(self, job: int, tier: int = 0) -> bool:
        """Whether the job could start now, on that tier of storage, beside what this decision has started."""
        for need, left in zip(self._view.demands[self._view.leg_on(job, tier)].tolist(), self.free, strict=True):
            if need > left:
                return False
        return self._places.fits(job) if self._places.matter else True

    def start(self, job: int, why: Why = Why.NONE, nodes: Iterable[int] | None = None, tier: int = 0) -> None:
        """Start the job's waiting leg now, on the lowest free nodes or on those given.

        A job that begins uses that tier of storage, where it has a choice.
        """
        known = 0 <= job < len(self._view.jobs)
        nodes = nodes if nodes is None else list(nodes)
        picks = self._places.place(job, nodes) if known and (nodes is not None or self._places.matter) else (0, 0)
        self._add(Verb.START, job, 0.0, why, picks, tier)
        if known:
            n_large = -1 if nodes is None else sum(node >= self._first_large for node in nodes)
            self._uncounted.append((self._view.leg_on(job, tier), n_large))

    def wake(self, time: float) -> None:
        """Be called at `time` even if nothing happens then."""
        self._add(Verb.WAKE, -1, time, Why.NONE)

    def reject(self, job: int) -> None:
        """Turn a waiting job away for good."""
        self._add(Verb.REJECT, job, 0.0, Why.NONE)

    def stop(self) -> None:
        """End the run: the policy cannot go on."""
        self._n = 0
        self._add(Verb.STOP, -1, 0.0, Why.NONE)

    def _add(self, verb: int, job: int, time: float, why: int, picks: tuple[int, int] = (0, 0), tier: int = 0) -> None:
        n = self._n
        if n < self._room:  # the engine refuses the run when the count passes the table's length
            verbs, jobs, times, whys, firsts, counts = self._columns
            verbs[n] = verb
            jobs[n] = job
            times[n] = time
            whys[n] = why
            firsts[n], counts[n] = picks
            self._tier[n] = tier
            self._large[n] = -1
        self._n = n + 1
        self._clock["n_actions"] = n + 1
        self._view.last_job = int(job)
