"""The interval map of a data set: which server holds which block, in a few lines however many blocks there are.

Blocks are written in order. Those of one interval follow a pattern of servers, over and over; a change of size begins a
new interval, so that it moves nothing. A plain interval is round robin by the number of the block.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forebay.adhoc._moves import Places, Tally, weighed


class Interval(NamedTuple):
    """Blocks from `start` on: block b lies on pattern[(b - offset) % len(pattern)]."""

    start: int
    offset: int
    pattern: Places

    def places(self, first: int, n: int) -> Places:
        """The servers of `n` blocks from `first` on, in an array of their own."""
        turned = np.roll(self.pattern, (self.offset - first) % len(self.pattern))
        return np.tile(turned, -(-n // len(turned)))[:n]


class DataSet:
    """A data set of so many blocks, and its map."""

    def __init__(self) -> None:
        self.blocks = 0
        self._intervals: list[Interval] = []
        self._flat: tuple[NDArray[np.int64], ...] | None = None  # the same as arrays, once somebody looks

    def __len__(self) -> int:
        """How many intervals the map has."""
        return len(self._intervals)

    def append(self, n_blocks: int, ring: Places) -> None:
        """Write blocks behind the last one, round robin over `ring`.

        The last interval goes on if it has this very ring: after a change of size there is another one.
        """
        if n_blocks and (not self._intervals or self._intervals[-1].pattern is not ring):
            self._intervals.append(Interval(self.blocks, 0, ring))
            self._flat = None
        self.blocks += n_blocks

    def find(self, blocks: NDArray[np.int64]) -> Places:
        """The servers of these blocks, in O(log intervals) each."""
        starts, offsets, lengths, begins, table = self._flat = self._flat or self._arrays()
        k = np.searchsorted(starts, blocks, side="right") - 1
        return table[begins[k] + (blocks - offsets[k]) % lengths[k]].astype(np.int32)

    def _arrays(self) -> tuple[NDArray[np.int64], ...]:
        lengths = np.array([len(one.pattern) for one in self._intervals], np.int64)
        starts = np.array([one.start for one in self._intervals], np.int64)
        offsets = np.array([one.offset for one in self._intervals], np.int64)
        table = np.concatenate([one.pattern for one in self._intervals]) if self._intervals else np.empty(0)
        return starts, offsets, lengths, np.cumsum(lengths) - lengths, table.astype(np.int64)

    def places(self) -> Places:
        """The servers of all blocks."""
        parts = [one.places(one.start, n) for one, n in self._spans()]
        return np.concatenate(parts) if parts else np.empty(0, np.int32)

    def _spans(self) -> list[tuple[Interval, int]]:
        """Each interval, and how many blocks it has; a data set without blocks has none."""
        bounds = [*(one.start for one in self._intervals), self.blocks]
        return [(one, stop - one.start) for one, stop in zip(self._intervals, bounds[1:], strict=True)]

    def held(self, n_servers: int) -> NDArray[np.int64]:
        """How many blocks each server has."""
        held = np.zeros(n_servers, np.int64)
        for one, n in self._spans():
            period = min(len(one.pattern), n)
            held += weighed(one.places(one.start, period), _weights(n, period), n_servers)
        return held

    def compare(self, new: "DataSet", tally: Tally) -> None:
        """Count what is moved where this data set becomes `new`, which has one interval, or begins the same ones.

        Patterns repeat, so that one period of both says it all.
        """
        for k, (one, n) in enumerate(self._spans()):
            other = new._intervals[k if len(new) > 1 else 0]
            if other is not one:
                period = min(math.lcm(len(one.pattern), len(other.pattern)), n)
                tally.add(one.places(one.start, period), other.places(one.start, period), _weights(n, period))

    def spread_anew(self, ring: Places) -> "DataSet":
        """The data set as if it had been written to `ring` in the first place."""
        new = DataSet()
        new.append(self.blocks, ring)
        return new

    def without(self, gone: NDArray[np.bool_], staying: Places, turn: int) -> tuple["DataSet", int]:
        """The data set with the blocks of marked servers, and these alone, dealt out to those that stay.

        `turn` says whose turn it is; with the data set comes whose it is next.
        """
        new = DataSet()
        new.blocks = self.blocks
        for one, n in self._spans():
            changed, turn = _dealt(one, n, gone, staying, turn)
            new._intervals.append(changed)
        return new, turn


def _weights(n: int, period: int) -> NDArray[np.int64]:
    """How many of `n` blocks have each place of a period."""
    each, rest = divmod(n, period)
    return each + (np.arange(period) < rest)


def _dealt(one: Interval, n: int, gone: NDArray[np.bool_], staying: Places, turn: int) -> tuple[Interval, int]:
    """An interval of `n` blocks without the servers that go: each of its blocks there goes to the next server in turn.

    The pattern is repeated until every server that stays has had as many turns, or the interval is at its end.
    """
    n_leaving = int(gone[one.pattern].sum())
    if not n_leaving:
        return one, turn
    repeats = len(staying) // math.gcd(n_leaving, len(staying))
    if len(one.pattern) * repeats < n:
        offset, pattern = one.offset, np.tile(one.pattern, repeats)
    else:
        offset, pattern = one.start, one.places(one.start, n)
    slots = np.flatnonzero(gone[pattern])
    pattern[slots] = staying[(turn + np.arange(len(slots))) % len(staying)]
    return Interval(one.start, offset, pattern), (turn + len(slots)) % len(staying)
