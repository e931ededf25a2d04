"""The record of a run that can go back: pieces that never change, each knowing the one before it.

A snapshot then holds a piece, whatever came before is shared, and a run that goes on from there leaves other pieces.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forebay.engine.driver.recorder import Record
from forebay.engine.truth import Truth

_BUFFERS = {"log": "n_log", "placements": "n_placed", "stored": "n_stored", "held": "n_held"}
"""Tables of a Truth that are emptied now and then, and where it stands how far each is in use."""


class Piece(NamedTuple):
    """Rows of the four buffers, and the piece before; None of the first."""

    before: "Piece | None"
    rows: tuple[np.ndarray, ...]


class Trail:
    """What a run has left behind so far."""

    def __init__(self, truth: Truth, last: Piece | None = None):
        self.last = last
        self._cursor, self._tables = truth.cursor[0], tuple(getattr(truth, name) for name in _BUFFERS)
        self._failed: list[BaseException] = []

    def drain(self) -> None:
        """Empty the buffers. Called by the loop when one is full, and whenever somebody wants to know."""
        cursor = self._cursor
        if not any(cursor[count] for count in _BUFFERS.values()):
            return
        try:
            used = zip(self._tables, _BUFFERS.values(), strict=True)
            self.last = Piece(self.last, tuple(table[: cursor[count]].copy() for table, count in used))
        except BaseException as error:  # it must not cross the compiled loop: memory may be short
            self._failed.append(error)
        finally:
            cursor["n_drained"] += cursor["n_log"]
            for count in _BUFFERS.values():
                cursor[count] = 0

    def check(self) -> None:
        """Raise what emptying the buffers raised."""
        if self._failed:
            raise self._failed[0]

    def record(self, said: list[tuple[float, int, str, int]], seconds: float) -> Record:
        """All of it, as results are made of it."""
        self.drain()
        self.check()
        record = Record()
        columns = (record.log, record.placements, record.stored, record.held)
        for piece in reversed(list(pieces(self.last))):
            for column, rows in zip(columns, piece.rows, strict=True):
                column.add(rows)
        for column in columns:
            column.end()
        record.said, record.seconds = said, seconds
        return record


def pieces(last: Piece | None) -> Iterator[Piece]:
    """A piece and those before it."""
    while last is not None:
        yield last
        last = last.before


def joined(last: Piece | None) -> Piece | None:
    """All up to a piece as one: what goes into a file must not be a chain of thousands."""
    found = [piece.rows for piece in pieces(last)][::-1]
    return Piece(None, tuple(np.concatenate(parts) for parts in zip(*found, strict=True))) if found else None
