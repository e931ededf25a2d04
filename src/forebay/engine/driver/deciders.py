"""Deciders of a run: a compiled policy, one in plain Python, or the caller, where the loop stops at each decision."""

import copy
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from forebay._numba.bridge import Callback
from forebay._numba.jit import ready
from forebay.core.actions import Actions
from forebay.core.tables import DECIDE, State
from forebay.core.view import View
from forebay.engine.driver.refusals import reason_of
from forebay.engine.driver.rng_pool import unused
from forebay.engine.driver.signals import Interrupts
from forebay.engine.driver.snapshot import give_back, kept_by
from forebay.engine.entering import policy_for

Memory = tuple[np.ndarray, ...]
Arguments = tuple[Any, np.ndarray, Memory, np.random.Generator]
"""What the loop takes of a decider: its kernel, and what that is called with besides the tables."""

_NO_MEMORY = (np.zeros((0, 0), np.int64), np.zeros((0, 0)))
_NO_NUMBERS = np.zeros(0)


def kernel_of(policy: Any) -> Any:
    return policy.kernel() if hasattr(policy, "kernel") else None


def params_of(policy: Any, resources: tuple[str, ...]) -> np.ndarray:
    """The numbers that a compiled policy reads on a machine with these resources."""
    row = policy.params_on(resources) if hasattr(policy, "params_on") else policy.params()
    return np.ascontiguousarray(row, dtype=np.float64)


def _memory_of(policy: Any, state: State) -> Memory:
    """The two tables that a compiled policy keeps its own things in."""
    sized = hasattr(policy, "memory_on")
    integers, floats = policy.memory_on(state) if sized else policy.memory(len(state.jobs), len(state.resources))
    return np.zeros(integers, np.int64), np.zeros(floats)


class Compiled:
    """A compiled policy, with an empty memory. One that does not begin was checked before."""

    def __init__(
        self, policy: Any, state: State, resources: tuple[str, ...], rng: np.random.Generator, begins: bool = True
    ):
        if begins and hasattr(policy, "check"):
            policy.check(state)
        self._policy, self._rng = policy, rng
        self._memory, self._params = _memory_of(policy, state), params_of(policy, resources)
        # Its entry: calling the kernel itself would have Numba look for extensions among all installed packages.
        self._kernel, self._tables = policy_for(policy, kernel_of(policy), state, self._params)

    def decide(self, interrupts: AbstractContextManager[Any]) -> None:
        """Decide once. Signals are held back where they must be."""
        with interrupts:
            self._kernel(self._tables, self._params, self._memory, self._rng)

    def in_loop(self) -> AbstractContextManager[Arguments]:
        """For many decisions."""
        return nullcontext((self._kernel, self._params, self._memory, self._rng))

    def check(self) -> None:
        """Raise what the policy raised in the loop: a compiled one raises nothing."""

    def kept(self) -> tuple[Memory, dict[str, Any] | None]:
        """Copies of what it keeps from one decision to the next."""
        return tuple(table.copy() for table in self._memory), None

    def restore(self, memory: Memory, own: dict[str, Any] | None) -> None:
        """Have what it, or one like it, kept."""
        for table, kept in zip(self._memory, memory, strict=True):
            table[...] = kept

    def for_another(self) -> Any:
        """The policy for another run that goes on as this one."""
        return self._policy

    def remarks(self) -> list[str]:
        """What the policy has to say of the run."""
        return list(self._policy.remarks(self._memory)) if hasattr(self._policy, "remarks") else []


class Plain:
    """A policy in plain Python, whose memory is its own. One that does not begin was set up before."""

    def __init__(
        self, policy: Any, state: State, view: View, act: Actions, interrupts: Interrupts, begins: bool = True
    ):
        self._policy, self._state, self._view, self._act, self._interrupts = policy, state, view, act, interrupts
        self._failed: list[BaseException] = []
        if begins and hasattr(policy, "setup"):
            try:
                policy.setup(view)
            except (Exception, SystemExit) as error:
                raise reason_of(state, view, error) from error

    def decide(self, interrupts: AbstractContextManager[Any]) -> None:
        try:
            self._policy.decide(self._view, self._act)
        except (Exception, SystemExit) as error:
            raise reason_of(self._state, self._view, error) from error

    @contextmanager
    def in_loop(self) -> Iterator[Arguments]:
        """For many decisions, from within the loop."""
        from forebay.engine.loop import call_python

        callback = Callback(self._called)
        memory = (np.array([[callback.address]], np.int64), _NO_MEMORY[1])
        yield ready(call_python), _NO_NUMBERS, memory, unused()

    def _called(self) -> None:
        try:
            try:
                self._interrupts.welcome = True  # a policy may take for ever
                self._act._begin()
                self._policy.decide(self._view, self._act)
            finally:
                self._interrupts.welcome = False
        except BaseException as error:  # it must not cross the compiled loop
            self._failed.append(error)
            self._act._stop()

    def check(self) -> None:
        if self._failed:
            error = self._failed.pop()
            if self._interrupts.raised:
                raise error
            raise reason_of(self._state, self._view, error) from error

    def kept(self) -> tuple[Memory, dict[str, Any] | None]:
        return (), kept_by(self._policy, self._view)

    def restore(self, memory: Memory, own: dict[str, Any] | None) -> None:
        give_back(self._policy, own, self._view)

    def for_another(self) -> Any:
        return copy.copy(self._policy)

    def remarks(self) -> list[str]:
        said = getattr(self._policy, "said", None)
        return list(said()) if callable(said) else []


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
def the_caller() -> Arguments:
    """What the loop takes where it is to stop at each decision."""
    from forebay.engine.driver.pause import pause

    kernel = pause if numba.config.DISABLE_JIT else _ByAddress(ready(pause))
    return kernel, _NO_NUMBERS, _NO_MEMORY, unused()
