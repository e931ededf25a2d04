"""The kernels of the built-in policies, for policies in plain Python: `act.backfill`, `view.earliest` and their like.

Neither the engine nor the view may know policies, so whatever runs one passes them in. They are compiled, or read from
the disk, when a policy first uses them.
"""

from functools import cache, partial
from typing import Any

import numpy as np

from forebay._numba.jit import direct
from forebay._run import compilation
from forebay._run.block_parts import BLOCKS
from forebay.core.tables import State
from forebay.core.views.profile import Space
from forebay.engine.driver.signals import Interrupts
from forebay.engine.entering import block_for
from forebay.errors import BadActionError, nearest
from forebay.policies._families.backfill import Param
from forebay.policies._orders import ALL, ORDERS

_GIVEN = -1.0
_NOBODY = np.zeros(0, np.int64)


@cache
def _params(order: str, descending: bool, reserve: str, depth: int | None) -> np.ndarray:
    """The row of numbers that the kernel reads."""
    row = np.zeros(len(Param))
    row[Param.ORDER] = ORDERS.index(order) if order else _GIVEN
    row[Param.DESCENDING], row[Param.MAX_BACKFILL] = descending, ALL
    row[Param.DEPTH] = ALL if depth is None else min(depth, ALL)
    row[Param.RESERVED] = 1 if reserve == "nodes" else ALL
    return row


class Blocks:
    """What `View` and `Actions` call, on the tables of one run."""

    def __init__(self, state: State):
        self._state, self._interrupts = state, Interrupts(state.clock)
        self._ready: dict[str, Any] = {}

    def _kernel(self, name: str) -> Any:
        """The kernel behind one of the methods, ready to be called."""
        if name not in self._ready:
            part = BLOCKS[name]
            compilation.prepare_block(part, self._state)
            kernel, tables = block_for(compilation.kernel_of(part), self._state)
            self._ready[name] = partial(direct(kernel), tables)
        return self._ready[name]

    def backfill(
        self, order: str | np.ndarray, descending: bool, reserve: str, depth: int | None, expected: np.ndarray
    ) -> tuple[np.ndarray, int]:
        """Write the starts of a line of jobs; returns what they leave, and the place of a wrong one (-1: none is)."""
        word, line = (order, _NOBODY) if isinstance(order, str) else ("", order)
        if word and word not in ORDERS:
            raise BadActionError(f"act.backfill: order is {word!r}: {nearest(word, ORDERS)}; or give a list of jobs")
        kernel, params = self._kernel("backfill"), _params(word, descending, reserve, depth)
        with self._interrupts:  # the queue may be long
            left, wrong = kernel(line, params, expected)
        return left, int(wrong)

    def earliest(self, job: int) -> float:
        """When a waiting job could start."""
        return float(self._kernel("earliest")(job))

    def fits_at(self, job: int, time: float) -> bool:
        """Whether a waiting job would find all that it needs from a time on."""
        return bool(self._kernel("fits_at")(job, time))

    def plan_with(self, params: np.ndarray, memory: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> None:
        """Start what has its turn in a plan by expected run times: the floats, with a place a job; 0 = its walltime."""
        with self._interrupts:
            self._kernel("plan_with")(params, memory, rng)

    def window_points(
        self, name: str, params: np.ndarray, memory: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The jobs of a window, the points of its Pareto set as bits, and what each would use."""
        with self._interrupts:
            found: tuple[np.ndarray, np.ndarray, np.ndarray] = self._kernel(name)(params, memory, rng)
        return found

    def window_starts(
        self, name: str, jobs: np.ndarray, params: np.ndarray, memory: tuple[np.ndarray, np.ndarray]
    ) -> None:
        """Start these jobs of a window, and backfill the others."""
        with self._interrupts:
            self._kernel(name)(jobs, params, memory)

    def victims(self, job: int, candidates: np.ndarray) -> np.ndarray:
        """Those of running jobs that give way to a waiting one."""
        found: np.ndarray = self._kernel("preempt")(job, candidates, 1, False)
        return found

    def profile(self, reserve: str) -> Space:
        """What will be free when."""
        from forebay._run.spaces import Amounts  # and the kernels behind it, which few policies need

        reserved = 1 if reserve == "nodes" else ALL
        amounts = Amounts(self._kernel, *self._kernel("profile")(reserved))
        if self._state.machine[0]["placement"] < 0:
            return amounts
        from forebay._run.shared_space import SharedNodes

        return SharedNodes(self._state, self._kernel, reserved, amounts)
