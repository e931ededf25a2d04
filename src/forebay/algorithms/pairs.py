"""Numbers kept for a few pairs of many. A table of all pairs of 10,000 jobs takes 800 MB, and a second to clear."""

import numpy as np

from forebay._numba.jit import allocating_kernel, kernel

_SPREAD = 0x9E3779B1  # 2^32 over the golden ratio: keys in even steps land far apart (Knuth, Art of Programming 3, 6.4)
_WORD = 2**31 - 1


@allocating_kernel
def room_for(n_pairs):
    """A table for so many pairs at most: keys, 0 where a place is free, and their numbers."""
    size = 4
    while size < 2 * n_pairs:
        size *= 2
    return np.zeros(size, np.int64), np.zeros(size, np.int64)


@kernel
def place_of(keys, key):
    """Where a key above 0 stands in the table, or would."""
    mask = len(keys) - 1
    at = (((key & _WORD) * _SPREAD) >> 16) & mask
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & mask
    return at
