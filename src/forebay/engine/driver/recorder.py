"""Empties the buffers of a run into its history whenever they are full."""

from collections.abc import Callable

import numpy as np

from forebay.engine.driver.history import BUFFERS, Mark, Piece
from forebay.engine.truth import Truth

_PIECE = 1 << 20
"""Rows of a piece: large ones go back to the system when they are freed, small ones leave holes."""


class Rows:
    """A table as it is recorded, column by column: 26 bytes a row of the log, where a row in the buffer has 32."""

    def __init__(self) -> None:
        self.last: Piece | None = None
        self._begun: dict[str, np.ndarray] = {}  # a piece of which the first `_n` rows are in use
        self._n = 0

    def add(self, rows: np.ndarray) -> None:
        """Take rows over."""
        while len(rows):
            if not self._begun:
                self._begun = {name: np.empty(_PIECE, rows.dtype[name]) for name in rows.dtype.names or ()}
            some, rows = rows[: _PIECE - self._n], rows[_PIECE - self._n :]
            for name, column in self._begun.items():
                column[self._n : self._n + len(some)] = some[name]
            self._n += len(some)
            if self._n == _PIECE:
                self._end(tuple(self._begun.values()))

    def close(self, rows: np.ndarray) -> None:
        """Take rows over, and end the piece: nothing that was recorded changes any more."""
        if self._begun:
            self.add(rows)
            self._end(tuple(column[: self._n].copy() for column in self._begun.values()))
        elif len(rows):
            self._end(tuple(rows[name].copy() for name in rows.dtype.names or ()))

    def go_back(self, last: Piece | None) -> None:
        """Go on from behind another piece."""
        self.last, self._begun, self._n = last, {}, 0

    def _end(self, columns: tuple[np.ndarray, ...]) -> None:
        self.go_back(Piece(self.last, columns) if columns else self.last)


class Recorder:
    """Records a run. Without `keep`, what leaves its buffers is thrown away: ten million failures take no memory."""

    def __init__(self, truth: Truth, keep: bool = True):
        self._cursor, self._keep = truth.cursor[0], keep
        self._tables = tuple((getattr(truth, name), count, Rows()) for name, count in BUFFERS.items())
        self._failed: list[BaseException] = []

    def drain(self) -> None:
        """Empty the buffers. Called by the loop when one is full."""
        self._empty(Rows.add)

    def mark(self) -> Mark:
        """All that was recorded so far."""
        self._empty(Rows.close)
        self.check()
        return tuple(rows.last for _, _, rows in self._tables)

    def go_back(self, mark: Mark) -> None:
        """Record what follows on a mark."""
        self._failed.clear()
        for (_, _, rows), last in zip(self._tables, mark, strict=True):
            rows.go_back(last)

    def check(self) -> None:
        """Raise what emptying the buffers raised."""
        if self._failed:
            raise self._failed[0]

    def _empty(self, take: Callable[[Rows, np.ndarray], None]) -> None:
        cursor = self._cursor
        try:
            if self._keep:
                for table, count, rows in self._tables:
                    take(rows, table[: cursor[count]])
        except BaseException as error:  # it must not cross the compiled loop: memory may be short
            self._failed.append(error)
        finally:
            cursor["n_drained"] += cursor["n_log"]
            for count in BUFFERS.values():
                cursor[count] = 0
