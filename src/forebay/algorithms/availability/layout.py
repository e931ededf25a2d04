"""Jobs laid into what will be free, each as early as all it needs is there. Plans and reservations are made of this.

A profile has a column for each counted resource (R of them). Where places matter it goes on with one for each server's
free bytes (S) and, where nodes are pinned, with the free nodes as words of bits (W) and those that are closed (W again,
see `profile`). A job's chunks are of one size, so whether they fit hangs on the servers' room alone, not on who was
placed where before.

Where nodes are not all alike, the last of the R columns count those of each atom: see `atoms`. Then places do not
matter.
"""

from numba import types

from forebay._numba.jit import inlined_kernel, kernel
from forebay.algorithms.availability.profile import close, reserve, take, window
from forebay.algorithms.nodes.atoms import COLUMN, may_choose, share_for
from forebay.algorithms.nodes.bits import count_bits, count_word
from forebay.algorithms.nodes.placement import count_chunks
from forebay.algorithms.quotient import quotient
from forebay.core.tables import instant_width

_i8, _f8 = types.int64, types.float64
_TIMES, _FREE, _ROW = types.float64[::1], types.int64[:, ::1], types.int64[::1]


@inlined_kernel
def behind(times, n, first, until):
    """The first segment that does not begin before `until`."""
    i, limit = first + 1, until - instant_width(until)
    while i < n and times[i] < limit:
        i += 1
    return i


@inlined_kernel
def _least(free, first, last, begin, end, least_free):
    """The least of the columns from `begin` to before `end`, from segment `first` to before `last`."""
    found, row = least_free[begin:end], free[first, begin:end]
    for r in range(len(found)):
        found[r] = row[r]
    for i in range(first + 1, last):
        row = free[i, begin:end]
        for r in range(len(found)):
            found[r] = min(found[r], row[r])


@inlined_kernel
def _common_nodes(times, free, n, first, last, until, n_counted, least_free):
    """Which nodes are free from segment `first` to before `last`, and not closed to who ends then."""
    n_words = len(least_free) - n_counted
    ends_there = last < n and times[last] <= until + instant_width(until)
    for r in range(n_counted, len(least_free)):
        nodes = free[first, r]
        for i in range(first + 1, last):
            nodes &= free[i, r]
        if ends_there:
            nodes &= ~free[last, n_words + r]
        least_free[r] = nodes


@kernel(types.void(_TIMES, _FREE, _i8, _i8, _f8, _i8, _ROW))
def least(times, free, n, first, until, n_counted, least_free):
    """What is free from segment `first` all the way until time `until`: the least of counts, the nodes in common."""
    last = behind(times, n, first, until)
    _least(free, first, last, 0, n_counted, least_free)
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


@inlined_kernel
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


@inlined_kernel
def _charge_emptiest(room, size, n_chunks, taken):
    """Chunks to the servers with the most room first, as many as fit; `room` is used up."""
    while n_chunks > 0:
        s, most = 0, room[0]
        for other in range(1, len(room)):
            if room[other] > most:
                s, most = other, room[other]
        some = n_chunks if most >= size * n_chunks else quotient(most, size)
        room[s] = -1
        taken[s] = some * size
        n_chunks -= some


@inlined_kernel
def _fill_servers(near, room, size, n_chunks, taken):
    """Chunks to the nearest servers that have room for them; how many found none."""
    for k in range(len(near)):
        if n_chunks == 0:
            break
        s = near[k]
        if room[s] >= size:
            some = n_chunks if room[s] >= size * n_chunks else quotient(room[s], size)
            room[s] -= some * size
            taken[s] += some * size
            n_chunks -= some
    return n_chunks


@inlined_kernel
def _lowest(bits, count):
    """The `count` lowest of some bits."""
    rest = bits
    for _ in range(count):
        rest &= rest - 1
    return bits ^ rest


