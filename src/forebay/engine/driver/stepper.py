"""A run that stands still at each decision, until something is decided and it goes on; or that goes on to its end.

The loop is the same for both: it runs for some decisions at a time, with a policy, or for one that is left open.
"""

import copy
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from forebay._numba.bridge import Callback
from forebay.core.actions import Actions
from forebay.core.codes import Status
from forebay.core.tables import State
from forebay.core.view import View
from forebay.engine.build.table_roles import changing, twin
from forebay.engine.driver.deciders import Arguments, Compiled, Plain, kernel_of, the_caller
from forebay.engine.driver.history import Record
from forebay.engine.driver.recorder import Recorder
from forebay.engine.driver.refusals import check_limits, refused, stalled, stopped
from forebay.engine.driver.rng_pool import lend, take_back, twin_of
from forebay.engine.driver.signals import Interrupts
from forebay.engine.driver.snapshot import Saved
from forebay.engine.entering import loop_for
from forebay.engine.malleable.tables import POLICY
from forebay.engine.policy_io.preview import Places
from forebay.engine.policy_io.view_inputs import NOTHING_HANDED, Handed, view_of
from forebay.engine.shared_nodes.preview import SharedPlaces
from forebay.engine.truth import Truth

SLICE_SECONDS = 0.2
"""How long the loop runs between two looks at the world outside: Ctrl-C and the progress bar."""
_FIRST_SLICE = 256
"""Decisions of the first one."""
_ERRORS = {Status.STALLED: stalled, Status.REFUSED: refused, Status.STOPPED: stopped}

Progress = Callable[[int, int], None]


