"""Which nodes and servers, now and later: what backfilling needs to know of places, beside how much is free.

A profile has columns for places beside those for amounts: see algorithms.availability.layout.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from forebay._numba.jit import allocating_kernel, inlined_kernel, kernel
from forebay.algorithms.nodes.bits import fill, mask, wipe
from forebay.algorithms.nodes.placement import count_chunks, pick_node
from forebay.core.tables import STATE
from forebay.core.verbs import act_start, take_picks_from
from forebay.policies._kernels.availability.node_sets import charge, fits_atoms, keep_share, return_node
from forebay.policies._kernels.availability.shared_nodes import fits_inside, start_inside

_i8 = types.int64


@kernel
def chunks_of(state, j):
    """How many chunks job `j` takes on servers, one a node; 0 if its waiting leg takes none."""
    return max(state.jobs[j]["nodes"], 1) if state.legs[state.jobs[j]["leg"]]["chunk"] > 0 else 0


class Have(NamedTuple):
    """What is there for a decision. It shrinks with every start."""

    free: np.ndarray  # int64[resource]
    words: np.ndarray  # the idle nodes as bits, in words of 32; empty where places do not matter
    room: np.ndarray  # int64[server]: free bytes; empty where places do not matter
    inside: np.ndarray  # int64[node, dimension]: what is free inside nodes; empty where these are not shared


@allocating_kernel
def _free_now(state):
    free = np.empty(len(state.resources), np.int64)
    for r in range(len(free)):
        free[r] = state.resources[r]["free"]
    return free


@allocating_kernel
def have_inside(state, room):
    """What a decision begins with where nodes are shared, and have this room."""
    free = _free_now(state)
    return Have(free, free[:0], free[:0], room)


@allocating_kernel
def what_is_there(state, pinned):
    """What a decision begins with. Places matter where a tier lies in chunks, or if reservations pin nodes."""
    free, inside = _free_now(state), state.inside.room
    if state.machine[0]["placement"] >= 0:
        return have_inside(state, inside.copy())
    if not pinned and state.machine[0]["chunked"] < 0:
        return Have(free, free[:0], free[:0], inside)
    words = np.zeros((len(state.nodes.site) + 31) >> 5, np.int64)
    for i in range(state.counts[0]["n_idle"]):
        piece = state.nodes.idle[i]
        fill(words, piece["low"], piece["high"] - piece["low"] + 1)
    return Have(free, words, state.servers.room.copy(), inside)


@kernel
def fits_places(state, have, j, leg):
    """Whether the waiting leg of job `j`, of which there is enough in all, finds it where it may be."""
    if len(state.inside.full) > 0:
        return fits_inside(state.inside, have.inside, state.inside.asks[leg])
    if not fits_atoms(state, have.free, leg):
        return False
    if state.machine[0]["chunked"] < 0 or state.legs[leg]["chunk"] == 0:
        return True
    n_chunks = chunks_of(state, j)
    return count_chunks(have.room, state.legs[leg]["chunk"], n_chunks) >= n_chunks


@inlined_kernel
def leg_fits_now(state, have, j, leg):
    """Whether what `leg` of job `j` takes is there now. Of a long line amounts alone decide for most."""
    demand = state.demands[leg]
    for r in range(len(have.free)):
        if demand[r] > have.free[r]:
            return False
    return fits_places(state, have, j, leg)


@inlined_kernel
def fits_now(state, have, j):
    """The same of the leg that it waits for."""
    return leg_fits_now(state, have, j, state.jobs[j]["leg"])


@kernel
def pick(state, j, words, room):
    """Add picks for job `j`: the lowest nodes of `words`, servers near first by `room`, which shrinks.

    Returns the first of them, or -1 if no server has room; then none is added.
    """
    counts, leg, site, near = state.counts[0], state.jobs[j]["leg"], state.nodes.site, state.servers.near
    first = n = counts["n_picks"]
    size, left, w = state.legs[leg]["chunk"], state.demands[leg, 0], 0
    alone = chunks_of(state, j) - left  # chunks beyond the nodes that it gets now
    while left > 0:
        if words[w] == 0:
            w += 1
            continue
        for bit in range(32):
            if left > 0 and (words[w] >> bit) & 1:
                n = pick_node(state.picks, n, first, 32 * w + bit, site, near, room, size)
                if n < 0:
                    return -1
                left -= 1
        w += 1
    for _ in range(alone):
        n = pick_node(state.picks, n, first, -1, site, near, room, size)
        if n < 0:
            return -1
    counts["n_picks"] = n
    return first


@kernel
def start_picked(state, j, reason, words, first):
    """Start job `j` on the picks from `first` on; its nodes leave `words`."""
    action = act_start(state, j, reason)
    for i in range(first, state.counts[0]["n_picks"]):
        if state.picks[i]["low"] >= 0:
            wipe(words, state.picks[i]["low"], state.picks[i]["count"])
    take_picks_from(state, action, first)


@kernel
def start_fitting(state, have, j, reason):
    """Start job `j`, which fits, with its share of each atom as worked out last, where nodes are not all alike."""
    charge(state, have.free, state.jobs[j]["leg"])
    if len(state.inside.full) > 0:
        start_inside(state, have.inside, j, reason)
    elif len(have.words) > 0:
        start_picked(state, j, reason, have.words, pick(state, j, have.words, have.room))
    else:
        keep_share(state, act_start(state, j, reason))


@kernel
def _free_nodes(ahead, at, segment, low, count):
    """Set the bits of the nodes low, low + 1, ... in the words from column `at` on."""
    for w in range(low >> 5, ((low + count - 1) >> 5) + 1):
        ahead[segment, at + w] |= mask(w, low, count)


@kernel
def return_places(state, ahead, segment, j, leg, first_pick, n_picks, R, S, W):
    """Job `j` ends leg `leg`: its servers and nodes are free in a segment. Picks are those of a leg started now."""
    chunked = state.machine[0]["chunked"]
    if S > 0 and state.releases[leg, chunked] > 0:
        i = state.jobs[j]["chunk"]
        while i >= 0:
            chunk = state.servers.chunks[i]
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
    h = state.jobs[j]["piece"]
    while left > 0 and h >= 0:
        piece = state.nodes.pieces[h]
        some = min(left, piece["high"] - piece["low"] + 1)
        _free_nodes(ahead, R + S, segment, piece["high"] - some + 1, some)
        left -= some
        h = piece["next"]


@kernel
def repair(state, ahead, segment, node, R, S, W):
    """A node that is down is back in a segment."""
    return_node(state, ahead, segment, node, R)
    if W > 0:
        _free_nodes(ahead, R + S, segment, node, 1)


@kernel
def take_picks(state, j, first, R, S, W, taken):
    """What job `j` takes from each column with its picks, the last made, into `taken`."""
    leg = state.jobs[j]["leg"]
    size = state.legs[leg]["chunk"]
    for row in range(len(taken)):
        taken[row] = state.demands[leg, row] if row < R else 0
    for i in range(first, state.counts[0]["n_picks"]):
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
