"""The two faces of a State that a policy in plain Python sees: a View to read, Actions to write."""

from typing import Any

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
        """Waiting jobs, in order of arrival."""
        line = self._state.queue[self._clock["queue_first"] : self._clock["queue_last"]]
        return line[line >= 0]

    @property
    def running(self) -> np.ndarray:
        """Running legs by expected end: columns `end`, `job`, `leg`."""
        return _sealed(self._state.running[: self._clock["n_running"]])

    @property
    def free(self) -> np.ndarray:
        """What each resource had left when the decision began; `act.free` counts what was started since."""
        return self._state.resources["free"].copy()

    def demand(self, job: int) -> np.ndarray:
        """What the job's waiting leg asks of each resource."""
        self.last_job = int(job)
        row: np.ndarray = self.demands[self.jobs["leg"][job]]
        return row

    def walltime(self, job: int) -> float:
        """How long the job's waiting or running leg may take."""
        self.last_job = int(job)
        return float(self.legs["walltime"][self.jobs["leg"][job]])


class Actions:
    """The verbs. The engine checks and carries them out, in order, when the policy returns."""

    def __init__(self, state: State, view: View):
        self._state, self._clock, self._rows, self._view = state, state.clock[0], state.actions, view
        self._left: list[int] | None = None

    def _begin(self) -> None:
        """A new decision: forget what the last one started."""
        self._left = None

    @property
    def free(self) -> list[int]:
        """What each resource has left after what this decision has started."""
        if self._left is None:
            self._left = self._state.resources["free"].tolist()
        return self._left

    def fits(self, job: int) -> bool:
        """Whether the job could start now, beside what this decision has started."""
        return all(need <= left for need, left in zip(self._view.demand(job).tolist(), self.free, strict=True))

    def start(self, job: int, why: Why = Why.NONE) -> None:
        """Start the job's waiting leg now."""
        self._add(Verb.START, job, 0.0, why)
        if 0 <= job < len(self._view.jobs):
            self._left = [a - b for a, b in zip(self.free, self._view.demand(job).tolist(), strict=True)]

    def wake(self, time: float) -> None:
        """Be called at `time` even if nothing happens then."""
        self._add(Verb.WAKE, -1, time, Why.NONE)

    def reject(self, job: int) -> None:
        """Turn a waiting job away for good."""
        self._add(Verb.REJECT, job, 0.0, Why.NONE)

    def _add(self, verb: Verb, job: int, time: float, why: Any) -> None:
        n = int(self._clock["n_actions"])
        if n < len(self._rows):  # the engine refuses the run when the count passes the table's length
            self._rows[n] = (time, job, verb, why)
        self._clock["n_actions"] = n + 1
        self._view.last_job = int(job)
