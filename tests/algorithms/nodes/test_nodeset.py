"""Intervals of node ids against Python sets."""

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.nodes import nodeset
from forebay.core.tables import INTERVAL
from twins import kernels as naive

pytestmark = pytest.mark.small


class Pair:
    """Free and held intervals, and the sets that they stand for."""

    def __init__(self, n_nodes, n_jobs=1):
        self.free, self.held = np.zeros(n_nodes + 1, INTERVAL), np.zeros(n_nodes + 1, INTERVAL)
        self.n, self.blank, self.heads = nodeset.clear(self.free, self.held, n_nodes), 0, [-1] * n_jobs
        self.twin, self.lists = naive.Nodes(n_nodes), [[] for _ in range(n_jobs)]

    def take(self, count, job=0):
        answer = nodeset.take_lowest(self.free, self.n, self.held, self.blank, self.heads[job], count)
        self.n, self.blank, self.heads[job] = answer
        self.twin.take_lowest(self.lists[job], count)

    def take_these(self, low, count, job=0):
        answer = nodeset.take_these(self.free, self.n, self.held, self.blank, self.heads[job], low, count)
        self.n, self.blank, self.heads[job] = answer
        self.twin.take_these(self.lists[job], low, count)

    def take_from(self, first, count, job=0):
        answer = nodeset.take_from(self.free, self.n, self.held, self.blank, self.heads[job], first, count)
        self.n, self.blank, self.heads[job] = answer
        self.twin.take_from(self.lists[job], first, count)

    def give(self, count, job=0):
        answer = nodeset.give_back(self.free, self.n, self.held, self.blank, self.heads[job], count)
        self.n, self.blank, self.heads[job] = answer
        self.twin.give_back(self.lists[job], count)

    def give_these(self, low, count, job=0):
        answer = nodeset.give_these(self.free, self.n, self.held, self.blank, self.heads[job], low, count)
        self.n, self.blank, self.heads[job] = answer
        self.twin.give_these(self.lists[job], low, count)

    def intervals(self):
        """The free set, lowest first."""
        return [(int(row["low"]), int(row["high"])) for row in self.free[: self.n][::-1]]

    def chain(self, job):
        """The intervals that a job holds, from the front."""
        found, row = [], self.heads[job]
        while row != -1:
            found.append((int(self.held[row]["low"]), int(self.held[row]["high"])))
            row = self.held[row]["next"]
        return found

    def holds(self, job):
        """The ids of a chain."""
        return {node for low, high in self.chain(job) for node in range(low, high + 1)}

    def check(self):
        free = self.intervals()
        assert {node for low, high in free for node in range(low, high + 1)} == self.twin.free
        # Ascending, and never two that touch: neighbours are merged.
        assert all(a[1] + 1 < b[0] for a, b in pairwise(free))
        for job, nodes in enumerate(self.lists):
            assert self.holds(job) == set(nodes)
            for node in range(len(self.free)):
                row = nodeset.holder(self.held, self.heads[job], node)
                assert (row >= 0) == self.twin.holder(nodes, node)
                assert row < 0 or self.held[row]["low"] <= node <= self.held[row]["high"]
        for node in range(len(self.free)):
            row = nodeset.find(self.free, self.n, node)
            assert (row >= 0) == self.twin.find(node)
            at, lowest = nodeset.first_from(self.free, self.n, node), self.twin.first_from(node)
            assert (None if at < 0 else max(node, int(self.free[at]["low"]))) == lowest
            assert row < self.n
            assert row < 0 or self.free[row]["low"] <= node <= self.free[row]["high"]


@pytest.mark.parametrize("seed", range(8))
def test_random_operations(seed):
    """Jobs take, take more, give back a part or all, in any order, until the set is in many pieces."""
    rng = random.Random(seed)
    pair = Pair(n_nodes=40, n_jobs=9)
    for _ in range(150):
        job = rng.randrange(9)
        if rng.random() < 0.5:
            pair.take(rng.randint(0, min(6, len(pair.twin.free))), job)
        else:
            held = len(pair.lists[job])
            pair.give(held if rng.random() < 0.5 else rng.randint(0, held), job)
        pair.check()
    for job in range(9):
        pair.give(len(pair.lists[job]), job)
    assert pair.intervals() == [(0, 39)]


SMALL = st.integers(0, 30)


KINDS = st.sampled_from(("these", "lowest", "from", "give", "give these"))


@given(st.lists(st.tuples(KINDS, st.integers(0, 3), SMALL, SMALL), max_size=25))
def test_chosen_nodes(steps):
    """Jobs take parts of free intervals, or the lowest nodes, and give back what was taken last, or any part."""
    pair = Pair(n_nodes=40, n_jobs=4)
    for kind, job, a, b in steps:
        pieces = pair.intervals()
        if kind == "give":
            pair.give(min(a, len(pair.lists[job])), job)
        elif kind == "give these":
            if held := pair.chain(job):
                low, high = held[a % len(held)]
                low += b % (high - low + 1)
                pair.give_these(low, 1 + (a + b) % (high - low + 1), job)
        elif kind == "lowest":
            pair.take(min(a, len(pair.twin.free)), job)
        elif kind == "from":
            pair.take_from(b, min(a, sum(node >= b for node in pair.twin.free)), job)
        elif pieces:
            low, high = pieces[a % len(pieces)]
            low += b % (high - low + 1)
            pair.take_these(low, 1 + (a + b) % (high - low + 1), job)
        pair.check()


def test_chosen_neighbours_join():
    """4-5, then 6-7 above: one interval. Then 2-3 below: another one, in front."""
    pair = Pair(10)
    pair.take_these(4, 2)
    pair.take_these(6, 2)
    assert pair.chain(0) == [(4, 7)]
    pair.take_these(2, 2)
    assert pair.chain(0) == [(2, 3), (4, 7)]
    assert pair.intervals() == [(0, 1), (8, 9)]
    pair.give(3)  # 3 and 2, then 7
    assert pair.holds(0) == {4, 5, 6}
    pair.check()


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (4, 5, [(0, 1), (4, 5), (8, 9)]),  # touches nobody
        (2, 4, [(0, 4), (8, 9)]),  # joins below
        (5, 7, [(0, 1), (5, 9)]),  # joins above
        (2, 7, [(0, 9)]),  # closes the gap
    ],
)
def test_put_back_merges(low, high, expected):
    """0-1 and 8-9 are free, 2-7 held: what comes back joins each neighbour that it touches."""
    pair = Pair(10)
    pair.n = 0
    for piece in ((0, 1), (8, 9)):
        pair.n = nodeset.put_back(pair.free, pair.n, *piece)
    pair.n = nodeset.put_back(pair.free, pair.n, low, high)
    assert pair.intervals() == expected
    pair.twin.free = {0, 1, 8, 9}
    pair.twin.put_back(low, high)
    pair.check()


def test_one_node_pieces():
    """Every other node free: as many pieces as there can be; then the gaps close one by one."""
    pair = Pair(9, n_jobs=9)
    for job in range(9):
        pair.take(1, job)
    for job in (0, 2, 4, 6, 8):
        pair.give(1, job)
    assert pair.intervals() == [(0, 0), (2, 2), (4, 4), (6, 6), (8, 8)]
    pair.take(4, 0)
    assert pair.holds(0) == {0, 2, 4, 6}
    pair.give(2, 0)  # the last taken go first: 6, then 4
    assert pair.holds(0) == {0, 2}
    pair.check()


def test_no_nodes():
    assert nodeset.clear(np.zeros(1, INTERVAL), np.zeros(1, INTERVAL), 0) == 0
