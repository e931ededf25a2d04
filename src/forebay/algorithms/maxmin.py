"""Weighted max-min fairness with caps: who gets how much of shared links. It knows nothing of jobs.

A class is a set of transfers that cross the same links and progress alike: at `rate` per unit of weight. On each of its
links it puts `load` times that rate, its members' loads summed. Rates rise together from 0; a class stops when it
reaches its cap or when a link it crosses is full (progressive filling; Bertsekas & Gallager 1992, section 6.5.2).
"""

import numpy as np
from numba import types

from forebay._numba.jit import kernel

_f8, _i8 = types.float64[::1], types.int64[::1]

OPEN = -1.0
"""The rate of a class that is still rising."""


@kernel
def _level(capacity, first, links, load, rate, used, wanted):
    """How high rates can rise before a link is full, given those that have stopped.

    Sums are made anew each time: taking a stopped class's share away again leaves rounding errors that look like room.
    """
    for k in range(len(capacity)):
        used[k] = 0.0
        wanted[k] = 0.0
    for c in range(len(rate)):
        for e in range(first[c], first[c + 1]):
            if rate[c] == OPEN:
                wanted[links[e]] += load[e]
            else:
                used[links[e]] += load[e] * rate[c]
    level = np.inf
    for k in range(len(capacity)):
        if wanted[k] > 0.0:
            level = min(level, max(capacity[k] - used[k], 0.0) / wanted[k])
    return level


@kernel(types.void(_f8, _i8, _i8, _f8, _f8, _f8, _f8, _f8))
def share_bandwidth(capacity, first, links, load, cap, rate, used, wanted):
    """Fill `rate`: the max-min fair rate of each class.

    Class c crosses links[first[c]:first[c + 1]], with the load of the same places; a class that crosses none, or loads
    none, gets its cap. `used` and `wanted` are scratch, one place a link.
    """
    n_open = len(rate)
    for c in range(len(rate)):
        rate[c] = OPEN
    while n_open > 0:
        level = _level(capacity, first, links, load, rate, used, wanted)
        # Whoever wants no more than everybody can have gets it, all at once: that only leaves more for the others.
        modest = 0
        for c in range(len(rate)):
            if rate[c] == OPEN and cap[c] <= level:
                rate[c] = cap[c]
                modest += 1
        n_open -= modest
        if modest > 0:
            continue
        # Nobody does: the links that are full first hold back all who cross them.
        limit = level * (1.0 + 1e-13)
        for c in range(len(rate)):
            if rate[c] != OPEN:
                continue
            for e in range(first[c], first[c + 1]):
                k = links[e]
                if load[e] > 0.0 and max(capacity[k] - used[k], 0.0) <= limit * wanted[k]:
                    rate[c] = level
                    n_open -= 1
                    break
