"""What a change of size moves, and how long that takes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.adhoc import _checks

Places = NDArray[np.int32]
"""The server of each block."""


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
