"""Where a job goes: nodes, lowest ids first, and a server for each node's chunk, nearest first.

The ONE rule of placement: the engine follows it, and so does every policy that asks where a job would go. A chunk lies
whole on one server (Kopański & Rządca 2021).
"""

from numba import types

from forebay._numba.jit import kernel
from forebay.algorithms.quotient import quotient
from forebay.core.tables import PICKS

_i8 = types.int64


@kernel
def count_chunks(room, size, enough):
    """How many chunks of `size` bytes the servers' `room` holds; counting stops at `enough`."""
    for s in range(len(room)):
        if room[s] >= size * enough:  # the usual case, without a division
            return enough
    count = 0
    for s in range(len(room)):
        if room[s] >= size:
            count += quotient(room[s], size)
            if count >= enough:
                break
    return count


@kernel
def _add_pick(picks, n, first, low, server):
    """Add a node (low, or -1 for none) and its server to the picks from row `first` on; returns the next row."""
    if n > first:
        last = picks[n - 1]
        follows = low == last["low"] + last["count"] if low >= 0 else last["low"] < 0
        if follows and last["server"] == server:
            last["count"] += 1
            return n
    pick = picks[n]
    pick["low"] = low
    pick["count"] = 1
    pick["server"] = server
    return n + 1


@kernel
def pick_server(near, room, size):
    """The nearest server with room for a chunk, which is taken; -1 if there is none."""
    for i in range(len(near)):
        s = near[i]
        if room[s] >= size:
            room[s] -= size
            return s
    return -1


@kernel(_i8(PICKS, _i8, _i8, _i8, types.int32[::1], _i8[:, ::1], _i8[::1], _i8))
def pick_node(picks, n, first, node, site, near, room, size):
    """Add a node and, if its chunk has a size, its server; returns the next row, or -1 if no server has room."""
    server = -1
    if size > 0:
        server = pick_server(near[site[max(node, 0)]], room, size)
        if server < 0:
            return -1
    return _add_pick(picks, n, first, node, server)


@kernel
def place(idle, n_idle, site, near, room, n_nodes, n_chunks, size, picks, first):
    """Pick the `n_nodes` lowest idle nodes and servers for `n_chunks` chunks of `size` bytes, which leave `room`.

    Idle intervals are in descending order (see algorithms.nodes.nodeset) and stay as they are. Rows go to `picks` from
    `first` on, in ascending order; returns the next row, or -1 if no server has room. Chunks beyond the nodes that a
    job gets now are placed as if from the machine's first node.
    """
    n = first
    interval, left = n_idle - 1, n_nodes
    while left > 0:
        for node in range(idle[interval]["low"], min(idle[interval]["high"], idle[interval]["low"] + left - 1) + 1):
            n = pick_node(picks, n, first, node, site, near, room, size)
            if n < 0:
                return -1
        left -= idle[interval]["high"] - idle[interval]["low"] + 1
        interval -= 1
    for _ in range(n_chunks - n_nodes):
        n = pick_node(picks, n, first, -1, site, near, room, size)
        if n < 0:
            return -1
    return n
