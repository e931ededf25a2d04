"""Nodes and servers of a job against lists that are searched one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.nodes import placement
from forebay.core.tables import INTERVAL, PICK
from twins import kernels

pytestmark = pytest.mark.small

N_NODES, N_SITES = 20, 4
FREE = st.sets(st.integers(0, N_NODES - 1), min_size=1)
SIZES = st.integers(1, 8)
SITES = st.lists(st.integers(0, N_SITES - 1), min_size=N_NODES, max_size=N_NODES)
ROOM = st.lists(st.integers(0, 30), min_size=1, max_size=5)


@st.composite
def machines(draw):
    """(site of each node, servers from each site, nearest first, room)."""
    room = draw(ROOM)
    near = [draw(st.permutations(range(len(room)))) for _ in range(N_SITES)]
    return draw(SITES), near, room


def arrays(site, near, room):
    """As the kernels take them."""
    return np.array(site, np.int32), np.array(near, np.int64), np.array(room, np.int64)


def intervals(free):
    """A set as rows, highest ids first, and some more that do not count."""
    lows = sorted((node for node in free if node - 1 not in free), reverse=True)
    highs = sorted((node for node in free if node + 1 not in free), reverse=True)
    rows = np.full(len(lows) + 2, -7, INTERVAL)
    rows["low"][: len(lows)], rows["high"][: len(lows)] = lows, highs
    return rows, len(lows)


def spread(rows):
    """(node, server) of each node or chunk of the picks."""
    pairs = []
    for low, count, server in rows.tolist():
        assert count > 0
        pairs += [(low + i if low >= 0 else -1, server) for i in range(count)]
    return pairs


def untouched(rows):
    return all(row == (-7, -7, -7) for row in rows.tolist())


@given(ROOM, SIZES, st.integers(0, 40))
def test_count_chunks(room, size, enough):
    """How far beyond enough it has counted is its own affair."""
    fast = placement.count_chunks(np.array(room, np.int64), size, enough)
    assert min(fast, enough) == kernels.count_chunks(room, size, enough)
    assert fast <= sum(have // size for have in room)


@given(machines(), SIZES)
def test_pick_server(machine, size):
    """Until nothing fits any more."""
    _, near, room = arrays(*machine)
    slow = room.tolist()
    server = 0
    while server >= 0:
        server = placement.pick_server(near[0], room, size)
        assert server == kernels.pick_server(near[0].tolist(), slow, size)
        assert room.tolist() == slow


@given(machines(), FREE, SIZES | st.just(0), st.integers(0, 2))
def test_pick_node(machine, nodes, size, first):
    """Any nodes in ascending order; rows before `first` are another job's and stay."""
    site, near, room = arrays(*machine)
    picks, slow, left, n = np.full(first + N_NODES, -7, PICK), [], room.tolist(), first
    for node in sorted(nodes):
        fits = kernels.pick_node(slow, node, near[site[node]].tolist(), left, size)
        n = placement.pick_node(picks, n, first, node, site, near, room, size)
        if not fits:
            assert n == -1
            return
        assert spread(picks[first:n]) == slow
        assert room.tolist() == left
    assert untouched(picks[:first])


@given(machines(), FREE, SIZES, st.data())
def test_place(machine, free, size, data):
    """Nodes alone, nodes with a chunk each, or chunks alone."""
    site, near, room = arrays(*machine)
    kind, first = data.draw(st.sampled_from(("nodes", "both", "chunks"))), data.draw(st.integers(0, 2))
    count = data.draw(st.integers(1, len(free)))
    n_nodes, n_chunks = count if kind != "chunks" else 0, count if kind != "nodes" else 0
    size = size if n_chunks else 0
    left = room.tolist()
    slow = kernels.place(free, lambda node: near[site[node]].tolist(), left, n_nodes, n_chunks, size)
    (rows, n_free), picks = intervals(free), np.full(first + N_NODES, -7, PICK)
    before = rows.copy()
    n = placement.place(rows, n_free, site, near, room, n_nodes, n_chunks, size, picks, first)
    assert np.array_equal(rows, before)
    assert untouched(picks[:first])
    if slow is None:
        assert n == -1
        return
    assert spread(picks[first:n]) == slow
    assert room.tolist() == left


def test_place_by_hand():
    # Nodes 0-1 at site 0 (server 0 first), 2-3 at site 1 (server 1 first); free 1-3; chunks of 5 in rooms of 12 and 6.
    # Node 1: server 0 (7 left). Node 2: server 1 (1 left). Node 3: server 1 is full, server 0 (2 left).
    site, near, room = arrays([0, 0, 1, 1], [[0, 1], [1, 0]], [12, 6])
    (rows, n_free), picks = intervals({1, 2, 3}), np.zeros(4, PICK)
    n = placement.place(rows, n_free, site, near, room, 3, 3, 5, picks, 0)
    assert spread(picks[:n]) == [(1, 0), (2, 1), (3, 0)]
    assert room.tolist() == [2, 1]
    # Chunks of 1 alone, three of them, from site 0: two on server 0, then one on server 1.
    n = placement.place(rows, n_free, site, near, room, 0, 3, 1, picks, 0)
    assert spread(picks[:n]) == [(-1, 0), (-1, 0), (-1, 1)]
    # Nothing is left, which nodes alone do not mind.
    assert placement.place(rows, n_free, site, near, room, 1, 1, 1, picks, 0) == -1
    n = placement.place(rows, n_free, site, near, room, 2, 0, 0, picks, 0)
    assert spread(picks[:n]) == [(1, -1), (2, -1)]
