"""Which nodes and servers, now and later: what backfilling needs to know of places, beside how much is free.

A profile has columns for places beside those for amounts: see algorithms.plan.
"""

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, kernel
from forebay.algorithms.bits import fill, mask, wipe
from forebay.algorithms.kinds import fewest_large
from forebay.algorithms.place import pick_node
from forebay.core.tables import STATE
from forebay.core.verbs import act_start, act_start_large, act_start_on

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


@allocating_kernel
def free_of(state, pinned):
    """What is free of each resource; and where places matter, as for chunks, what `free_now` says, else nothing."""
    free = np.empty(len(state.resources), np.int64)
    for r in range(len(free)):
        free[r] = state.resources[r]["free"]
    words, room = free[:0], free[:0]
    if pinned or state.clock[0]["chunked"] >= 0:
        words, room = free_now(state)
    return free, words, room


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
def large_of(state, R):
    """The column that counts large nodes where the first `R` count; -1 where nodes are alike, or it is not there."""
    large = state.clock[0]["large"]
    return large if large < R else -1


@kernel
def charge(state, free, leg, n_large):
    """What leg `leg` takes leaves `free`, with so many nodes of the larger kind if there are two."""
    for r in range(len(free)):
        free[r] -= state.demands[leg, r]
    large = large_of(state, len(free))
    if large >= 0:
        free[large] -= n_large - state.demands[leg, large]


@kernel
def fewest(state, free, leg):
    """The large nodes that leg `leg` takes if it starts now and reservations do not count; 0 if nodes are alike."""
    large = state.clock[0]["large"]
    return fewest_large(state.demands[leg], large, free[0], free[large]) if large >= 0 else 0


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
def start_large(state, free, words, room, j, why, n_large):
    """Start job `j`, which fits, with so many nodes of the larger kind, where they are of two."""
    charge(state, free, state.jobs[j]["leg"], n_large)
    if state.clock[0]["large"] >= 0:
        act_start_large(state, j, why, n_large)
    elif len(words) == 0:
        act_start(state, j, why)
    else:
        start_picked(state, j, why, words, pick(state, j, words, room))


@kernel
def _free_nodes(ahead, at, segment, low, count):
    """Set the bits of the nodes low, low + 1, ... in the words from column `at` on."""
    for w in range(low >> 5, ((low + count - 1) >> 5) + 1):
        ahead[segment, at + w] |= mask(w, low, count)


@kernel
def return_places(state, ahead, segment, j, leg, first_pick, n_picks, R, S, W):
    """Job `j` ends leg `leg`: its servers and nodes are free in a segment. Picks are those of a leg started now."""
    chunked = state.clock[0]["chunked"]
    if S > 0 and state.releases[leg, chunked] > 0:
        i = state.jobs[j]["chunks"]
        while i >= 0:
            chunk = state.chunks[i]
            ahead[segment, R + chunk["server"]] += chunk["size"] * chunk["count"]
            i = chunk["next"]
        size = state.legs[leg]["chunk"]
        if size > 0:
            for i in range(first_pick, first_pick + n_picks):
                ahead[segment, R + state.picks[i]["server"]] += size * state.picks[i]["count"]
    if W == 0:
        return
    left = state.releases[leg, 0]  # given back from the last taken on, as the engine does
    for i in range(first_pick + n_picks - 1, first_pick - 1, -1):
        some = min(left, state.picks[i]["count"]) if state.picks[i]["low"] >= 0 else 0
        if some > 0:
            _free_nodes(ahead, R + S, segment, state.picks[i]["low"] + state.picks[i]["count"] - some, some)
            left -= some
    h = state.jobs[j]["held"]
    while left > 0 and h >= 0:
        piece = state.held[h]
        some = min(left, piece["high"] - piece["low"] + 1)
        _free_nodes(ahead, R + S, segment, piece["high"] - some + 1, some)
        left -= some
        h = piece["next"]


@kernel
def take_picks(state, j, first, R, S, W, taken):
    """What job `j` takes from each column with its picks, the last made, into `taken`."""
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


@kernel(types.void(STATE, _i8[:, ::1], _i8, _i8, _i8, _i8, _i8, _i8, _i8, _i8))
def give_back(state, ahead, segment, j, leg, first_pick, n_picks, R, S, W):
    """All that job `j` gives back when it ends leg `leg`."""
    for r in range(R):
        ahead[segment, r] += state.releases[leg, r]
    if S + W > 0:
        return_places(state, ahead, segment, j, leg, first_pick, n_picks, R, S, W)
