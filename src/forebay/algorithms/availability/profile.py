"""What will be free when: a step function over time, for any number of resources.

`times[i]` begins segment i, which lasts to `times[i + 1]` (the last one for ever); `free[i, r]` is what resource r has
left there. Only the first `R` columns of `free` take part, so that a reservation may count fewer resources than the
machine has. What places need stands behind them: see `layout`. Where nodes are pinned, the last columns tell which
nodes are closed to who ends just when the segment begins; they hold for that moment alone.
"""

import numpy as np
from numba import types

from forebay._numba.jit import inlined_kernel, kernel
from forebay._numba.move import shift_rows
from forebay.core.tables import after, instant_width

_TIMES, _FREE = types.float64[::1], types.int64[:, ::1]


@kernel
def fits(times, free, n, first, R, demand, until):
    """Whether `demand` is free from segment `first` until time `until`."""
    limit = until - instant_width(until)
    for i in range(first, n):
        if i > first and times[i] >= limit:
            break
        for r in range(R):
            if free[i, r] < demand[r]:
                return False
    return True


@inlined_kernel
def _short(free, i, R, demand):
    """Whether segment `i` has too little. Most machines have two resources, and a loop costs more than they do."""
    if free[i, 0] < demand[0] or (R > 1 and free[i, 1] < demand[1]):
        return True
    for r in range(2, R):
        if free[i, r] < demand[r]:
            return True
    return False


@inlined_kernel
def window(times, free, n, n_begins, first, R, demand, duration):
    """The first segment from `first` on at whose beginning `demand` is free for `duration`, and the one behind its end.

    It is one of the first `n_begins`; (-1, n) if there is none.
    """
    i = first
    while i < n_begins:
        if _short(free, i, R, demand):
            i += 1
            continue
        until = times[i] + duration
        limit = until - instant_width(until)
        k = i + 1
        while k < n and times[k] < limit and not _short(free, k, R, demand):
            k += 1
        if k == n or times[k] >= limit:
            return i, k
        i = k + 1
    return -1, n


@kernel
def longest_run(times, free, n, n_begins, first, R, demand):
    """How long `demand` is free at most from the beginning of a segment on, of those from `first` to `n_begins`.

    It is inf if that is for ever. A job that asks for as much, and longer, begins in none of these.
    """
    i, longest = first, 0.0
    while i < n_begins:
        k = i
        while k < n and not _short(free, k, R, demand):
            k += 1
        if k == n:
            return np.inf
        longest = max(longest, times[k] - times[i])
        i = k + 1
    return longest


@kernel
def earliest(times, free, n, first, R, demand, duration):
    """The first segment from `first` on at whose beginning `demand` is free for `duration`; -1 if there is none."""
    return window(times, free, n, n, first, R, demand, duration)[0]


@inlined_kernel
def split(times, free, n, first, carried, time):
    """Make sure that a segment begins at `time` (within an instant); returns (that segment, n).

    `time` must not lie before segment `first`. Columns from `carried` on are blank where a segment is new.
    """
    a = first + 1  # first segment that begins after `time`
    while a < n and times[a] <= time:
        a += 1
    width = instant_width(time)
    if time - times[a - 1] <= width:
        return a - 1, n
    if a < n and times[a] - time <= width:
        return a, n
    for i in range(n, a, -1):
        times[i] = times[i - 1]
    times[a] = time
    shift_rows(free, a - 1, n)  # `a - 1` keeps its beginning and `a` its rest
    for r in range(carried, free.shape[1]):
        free[a, r] = 0
    return a, n + 1


@inlined_kernel(types.int64(_TIMES, _FREE, types.int64, types.int64, types.int64[::1], types.int64, types.float64))
def reserve(times, free, n, R, demand, first, until):
    """Take `demand` away from segment `first` until time `until`, for an instant at least; returns n."""
    last = n
    if until < float("inf"):
        last, n = split(times, free, n, first, free.shape[1], max(until, after(times[first])))
    for i in range(first, last):
        for r in range(R):
            free[i, r] -= demand[r]
    return n


@inlined_kernel(types.int64(_TIMES, _FREE, types.int64, types.int64, types.int64[::1], types.int64, types.float64))
def take(times, free, n, n_counted, taken, first, until):
    """Take `taken` away from segment `first` until time `until`; returns n. Columns from `n_counted` on are bits."""
    last = n
    if until < float("inf"):
        last, n = split(times, free, n, first, len(taken), max(until, after(times[first])))
    for i in range(first, last):
        for r in range(n_counted):
            free[i, r] -= taken[r]
        for r in range(n_counted, len(taken)):
            free[i, r] &= ~taken[r]
    return n


@inlined_kernel
def close(free, n_counted, taken, at):
    """Close the nodes of `taken` to who ends just when segment `at` begins: to some, that moment is still theirs."""
    for r in range(n_counted, len(taken)):
        free[at, len(taken) - n_counted + r] |= taken[r]