@inlined_kernel
def _pin(words, count, room, n_chunks, size, seats, near, bits_taken, bytes_taken):
    """The `count` lowest nodes of `words`, and a server near each for its chunk; False if there is none for one."""
    for k in range(len(seats)):
        if count == 0:
            break
        bits = words[seats[k, 0]] & seats[k, 1]
        if bits == 0:
            continue
        here = count_word(bits)
        if here > count:
            bits, here = _lowest(bits, count), count
        bits_taken[seats[k, 0]] |= bits
        count -= here
        some = min(here, n_chunks)
        if some > 0 and _fill_servers(near[seats[k, 2]], room, size, some, bytes_taken) > 0:
            return False
        n_chunks -= some
    # Chunks beyond the nodes are placed as if from the machine's first node.
    return n_chunks == 0 or _fill_servers(near[seats[0, 2]], room, size, n_chunks, bytes_taken) == 0


@inlined_kernel
def _take_pinned(times, free, n, at, last, end, n_nodes, size, n_chunks, R, S, seats, near, least_free, taken):
    """The lowest nodes from segment `at` until `end`, servers near them, into `taken`; False if not all are free."""
    first_word = R + S
    words, room = least_free[first_word:], least_free[R:first_word]
    _common_nodes(times, free, n, at, last, end, first_word, least_free)
    idle = at > 0 and prefer_idle(least_free, free[at - 1], first_word, n_nodes)
    if not idle and count_bits(words) < n_nodes:
        return False
    if n_chunks > 0:
        _least(free, at, last, R, first_word, least_free)
    if not _pin(words, n_nodes, room, n_chunks, size, seats, near, taken[first_word:], taken[R:first_word]):
        return False
    if idle:
        close(free, first_word, taken, at)
    return True


@inlined_kernel
def charge_servers(free, at, last, size, n_chunks, R, S, least_free, taken):
    """Chunks on the emptiest servers into `taken`; False if they do not fit."""
    if n_chunks == 0:
        return True
    _least(free, at, last, R, R + S, least_free)
    if count_chunks(least_free[R : R + S], size, n_chunks) < n_chunks:
        return False
    _charge_emptiest(least_free[R : R + S], size, n_chunks, taken[R : R + S])
    return True


@kernel(
    types.Tuple((_i8, _i8))(
        _TIMES, _FREE, _i8, _ROW, _f8, _i8, _i8, _i8, _i8, _i8, _FREE, _FREE, _ROW, _ROW, _FREE, _i8
    )
)  # fmt: skip
def lay(times, free, n, demand, duration, size, n_chunks, R, S, W, seats, near, least_free, taken, atoms, allowed):
    """Reserve the earliest time at which all is free for a job; returns the segment in which it begins (-1: never), n.

    Counted, its chunks are charged to the emptiest servers; pinned (W > 0), it gets the lowest nodes and servers near
    them; `seats` are the nodes by where they look for room (see core.tables). Scratch, `least_free` and `taken`, has a
    place a column. It may have nodes of the `allowed` ones of `atoms` (none: all nodes are alike).
    """
    at, some = -1, n_chunks if S > 0 and size > 0 else 0
    while True:
        at, last = window(times, free, n, n, at + 1, R, demand, duration)
        if at < 0:
            return at, n
        end = times[at] + duration
        if len(atoms) > 0 and may_choose(allowed):
            if not share_for(free, at, last, atoms, allowed, demand[0], least_free):
                continue
            for r in range(R):
                taken[r] = demand[r]
            for a in range(len(atoms)):
                if atoms[a, COLUMN] >= 0:
                    taken[atoms[a, COLUMN]] = least_free[a]
            return at, reserve(times, free, n, R, taken, at, end)
        if S + W == 0:
            return at, reserve(times, free, n, R, demand, at, end)
        for r in range(len(taken)):
            taken[r] = demand[r] if r < R else 0
        if W > 0:
            fits = _take_pinned(
                times, free, n, at, last, end, demand[0], size, some, R, S, seats, near, least_free, taken
            )
        else:
            fits = charge_servers(free, at, last, size, some, R, S, least_free, taken)
        if fits:
            return at, take(times, free, n, R + S, taken, at, end)