class Stepper:
    """The tables of a run, what decides, and what was recorded. It stands before its first decision."""

    def __init__(
        self,
        state: State,
        truth: Truth,
        resources: tuple[str, ...],
        rng: np.random.Generator,
        draw: Any = None,
        verbs: type[Actions] = Actions,
        handed: Handed = NOTHING_HANDED,
        keep: bool = True,
    ):
        self.state, self.truth, self._resources, self._rng = state, truth, resources, rng
        self._draw, self._verbs, self._handed = draw, verbs, handed
        self._loop, self._tables = loop_for(state, truth)
        self._visits = int(truth.rounds.visits[0])
        self._recorder, self._interrupts = Recorder(truth, keep), Interrupts(state.clock)
        self._spent = (0.0, 0.0)  # seconds, and those of the processor
        self.status, self.decided = int(Status.PAUSED), True
        # Nothing that the loop calls holds the stepper: a run that is no longer needed goes at once, with its tables.
        self._callbacks = [Callback(call) for call in (draw or _nothing, self._recorder.drain)]
        self._connect()

    def _connect(self) -> None:
        drawing, draining = (callback.address for callback in self._callbacks)
        self.truth.cursor["draw"], self.truth.cursor["drain"] = drawing, draining

    def take(self, policy: Any, begins: bool = True) -> None:
        """Let a policy decide. One that does not begin has been checked and set up before."""
        self.truth.rounds.visits[0] = POLICY if getattr(policy, "resizes", False) else self._visits
        check_limits(self.truth)
        self._decider: Compiled | Plain
        if kernel_of(policy) is None:
            self._decider = Plain(policy, self.state, self.view, self.act, self._interrupts, begins)
        else:
            self._rng = lend(self._rng)
            weakref.finalize(self, take_back, self._rng)
            self._decider = Compiled(policy, self.state, self._resources, self._rng, begins)

    @cached_property
    def view(self) -> View:
        """What the scheduler knows."""
        return view_of(self.state, self.truth, self._resources, self._rng, self._handed)

    @cached_property
    def act(self) -> Actions:
        """The verbs."""
        places = SharedPlaces(self.state) if self.state.machine[0]["placement"] >= 0 else Places(self.state)
        return self._verbs(self.state, self.view, places)

    @property
    def over(self) -> bool:
        """Whether all jobs have ended."""
        return self.status == Status.DONE

    @property
    def goes_on(self) -> bool:
        """Whether it stands at a decision."""
        return self.status == Status.PAUSED

    @property
    def acted(self) -> bool:
        """Whether anything has been decided since the run stands here."""
        return self.decided or bool(self.state.counts[0]["n_actions"])

    def decide(self) -> None:
        """Let the policy decide; `go_on` carries it out."""
        with self._running():
            self._decider.decide(self._interrupts)
        self.decided = True

    def go_on(self) -> None:
        """Carry out what was decided, and stop at the next decision."""
        with self._running(), self._interrupts:
            status = self._advance(the_caller(), 1)
        self.status, self.decided = status, False
        if self.goes_on:
            self.act._begin()

    def finish(self, progress: Progress | None = None) -> None:
        """Let the policy decide until the run is over, in slices. `progress(ended, jobs)` is called after each."""
        if not self.acted:
            self.decide()
        status, n_decisions = self.status, _FIRST_SLICE
        with self._running(), self._interrupts, self._decider.in_loop() as decider:
            while status != Status.DONE:
                begun = time.perf_counter()
                status = self._advance(decider, n_decisions)
                # Only where the loop pauses depends on the clock; what it computes does not.
                n_decisions = _next_slice(n_decisions, time.perf_counter() - begun)
                if progress is not None:
                    progress(int(self.truth.cursor[0]["n_ended"]), len(self.state.jobs))
        self.status, self.decided = status, False

    @contextmanager
    def _running(self) -> Iterator[None]:
        """The clock runs. What breaks off leaves tables in which nothing is certain."""
        status, self.status = self.status, int(Status.STOPPED)
        begun, processor = time.perf_counter(), time.thread_time()
        yield
        seconds, on_processor = self._spent
        self._spent = seconds + time.perf_counter() - begun, on_processor + time.thread_time() - processor
        self.status = status

    def _advance(self, decider: Arguments, n_decisions: int) -> int:
        """Let the loop go on for so many decisions; returns its status."""
        status = int(self._loop(*self._tables, *decider, n_decisions))
        self._decider.check()
        self._interrupts.check()
        self._recorder.check()
        if status in _ERRORS:
            raise _ERRORS[Status(status)](self.state, self.truth, self._resources)
        return status

    def save(self) -> Saved:
        """Where the run stands, to come back to it. Nothing has been decided there."""
        mark = self._recorder.mark()
        memory, own = self._decider.kept()
        return Saved(
            tables=tuple(table.copy() for table in self._changing),
            memory=memory,
            own=own,
            rng=copy.deepcopy(dict(self._rng.bit_generator.state)),
            draws=None if self._draw is None else copy.deepcopy(self._draw.memory),
            said=self.act._kept(),
            mark=mark,
            status=self.status,
            spent=self._spent,
        )

    @cached_property
    def _changing(self) -> list[np.ndarray]:
        return [table for _, table in changing(self.state, self.truth)]

    def restore(self, saved: Saved) -> None:
        """Stand where a run of the same case, under the same policy, stood."""
        for table, kept in zip(self._changing, saved.tables, strict=True):
            table[...] = kept
        self._connect()  # the copies have the addresses of the run that was saved
        self._decider.restore(saved.memory, saved.own)
        self._rng.bit_generator.state = saved.rng
        if self._draw is not None:
            self._draw.memory = copy.deepcopy(saved.draws)
        self._recorder.go_back(saved.mark)
        self._stand(saved.said, saved.status, saved.spent)

    def _stand(self, said: tuple[Any, ...], status: int, spent: tuple[float, float]) -> None:
        self.status, self._spent, self.decided = status, spent, False
        self.state.counts["n_actions"] = 0
        self.act._begin()
        self.act._put_back(said)

    def fork(self, policy: Any = None) -> "Stepper":
        """Another run that stands here, under another policy or this one; what neither changes they share."""
        mark = self._recorder.mark()
        state, truth = twin(self.state), twin(self.truth)
        draw = None if self._draw is None else self._draw.onto(truth)
        other = Stepper(state, truth, self._resources, twin_of(self._rng), draw, self._verbs, self._handed)
        other._visits = self._visits
        other._recorder.go_back(mark)
        if policy is None:
            other.take(self._decider.for_another(), begins=False)
            other._decider.restore(*self._decider.kept())
        else:
            other.take(policy)
        other._stand(self.act._kept(), self.status, self._spent)
        return other

    def record(self) -> Record:
        """All that was recorded so far."""
        said = list(self.act._all_said()) if "act" in vars(self) else []  # a compiled policy alone says nothing
        return Record(self._recorder.mark(), said, *self._spent)

    def remarks(self) -> list[str]:
        """What a compiled policy has to say of the run."""
        return self._decider.remarks()


def _next_slice(n_decisions: int, seconds: float) -> int:
    """How many decisions are to take a slice's time, where so many took these seconds."""
    if seconds < SLICE_SECONDS / 2:
        return 2 * n_decisions
    return max(n_decisions // 2, 1) if seconds > SLICE_SECONDS else n_decisions


def _nothing() -> None:
    pass
