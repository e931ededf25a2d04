"""A run that stands still at each decision, until somebody has decided and lets it go on.

Nothing of the loop is different here: it runs for one decision at a time, with a policy that leaves it open.
"""

import copy
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from forebay._numba.bridge import Callback
from forebay._numba.jit import ready
from forebay.core.actions import Actions
from forebay.core.codes import Status
from forebay.core.tables import DECIDE, State
from forebay.engine.build.table_roles import changing, twin
from forebay.engine.entering import loop_for, policy_for
from forebay.engine.failures.build import Draws
from forebay.engine.interrupts import Interrupts
from forebay.engine.lending import lend, take_back
from forebay.engine.malleable.tables import POLICY
from forebay.engine.policy_io.preview import Places
from forebay.engine.policy_io.view_inputs import NOTHING_HANDED, Handed, view_of
from forebay.engine.record import Record
from forebay.engine.run import (
    check_limits,
    kernel_of,
    memory_of,
    params_of,
    reason_of,
    refused,
    stalled,
)
from forebay.engine.shared_nodes.preview import SharedPlaces
from forebay.engine.standing import Standing, give_back, kept_by
from forebay.engine.trail import Trail
from forebay.engine.truth import Truth

_SLICE = 4096
"""Decisions of a compiled policy between two looks at the world outside."""
_NO_MEMORY = (np.zeros((0, 0), np.int64), np.zeros((0, 0)))
_NO_NUMBERS = np.zeros(0)


class _ByAddress:
    """A compiled policy that raises nothing, as the loop takes it. Numba looks the address of a function up at each
    call, twice, in half of the time of a step."""

    _numba_type_ = types.FunctionType(DECIDE)

    def __init__(self, kernel: Any):
        compiled = kernel.get_compile_result(DECIDE)
        self._kept = compiled.library
        self._address = self._kept.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        return int(self._address)


@cache
def _pausing() -> Any:
    """What the loop takes where it is to stop at each decision."""
    from forebay.engine.pause import pause

    return pause if numba.config.DISABLE_JIT else _ByAddress(ready(pause))


