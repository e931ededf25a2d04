"""Jobs laid into what will be free, each as early as all it needs is there. Plans and reservations are made of this.

A profile has a column for each counted resource (R of them). Where places matter it goes on with one for each server's
free bytes (S) and, where nodes are pinned, with the free nodes as words of bits (W). A job's chunks are of one size,
so whether they fit hangs on the servers' room alone, not on who was placed where before.
"""

from numba import types

from forebay._jit import kernel
from forebay.algorithms.bits import count_bits, count_word
from forebay.algorithms.place import count_chunks, pick_server
from forebay.algorithms.profile import earliest, hold_before, reserve, take
from forebay.core.tables import instant_width

_i8, _f8 = types.int64, types.float64
_TIMES, _FREE, _ROW = types.float64[::1], types.int64[:, ::1], types.int64[::1]


@kernel(types.void(_TIMES, _FREE, _i8, _i8, _f8, _i8, _ROW))
def least(times, free, n, first, until, n_counted, least_free):
    """What is free from segment `first` all the way until time `until`: the least of counts, the nodes in common."""
    for r in range(len(least_free)):
        least_free[r] = free[first, r]
    limit = until - instant_width(until)
    for i in range(first + 1, n):
        if times[i] >= limit:
            break
        for r in range(n_counted):
            least_free[r] = min(least_free[r], free[i, r])
        for r in range(n_counted, len(least_free)):
            least_free[r] &= free[i, r]


@kernel
def enough(least_free, demand, size, n_chunks, R, S, W):
    """Whether what is free suffices for a job's demand and its chunks."""
    for r in range(R):
        if least_free[r] < demand[r]:
            return False
    if S > 0 and n_chunks > 0 and count_chunks(least_free[R : R + S], size, n_chunks) < n_chunks:
        return False
    return W == 0 or count_bits(least_free[R + S : R + S + W]) >= demand[0]


@kernel
def prefer_idle(least_free, before, first_word, n_nodes):
    """Keep to the nodes that are free in segment `before` already, if these are enough: whether they are.

    To the authors of pinned reservations a node is held up to and including its last moment. So one that comes free
    just when a reservation begins is pinned only if need be.
    """
    count = 0
    for r in range(first_word, len(least_free)):
        count += count_word(least_free[r] & before[r])
    if count < n_nodes:
        return False
    for r in range(first_word, len(least_free)):
        least_free[r] &= before[r]
    return True


@kernel
def _charge_emptiest(room, size, n_chunks, taken):
    """Chunks to the servers with the most room first, as many as fit; `room` is used up."""
    while n_chunks > 0:
        s = 0
        for other in range(1, len(room)):
            if room[other] > room[s]:
                s = other
        some = min(room[s] // size, n_chunks)
        room[s] = -1
        taken[s] = some * size
        n_chunks -= some


@kernel
def _pin(words, count, taken_words, size, n_chunks, site, near, room, taken):
    """The `count` lowest nodes of `words`, and a server near each for its chunk."""
    left = n_chunks if size > 0 else 0
    for w in range(len(words)):
        rest = words[w]
        while rest != 0 and count > 0:
            bit = rest & -rest
            rest ^= bit
            taken_words[w] |= bit
            count -= 1
            if left > 0:
                server = pick_server(near[site[32 * w + count_word(bit - 1)]], room, size)
                taken[server] += size
                left -= 1
    for _ in range(left):  # chunks beyond the nodes are placed as if from the machine's first node
        taken[pick_server(near[site[0]], room, size)] += size


@kernel(types.void(_ROW, _ROW, _i8, _i8, _i8, _i8, _i8, types.int32[::1], _FREE, _ROW))
def charge(least_free, demand, size, n_chunks, R, S, W, site, near, taken):
    """What a job takes from each column, into `taken`; `least_free` suffices, and is used up.

    Counted: the emptiest servers first. Pinned: the lowest nodes, and servers near these first.
    """
    for r in range(len(taken)):
        taken[r] = demand[r] if r < R else 0
    some = n_chunks if S > 0 else 0
    if W > 0:
        room, words = least_free[R : R + S], least_free[R + S :]
        _pin(words, demand[0], taken[R + S :], size, some, site, near, room, taken[R : R + S])
    elif some > 0:
        _charge_emptiest(least_free[R : R + S], size, some, taken[R : R + S])


@kernel(
    types.Tuple((_i8, _i8))(_TIMES, _FREE, _i8, _ROW, _f8, _i8, _i8, _i8, _i8, _i8, types.int32[::1], _FREE, _ROW, _ROW)
)
def lay(times, free, n, demand, duration, size, n_chunks, R, S, W, site, near, least_free, taken):
    """Reserve the earliest time at which all is free for a job; returns the segment in which it begins (-1: never), n.

    What it takes there stands in `taken` afterwards, unless R alone counts; `least_free` is scratch of the same length.
    """
    at = earliest(times, free, n, 0, R, demand, duration)
    if S + W == 0:
        return at, reserve(times, free, n, R, demand, at, times[at] + duration) if at >= 0 else n
    while at >= 0:
        end = times[at] + duration
        least(times, free, n, at, end, R + S, least_free)
        if enough(least_free, demand, size, n_chunks, R, S, W):
            idle = at > 0 and W > 0 and prefer_idle(least_free, free[at - 1], R + S, demand[0])
            charge(least_free, demand, size, n_chunks, R, S, W, site, near, taken)
            n = take(times, free, n, R + S, taken, at, end)
            if not idle:
                return at, n
            longer = hold_before(times, free, n, R + S, taken, at)
            return at + longer - n, longer
        at = earliest(times, free, n, at + 1, R, demand, duration) if at + 1 < n else -1
    return at, n
