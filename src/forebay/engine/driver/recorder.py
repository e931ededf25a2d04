"""What a run leaves behind as it goes: its buffers, emptied into columns whenever they are full."""

import hashlib
import time
from collections.abc import Callable
from types import TracebackType

import numpy as np

from forebay._numba.bridge import Callback
from forebay.engine.truth import HELD, LOG, PLACEMENT, STORED, Truth

_PIECE = 1 << 20
"""Rows of a piece: large ones go back to the system when they are freed, small ones leave holes."""


class _Columns:
    """A table in pieces, column by column: 26 bytes a row of the log, where a row in the buffer has 32."""

    def __init__(self, dtype: np.dtype):
        self._pieces: dict[str, list[np.ndarray]] = {name: [] for name in dtype.names or ()}
        self._kinds = {name: dtype[name] for name in self._pieces}
        self._begun: dict[str, np.ndarray] = {}  # pieces of which the first `_n` rows are in use
        self._n = 0

    def add(self, rows: np.ndarray, last: bool = False) -> None:
        """Take rows over. After the last ones, no piece is longer than it must be."""
        while len(rows):
            if not self._begun:
                length = min(_PIECE, len(rows)) if last else _PIECE
                self._begun = {name: np.empty(length, kind) for name, kind in self._kinds.items()}
            some, rows = rows[: _PIECE - self._n], rows[_PIECE - self._n :]
            for name, piece in self._begun.items():
                piece[self._n : self._n + len(some)] = some[name]
            self._n += len(some)
            if self._n == _PIECE:
                self.end()

    def end(self) -> None:
        """Count the pieces begun as they are."""
        for name, piece in self._begun.items():
            self._pieces[name].append(piece[: self._n])
        self._begun, self._n = {}, 0

    def pieces(self, name: str) -> list[np.ndarray]:
        return self._pieces[name]

    def __getitem__(self, name: str) -> np.ndarray:
        return np.concatenate([np.zeros(0, self._kinds[name]), *self._pieces[name]])

    def take(self, name: str) -> np.ndarray:
        """A column, which is then gone from here: a million jobs have five million rows."""
        column = self[name]
        self._pieces[name] = []
        return column


class Record:
    """The log, the placements and the chunks of a run. Use it as a context while the run goes on; what its draining
    raises, leaving the context does. Without `keep`, what is drained is thrown away: ten million failures take no
    memory."""

    def __init__(self, truth: Truth | None = None, keep: bool = True):
        self.log, self.placements, self.stored = _Columns(LOG), _Columns(PLACEMENT), _Columns(STORED)
        self.held = _Columns(HELD)
        self.said: list[tuple[float, int, str, int]] = []  # by a policy that tells why jobs wait, once the run is over
        self.saying: Callable[[], list[tuple[float, int, str, int]]] = list
        self.seconds = 0.0  # that the run took, once it is over: what is compiled before it begins does not count
        self.processor_seconds: float | None = None  # processor time, without other programs on a busy machine
        self._keep, self._over = keep, False
        if truth is not None:
            self._truth = truth
        self._failed: list[BaseException] = []

    def drain(self) -> None:
        """Empty the buffers."""
        cursor, last = self._truth.cursor[0], self._over
        try:
            if not self._keep:
                return
            self.log.add(self._truth.log[: cursor["n_log"]], last)
            self.placements.add(self._truth.placements[: cursor["n_placed"]], last)
            self.stored.add(self._truth.stored[: cursor["n_stored"]], last)
            self.held.add(self._truth.held[: cursor["n_held"]], last)
        except BaseException as error:  # it must not cross the compiled loop: memory may be short
            self._failed.append(error)
        finally:
            cursor["n_drained"] += cursor["n_log"]
            cursor["n_log"] = cursor["n_placed"] = cursor["n_stored"] = cursor["n_held"] = 0

    def __enter__(self) -> Callable[[], None]:
        """Returns a function to be called now and then."""
        self._callback = Callback(self.drain)
        self._truth.cursor["drain"] = self._callback.address
        self._begun = time.perf_counter(), time.thread_time()
        return self._check

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.seconds = time.perf_counter() - self._begun[0]
        self.processor_seconds = time.thread_time() - self._begun[1]
        self._over = True
        self.drain()
        self.log.end()
        self.placements.end()
        self.stored.end()
        self.held.end()
        self.said, self.saying = self.saying(), list
        del self._callback, self._truth  # nothing is recorded any more, and the tables may be large
        if error is None:
            self._check()

    def _check(self) -> None:
        if self._failed:
            raise self._failed[0]

    def rows(self, chosen: np.ndarray) -> np.ndarray:
        """Some rows of the log."""
        found = np.zeros(int(chosen.sum()), LOG)
        for name in LOG.names or ():
            found[name] = self.log[name][chosen]
        return found

    def sha256(self) -> str:
        """Over the log's columns: two runs are the same run if and only if their hashes agree."""
        digest = hashlib.sha256()
        for name in sorted(LOG.names or ()):
            for piece in self.log.pieces(name):
                digest.update(piece.tobytes())
        return digest.hexdigest()
