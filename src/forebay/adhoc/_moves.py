"""What a change of size moves, and how long that takes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forebay.adhoc import _checks
from forebay.errors import InputError, brief, nearest

Places = NDArray[np.int32]
"""The server of each block."""

REDISTRIBUTIONS = ("partial", "total", "modulo", "consistent")
"""What can move when the number of servers changes: as in Hercules, the first two, or in GekkoFS."""


@dataclass(frozen=True)
class Move:
    """Blocks that a change of size brings from server to server.

    Parameters
    ----------
    blocks
        How many are moved.
    bytes
        How much that is.
    busiest
        The bytes that the busiest server sends or receives, whichever is more.
    """

    blocks: int = 0
    bytes: int = 0
    busiest: int = 0

    def seconds(self, bandwidth: float) -> float:
        """How long it takes where each server sends and receives so many bytes a second, both at once."""
        return self.busiest / _checks.number("the bandwidth of a server", bandwidth, above=True)


def weighed(places: Places, weights: NDArray[np.int64], n_servers: int) -> NDArray[np.int64]:
    """The weight that each server has: exact, as no data set has 2**53 blocks."""
    return np.bincount(places, weights, n_servers).astype(np.int64)


class Tally:
    """Adds up what leaves and reaches each server; servers are numbered from 0."""

    def __init__(self, n_servers: int) -> None:
        self.sent = np.zeros(n_servers, np.int64)
        self.received = np.zeros(n_servers, np.int64)

    def add(self, old: Places, new: Places, weights: NDArray[np.int64]) -> None:
        """Count blocks whose server is another one now; a place stands for as many as it weighs."""
        moved = np.flatnonzero(old != new)
        self.sent += weighed(old[moved], weights[moved], len(self.sent))
        self.received += weighed(new[moved], weights[moved], len(self.received))

    def move(self, block_size: int) -> Move:
        """All that was counted."""
        blocks = int(self.sent.sum())
        busiest = int(max(self.sent.max(), self.received.max()))
        return Move(blocks, blocks * block_size, busiest * block_size)


def shares(before: ArrayLike, after: ArrayLike, how: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of data that lie evenly on servers, what a change of their number moves, and what the busiest server does.

    Parameters
    ----------
    before
        How many servers there are.
    after
        How many there will be.
    how
        "partial" or "total" redistribution of Hercules, "modulo" or "consistent" hashing of GekkoFS.

    Returns
    -------
    tuple of arrays
        What is moved, and what the busiest server sends or receives, whichever is more.

    Examples
    --------
    >>> [share.round(3).tolist() for share in fb.adhoc.shares([4, 4], [6, 3], "partial")]
    [[0.0, 0.25], [0.0, 0.25]]
    """
    if how not in REDISTRIBUTIONS:
        raise InputError(f"the redistribution is {brief(how)}: {nearest(how, REDISTRIBUTIONS)}")
    s, t = np.broadcast_arrays(np.asarray(before, np.int64), np.asarray(after, np.int64))
    for given in (s, t):
        if (given < 1).any():
            _checks.servers(int(given.min()), None)
    least, largest = np.minimum(s, t), np.maximum(s, t)
    if how in ("total", "modulo"):
        # Of each server that is there before and after, one block in so many stays by remainders.
        whole = np.lcm(s, t)
        stays, moved = 1 / whole, 1 - least / whole
    else:
        stays, moved = 1 / largest, (largest - least) / largest
    grows = np.maximum(1 / s - stays, 1 / t)
    shrinks = np.maximum(1 / s, 1 / t - stays)
    busiest = np.where(t > s, grows, shrinks)
    nothing = (s == t) | ((t > s) & (how in ("partial", "total")))
    return np.where(nothing, 0.0, moved), np.where(nothing, 0.0, busiest)
