"""Tables as a run begins, for runs by the thousand: all that a run changes lies in one block, and is copied as one.

Of eight jobs, copying 87 tables one by one took 0.2 ms, and laying all out for compiled code 0.7: longer than the run.
Half of them are empty there, and need no copy at all.
"""

from typing import Any

import numba
import numpy as np

from forebay._numba.pointer import laid_out
from forebay.core.tables import State
from forebay.engine.build.table_roles import BUFFERS, READ_ONLY, walk
from forebay.engine.truth import Truth

_LINE = 64
"""Bytes of a cache line: tables begin at multiples."""


class _LaidState(State):
    """With its layout, see `pointer`. What is copied from it lies elsewhere, and has none."""

    layout: np.ndarray

    def __reduce__(self) -> Any:
        return State, tuple(self)


class _LaidTruth(Truth):
    """The same."""

    layout: np.ndarray

    def __reduce__(self) -> Any:
        return Truth, tuple(self)


class _Form:
    """A tuple of tables: those that all its copies share, and where in a block the others are."""

    def __init__(self, tables: Any, kind: Any, within: str, begins: dict[str, int]):
        self._kind, self._shared = kind, list(tables)
        self._own: list[tuple[int, tuple[int, ...], np.dtype, int]] = []
        self._within: list[tuple[int, _Form]] = []
        for at, (name, table) in enumerate(zip(tables._fields, tables, strict=True)):
            full = f"{within}.{name}" if within else name
            if isinstance(table, tuple):
                self._within.append((at, _Form(table, type(table), full, begins)))
            elif full in begins:
                self._own.append((at, table.shape, table.dtype, begins[full]))
                self._shared[at] = None

    def filled(self, block: np.ndarray) -> Any:
        """Of tables in this block."""
        tables = self._shared.copy()
        for at, shape, dtype, begin in self._own:
            tables[at] = np.ndarray(shape, dtype, block, begin)
        for at, form in self._within:
            tables[at] = form.filled(block)
        return self._kind._make(tables)


class Mould:
    """Makes the tables of runs that begin alike."""

    def __init__(self, state: State, truth: Truth):
        everything = [*walk(state, ""), *walk(truth, "truth")]
        own = [(name, table) for name, table in everything if table.size and name not in READ_ONLY]
        own.sort(key=lambda one: one[0] in BUFFERS)  # these come last: what is in them does not count
        begins, end = {}, 0
        for name, table in own:
            begins[name], end = end, end + -(-table.nbytes // _LINE) * _LINE
        self._size = end
        self._kept = np.zeros(min([end, *(begins[name] for name in begins if name in BUFFERS)]), np.uint8)
        for name, table in own:
            if name not in BUFFERS:
                self._kept[begins[name] :][: table.nbytes] = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
        self._forms = _Form(state, _LaidState, "", begins), _Form(truth, _LaidTruth, "truth", begins)
        self._layouts: list[np.ndarray] = []
        if not numba.config.DISABLE_JIT:
            one, other = self._block(), self._block()
            self._address = one.ctypes.data
            self._layouts = [laid_out(form.filled(one)) for form in self._forms]
            # Two copies differ in where their tables are, and in nothing else.
            self._moves = [
                (laid_out(form.filled(other)) != layout).astype(np.int64)
                for form, layout in zip(self._forms, self._layouts, strict=True)
            ]

    def _block(self) -> np.ndarray:
        block = np.empty(self._size, np.uint8)
        block[: len(self._kept)] = self._kept
        return block

    def tables(self) -> tuple[State, Truth]:
        """For one more run."""
        block = self._block()
        state, truth = (form.filled(block) for form in self._forms)
        if self._layouts:
            moved = block.ctypes.data - self._address
            state.layout, truth.layout = (
                layout + moves * moved for layout, moves in zip(self._layouts, self._moves, strict=True)
            )
        return state, truth