class Session:
    """The tables of a run, who decides, and what was recorded."""

    def __init__(
        self,
        state: State,
        truth: Truth,
        resources: tuple[str, ...],
        rng: np.random.Generator,
        draw: Draws | None,
        verbs: type[Actions] = Actions,
        handed: Handed = NOTHING_HANDED,
    ):
        self.state, self.truth, self._resources, self._draw = state, truth, resources, draw
        self._rng = lend(rng)
        weakref.finalize(self, take_back, self._rng)
        (self._loop, self._tables), self._pause = loop_for(state, truth), _pausing()
        self._changing = [table for _, table in changing(state, truth)]
        self._visits = int(truth.rounds.visits[0])
        self._handed = handed
        self.view = view_of(state, truth, resources, self._rng, handed)
        places = SharedPlaces(state) if state.machine[0]["placement"] >= 0 else Places(state)
        self.act = verbs(state, self.view, places)
        self._trail, self._interrupts = Trail(truth), Interrupts(state.clock)
        self._seconds, self.status, self.decided = 0.0, int(Status.PAUSED), False
        self._policy: Any = None
        self._kernel: Any = None
        self._seen: Any = None  # the tables, as the kernel takes them
        self._params, self._memory = _NO_NUMBERS, _NO_MEMORY
        # Nothing that the loop calls holds the session: a run that is no longer needed goes at once, with its tables.
        self._callbacks = [Callback(call) for call in (draw or _nothing, self._trail.drain)]
        self._connect()

    def _connect(self) -> None:
        drawing, draining = (callback.address for callback in self._callbacks)
        self.truth.cursor["draw"], self.truth.cursor["drain"] = drawing, draining

    def take(self, policy: Any, begins: bool = True) -> None:
        """Let a policy decide from here on, with an empty memory. One that does not begin has been set up before."""
        self._policy, kernel = policy, kernel_of(policy)
        self.truth.rounds.visits[0] = POLICY if getattr(policy, "resizes", False) else self._visits
        check_limits(self.truth)
        self._kernel, self._params, self._memory = None, _NO_NUMBERS, _NO_MEMORY
        if kernel is not None:
            if begins and hasattr(policy, "check"):
                policy.check(self.state)
            integers, floats = memory_of(policy, self.state)
            self._memory = (np.zeros(integers, np.int64), np.zeros(floats))
            self._params = params_of(policy, self._resources)
            self._kernel, self._seen = policy_for(policy, kernel, self.state, self._params)
        elif begins and hasattr(policy, "setup"):
            try:
                policy.setup(self.view)
            except Exception as error:
                raise reason_of(self.state, self.view, error) from error

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
        with self._timed():
            if self._kernel is not None:
                with self._interrupts:
                    self._kernel(self._seen, self._params, self._memory, self._rng)
            else:
                try:
                    self._policy.decide(self.view, self.act)
                except Exception as error:
                    raise reason_of(self.state, self.view, error) from error
        self.decided = True

    def go_on(self) -> None:
        """Carry out what was decided, and stop at the next decision."""
        self._advance(self._pause, _NO_NUMBERS, _NO_MEMORY, 1)
        self.decided = False
        if self.goes_on:
            self.act.begin()

    def finish(self) -> None:
        """Let the policy decide until the run is over: a compiled one many times between two looks at the world."""
        while not self.over:
            if not self.acted:
                self.decide()
            if self._kernel is None:
                self.go_on()
            else:
                self._advance(self._kernel, self._params, self._memory, _SLICE)
                self.decided = not self.over  # the last of the slice is not carried out yet

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """What breaks off leaves the tables as nobody knows."""
        begun, status, self.status = time.perf_counter(), self.status, int(Status.STOPPED)
        yield
        self._seconds += time.perf_counter() - begun
        self.status = status

    def _advance(self, kernel: Any, params: np.ndarray, memory: tuple[np.ndarray, ...], n_decisions: int) -> None:
        with self._timed():
            with self._interrupts:
                status = int(self._loop(*self._tables, kernel, params, memory, self._rng, n_decisions))
            self._trail.check()
            if status == Status.STALLED:
                raise stalled(self.state, self.truth, self._resources)
            if status == Status.REFUSED:
                raise refused(self.state, self.truth, self._resources)
        self.status = status

    def standing(self) -> Standing:
        """Where the run stands, to come back to it. Nothing has been decided there."""
        self._trail.drain()
        self._trail.check()
        return Standing(
            tables=tuple(table.copy() for table in self._changing),
            memory=tuple(table.copy() for table in self._memory),
            own=None if self._kernel is not None else kept_by(self._policy, self.view),
            rng=copy.deepcopy(dict(self._rng.bit_generator.state)),
            draws=None if self._draw is None else copy.deepcopy(self._draw.memory),
            said=self.act.kept(),
            trail=self._trail.last,
            status=self.status,
            seconds=self._seconds,
        )

    def put_back(self, standing: Standing) -> None:
        """Stand where a run of the same case, under the same policy, stood."""
        for table, kept in zip(self._changing, standing.tables, strict=True):
            table[...] = kept
        self._connect()  # the copies have the addresses of who made them
        self._put_back(standing)

    def _put_back(self, standing: Standing) -> None:
        """All but the tables."""
        for table, kept in zip(self._memory, standing.memory, strict=True):
            table[...] = kept
        self._rng.bit_generator.state = standing.rng
        if self._draw is not None:
            self._draw.memory = copy.deepcopy(standing.draws)
        give_back(self._policy, standing.own, self.view)
        self._trail.last, self.status, self._seconds = standing.trail, standing.status, standing.seconds
        self.state.counts["n_actions"], self.decided = 0, False
        self.act.begin()
        self.act.put_back(standing.said)

    def fork(self) -> "Session":
        """Another run that stands here; what neither changes they share."""
        standing, state, truth = self.standing(), twin(self.state), twin(self.truth)
        draw = None if self._draw is None else self._draw.onto(truth)
        other = Session(state, truth, self._resources, self._rng, draw, type(self.act), self._handed)
        other._visits = self._visits
        other.take(self._policy if self._kernel is not None else copy.copy(self._policy), begins=False)
        other._put_back(standing)
        return other

    def record(self) -> Record:
        """All that was recorded so far."""
        return self._trail.record(list(self.act.said()), self._seconds)

    def remarks(self) -> list[str]:
        """What a compiled policy has to say of the run."""
        return list(self._policy.remarks(self._memory)) if self._kernel and hasattr(self._policy, "remarks") else []


def _nothing() -> None:
    pass
