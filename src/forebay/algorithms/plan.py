"""Jobs laid into what will be free, each as early as all it needs is there. Plans and reservations are made of this.

A profile has a column for each counted resource (R of them). Where places matter it goes on with one for each server's
free bytes (S) and, where nodes are pinned, with the free nodes as words of bits (W) and those that are closed (W again,
see `profile`). A job's chunks are of one size, so whether they fit hangs on the servers' room alone, not on who was
placed where before.
"""

from numba import types

from forebay._jit import kernel
from forebay.algorithms.bits import count_bits, count_word
from forebay.algorithms.place import count_chunks
from forebay.algorithms.profile import close, earliest, reserve, take
from forebay.core.tables import instant_width

_i8, _f8 = types.int64, types.float64
_TIMES, _FREE, _ROW = types.float64[::1], types.int64[:, ::1], types.int64[::1]


@kernel
def _behind(times, n, first, until):
    """The first segment that does not begin before `until`."""
    i, limit = first + 1, until - instant_width(until)
    while i < n and times[i] < limit:
        i += 1
    return i


@kernel
def _least_of(free, first, last, r):
    """The least of a column from segment `first` to before `last`."""
    amount = free[first, r]
    for i in range(first + 1, last):
        amount = min(amount, free[i, r])
    return amount


@kernel
def _common_nodes(times, free, n, first, last, until, n_counted, least_free):
    """Which nodes are free from segment `first` to before `last`, and not closed to who ends then; how many."""
    count, n_words = 0, len(least_free) - n_counted
    ends_there = last < n and times[last] <= until + instant_width(until)
    for r in range(n_counted, len(least_free)):
        nodes = free[first, r]
        for i in range(first + 1, last):
            nodes &= free[i, r]
        if ends_there:
            nodes &= ~free[last, n_words + r]
        least_free[r] = nodes
        count += count_word(nodes)
    return count


@kernel(types.void(_TIMES, _FREE, _i8, _i8, _f8, _i8, _ROW))
def least(times, free, n, first, until, n_counted, least_free):
    """What is free from segment `first` all the way until time `until`: the least of counts, the nodes in common."""
    last = _behind(times, n, first, until)
    for r in range(n_counted):
        least_free[r] = _least_of(free, first, last, r)
    _common_nodes(times, free, n, first, last, until, n_counted, least_free)


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
def _fill_servers(near, room, free, first, last, R, size, n_chunks, taken):
    """Chunks to the nearest servers that have room for them all the time; how many found none.

    `room` is -1 where it is not known yet: few servers are ever asked.
    """
    for k in range(len(near)):
        if n_chunks == 0:
            break
        s = near[k]
        if room[s] < 0:
            room[s] = _least_of(free, first, last, R + s)
        if room[s] >= size:
            some = n_chunks if room[s] >= size * n_chunks else room[s] // size
            room[s] -= some * size
            taken[R + s] += some * size
            n_chunks -= some
    return n_chunks


@kernel
def _lowest(bits, count):
    """The `count` lowest of some bits."""
    rest = bits
    for _ in range(count):
        rest &= rest - 1
    return bits ^ rest


@kernel
def _pin(free, first, last, words, count, n_chunks, size, R, S, seats, near, room, taken):
    """The `count` lowest nodes of `words`, and a server near each for its chunk; False if there is none for one."""
    for r in range(R, len(taken)):
        taken[r] = 0
    left = n_chunks if S > 0 and size > 0 else 0
    for s in range(S):
        room[s] = -1
    for k in range(len(seats)):
        if count == 0:
            break
        bits = words[seats[k, 0]] & seats[k, 1]
        if bits == 0:
            continue
        here = count_word(bits)
        if here > count:
            bits, here = _lowest(bits, count), count
        taken[R + S + seats[k, 0]] |= bits
        count -= here
        some = min(here, left)
        if some > 0 and _fill_servers(near[seats[k, 2]], room, free, first, last, R, size, some, taken) > 0:
            return False
        left -= some
    # Chunks beyond the nodes are placed as if from the machine's first node.
    return left == 0 or _fill_servers(near[seats[0, 2]], room, free, first, last, R, size, left, taken) == 0


@kernel
def _lay_pinned(times, free, n, at, demand, end, size, n_chunks, R, S, seats, near, least_free, taken):
    """Pin the lowest nodes from segment `at` until `end`, and servers near them; n, or -1 if they are not free."""
    last, first_word = _behind(times, n, at, end), R + S
    if _common_nodes(times, free, n, at, last, end, first_word, least_free) < demand[0]:
        return -1
    idle = at > 0 and prefer_idle(least_free, free[at - 1], first_word, demand[0])
    words, room = least_free[first_word:], least_free[R:first_word]
    if not _pin(free, at, last, words, demand[0], n_chunks, size, R, S, seats, near, room, taken):
        return -1
    for r in range(R):
        taken[r] = demand[r]
    n = take(times, free, n, first_word, taken, at, end)
    if idle:
        close(free, first_word, taken, at)
    return n


@kernel
def _lay_counted(times, free, n, at, demand, end, size, n_chunks, R, S, least_free, taken):
    """Take chunks of the emptiest servers from segment `at` until `end`; n, or -1 if they do not fit."""
    last, some = _behind(times, n, at, end), n_chunks if size > 0 else 0
    for r in range(R):
        taken[r] = demand[r]
    for r in range(R, R + S):
        least_free[r] = _least_of(free, at, last, r)
        taken[r] = 0
    if some > 0:
        if count_chunks(least_free[R : R + S], size, some) < some:
            return -1
        _charge_emptiest(least_free[R : R + S], size, some, taken[R : R + S])
    return take(times, free, n, R + S, taken, at, end)


@kernel(
    types.Tuple((_i8, _i8))(
        _TIMES, _FREE, _i8, _ROW, _f8, _i8, _i8, _i8, _i8, _i8, _FREE, _FREE, _ROW, _ROW
    )
)  # fmt: skip
def lay(times, free, n, demand, duration, size, n_chunks, R, S, W, seats, near, least_free, taken):
    """Reserve the earliest time at which all is free for a job; returns the segment in which it begins (-1: never), n.

    Counted, its chunks are charged to the emptiest servers; pinned (W > 0), it gets the lowest nodes and servers near
    them; `seats` are the nodes by site (see core.tables). Scratch, `least_free` and `taken`, has a place a column.
    """
    at = earliest(times, free, n, 0, R, demand, duration)
    while at >= 0:
        end = times[at] + duration
        if W > 0:
            longer = _lay_pinned(times, free, n, at, demand, end, size, n_chunks, R, S, seats, near, least_free, taken)
        elif S > 0:
            longer = _lay_counted(times, free, n, at, demand, end, size, n_chunks, R, S, least_free, taken)
        else:
            longer = reserve(times, free, n, R, demand, at, end)
        if longer >= 0:
            return at, longer
        at = earliest(times, free, n, at + 1, R, demand, duration) if at + 1 < n else -1
    return at, n
