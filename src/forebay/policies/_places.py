"""Which nodes and servers, now and later: what backfilling needs to know of places, beside how much is free.

A profile (algorithms.profile) has a row for each counted resource; where places matter it goes on with one for each
server's free bytes (S of them) and, where reservations pin nodes, with the free nodes as words of bits (W of them).
"""

import numpy as np
from numba import types

from forebay._jit import allocating_kernel, kernel
from forebay.algorithms.bits import count_bits, count_word, fill, mask, wipe
from forebay.algorithms.place import count_chunks, pick_node
from forebay.core.tables import instant_width
from forebay.core.verbs import act_start, act_start_on

_i8 = types.int64


@kernel
def chunks_of(state, j):
    """How many chunks job `j` takes on servers, one a node; 0 if its waiting leg takes none."""
    return max(state.jobs[j]["nodes"], 1) if state.legs[state.jobs[j]["leg"]]["chunk"] > 0 else 0


@allocating_kernel
def free_now(state):
    """The free nodes as bits, and the free bytes of each server."""
    words = np.zeros((len(state.site) + 31) >> 5, np.int64)
    for i in range(state.clock[0]["n_free"]):
        fill(words, state.free[i]["low"], state.free[i]["high"] - state.free[i]["low"] + 1)
    return words, state.room.copy()


@kernel
def pick(state, j, words, room):
    """Add picks for job `j`: the lowest nodes of `words`, servers near first by `room`, which shrinks.

    Returns the first of them, or -1 if no server has room; then none is added.
    """
    clock, leg = state.clock[0], state.jobs[j]["leg"]
    first = n = clock["n_picks"]
    size, left, w = state.legs[leg]["chunk"], state.demands[leg, 0], 0
    alone = chunks_of(state, j) - left  # chunks beyond the nodes that it gets now
    while left > 0:
        if words[w] == 0:
            w += 1
            continue
        for bit in range(32):
            if left > 0 and (words[w] >> bit) & 1:
                n = pick_node(state.picks, n, first, 32 * w + bit, state.site, state.near, room, size)
                if n < 0:
                    return -1
                left -= 1
        w += 1
    for _ in range(alone):
        n = pick_node(state.picks, n, first, -1, state.site, state.near, room, size)
        if n < 0:
            return -1
    clock["n_picks"] = n
    return first


@kernel
def start_picked(state, j, why, words, first):
    """Start job `j` on the picks from `first` on; its nodes leave `words`."""
    n = state.clock[0]["n_picks"]
    if n == first:
        act_start(state, j, why)
        return
    for i in range(first, n):
        if state.picks[i]["low"] >= 0:
            wipe(words, state.picks[i]["low"], state.picks[i]["count"])
    act_start_on(state, j, why, first)


@kernel
def _free_nodes(ahead, at, column, low, count):
    """Set the bits of the nodes low, low + 1, ... in the word rows from `at` on."""
    for w in range(low >> 5, ((low + count - 1) >> 5) + 1):
        ahead[at + w, column] |= mask(w, low, count)


@kernel
def return_places(state, ahead, column, j, leg, first_pick, n_picks, R, S, W):
    """Job `j` ends leg `leg`: its servers and nodes are free in a column. Picks are those of a leg started now."""
    chunked = state.clock[0]["chunked"]
    if S > 0 and state.releases[leg, chunked] > 0:
        i = state.jobs[j]["chunks"]
        while i >= 0:
            chunk = state.chunks[i]
            ahead[R + chunk["server"], column] += chunk["size"] * chunk["count"]
            i = chunk["next"]
        size = state.legs[leg]["chunk"]
        if size > 0:
            for i in range(first_pick, first_pick + n_picks):
                ahead[R + state.picks[i]["server"], column] += size * state.picks[i]["count"]
    if W == 0:
        return
    left = state.releases[leg, 0]  # given back from the last taken on, as the engine does
    for i in range(first_pick + n_picks - 1, first_pick - 1, -1):
        some = min(left, state.picks[i]["count"]) if state.picks[i]["low"] >= 0 else 0
        if some > 0:
            _free_nodes(ahead, R + S, column, state.picks[i]["low"] + state.picks[i]["count"] - some, some)
            left -= some
    h = state.jobs[j]["held"]
    while left > 0 and h >= 0:
        piece = state.held[h]
        some = min(left, piece["high"] - piece["low"] + 1)
        _free_nodes(ahead, R + S, column, piece["high"] - some + 1, some)
        left -= some
        h = piece["next"]


