"""What a run has left behind, in pieces that never change, each knowing the one before it.

A snapshot holds the last pieces, whatever came before is shared, and a run that goes on from there leaves other ones.
"""

import hashlib
from typing import NamedTuple

import numpy as np

from forebay.engine.truth import HELD, LOG, PLACEMENT, STORED

BUFFERS = {"log": "n_log", "placements": "n_placed", "stored": "n_stored", "held": "n_held"}
"""Tables of a Truth that are emptied now and then, and where it stands how far each is in use."""
_KINDS = (LOG, PLACEMENT, STORED, HELD)


class Piece(NamedTuple):
    """Columns of a table, and the piece before; None of the first."""

    before: "Piece | None"
    columns: tuple[np.ndarray, ...]


Mark = tuple[Piece | None, ...]
"""The last piece of each buffer's table: all that was recorded up to there."""


def pieces(last: Piece | None) -> list[tuple[np.ndarray, ...]]:
    """The columns of a piece and of all before it, the first ones first."""
    found = []
    while last is not None:
        found.append(last.columns)
        last = last.before
    return found[::-1]


def joined(last: Piece | None) -> Piece | None:
    """All up to a piece as one: what goes into a file must not be a chain of thousands."""
    found = pieces(last)
    return Piece(None, tuple(np.concatenate(parts) for parts in zip(*found, strict=True))) if found else None


class Columns:
    """A table column by column."""

    def __init__(self, dtype: np.dtype, last: Piece | None):
        found, names = pieces(last), dtype.names or ()
        self._dtype = dtype
        self._pieces = {name: [columns[at] for columns in found] for at, name in enumerate(names)}

    def pieces(self, name: str) -> list[np.ndarray]:
        return self._pieces[name]

    def __getitem__(self, name: str) -> np.ndarray:
        return np.concatenate([np.zeros(0, self._dtype[name]), *self._pieces[name]])

    def take(self, name: str) -> np.ndarray:
        """A column, which is then gone from here: a million jobs have five million rows."""
        column = self[name]
        self._pieces[name] = []
        return column


class Record:
    """The log, the placements and the chunks of a run."""

    def __init__(
        self,
        mark: Mark = (None, None, None, None),
        said: list[tuple[float, int, str, int]] | None = None,
        seconds: float = 0.0,
        processor_seconds: float = 0.0,
    ):
        tables = (Columns(dtype, last) for dtype, last in zip(_KINDS, mark, strict=True))
        self.log, self.placements, self.stored, self.held = tables
        self.said = said or []  # by a policy that tells why jobs wait
        self.seconds = seconds  # that the run took: what is compiled before it begins does not count
        self.processor_seconds = processor_seconds  # without other programs on a busy machine

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