@kernel(types.void(types.float64[::1], _i8[:, ::1], _i8, _i8, types.float64, _i8, _i8[::1]))
def least(times, ahead, n, first, until, n_counted, least_free):
    """What is free from segment `first` all the way until time `until`: the least of counted rows, nodes in common."""
    for row in range(len(least_free)):
        least_free[row] = ahead[row, first]
    limit = until - instant_width(until)
    for i in range(first + 1, n):
        if times[i] >= limit:
            break
        for row in range(len(least_free)):
            if row < n_counted:
                least_free[row] = min(least_free[row], ahead[row, i])
            else:
                least_free[row] &= ahead[row, i]


@kernel
def enough(state, j, least_free, R, S, W):
    """Whether what is free suffices for job `j`."""
    leg, n_chunks = state.jobs[j]["leg"], chunks_of(state, j)
    for r in range(R):
        if least_free[r] < state.demands[leg, r]:
            return False
    if S > 0 and n_chunks > 0:
        size = state.legs[leg]["chunk"]
        if count_chunks(least_free[R : R + S], size, n_chunks) < n_chunks:
            return False
    return W == 0 or count_bits(least_free[R + S : R + S + W]) >= state.demands[leg, 0]


@kernel
def prefer_idle(state, j, ahead, before, least_free, first_word):
    """Keep to the nodes that are free in column `before` already, if they are enough for job `j`: whether they are.

    To the authors of pinned reservations a node is held up to and including its last moment. So one that comes free
    just when a reservation begins is pinned only if need be.
    """
    count = 0
    for row in range(first_word, len(least_free)):
        count += count_word(least_free[row] & ahead[row, before])
    if count < state.demands[state.jobs[j]["leg"], 0]:
        return False
    for row in range(first_word, len(least_free)):
        least_free[row] &= ahead[row, before]
    return True


@kernel
def take_picks(state, j, first, R, S, W, taken):
    """What job `j` takes from each row with its picks, the last made, into `taken`."""
    leg = state.jobs[j]["leg"]
    size = state.legs[leg]["chunk"]
    for row in range(len(taken)):
        taken[row] = state.demands[leg, row] if row < R else 0
    for i in range(first, state.clock[0]["n_picks"]):
        row = state.picks[i]
        if W > 0 and row["low"] >= 0:
            for w in range(row["low"] >> 5, ((row["low"] + row["count"] - 1) >> 5) + 1):
                taken[R + S + w] |= mask(w, row["low"], row["count"])
        if S > 0 and size > 0:
            taken[R + row["server"]] += size * row["count"]


@kernel
def charge(state, j, least_free, R, S, W, taken):
    """What a reservation of job `j` takes from each row, into `taken`; `least_free` suffices, and is used up.

    Counted: servers with the most room first, as many chunks as fit. Pinned: the lowest nodes, and servers near first.
    """
    clock, leg, n_chunks = state.clock[0], state.jobs[j]["leg"], chunks_of(state, j)
    size = state.legs[leg]["chunk"]
    if W > 0 and S > 0:
        first = pick(state, j, least_free[R + S :], least_free[R : R + S])
        take_picks(state, j, first, R, S, W, taken)
        clock["n_picks"] = first
        return
    take_picks(state, j, clock["n_picks"], R, S, W, taken)
    if W > 0:
        _lowest(least_free[R:], state.demands[leg, 0], taken[R:])
        return
    while S > 0 and n_chunks > 0:
        s = 0
        for other in range(1, S):
            if least_free[R + other] > least_free[R + s]:
                s = other
        some = min(least_free[R + s] // size, n_chunks)
        least_free[R + s] = -1
        taken[R + s] = some * size
        n_chunks -= some


@kernel
def _lowest(words, count, lowest):
    """The `count` lowest nodes of `words`."""
    for w in range(len(words)):
        for bit in range(32):
            if count > 0 and (words[w] >> bit) & 1:
                lowest[w] |= 1 << bit
                count -= 1
