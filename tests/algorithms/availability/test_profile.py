"""Availability over time against sums made anew at every point."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.availability import layout, profile
from twins import kernels
from twins.times import Calendar, Profile, before, width

pytestmark = pytest.mark.small

ROOM = 100


class Pair:
    """A profile in arrays and its brute-force twin."""

    def __init__(self, now, free):
        self.times, self.free = np.zeros(ROOM), np.zeros((ROOM, len(free)), np.int64)
        self.times[0], self.free[0], self.n = now, free, 1
        self.R = len(free)
        self.twin = Profile(now, free)

    def returns(self, time, amounts):
        """Something comes back at `time`, for good."""
        first, self.n = profile.split(self.times, self.free, self.n, 0, self.R, time)
        self.free[first : self.n] += np.array(amounts)
        self.twin.returns.append((time, list(amounts)))

    def reserve(self, demand, duration):
        """Reserve at the earliest time; both must find the same one. Returns it."""
        row = np.array(demand, np.int64)
        first, last = profile.window(self.times, self.free, self.n, self.n, 0, self.R, row, duration)
        assert first == profile.earliest(self.times, self.free, self.n, 0, self.R, row, duration)
        start = self.twin.earliest(demand, duration)
        if first < 0:
            assert start == math.inf
            return start
        assert self.times[first] == pytest.approx(start, abs=1e-9)
        until = self.times[first] + duration
        assert last == max(first + 1, sum(before(time, until) for time in self.times[: self.n]))
        self.n = profile.reserve(self.times, self.free, self.n, self.R, row, first, until)
        self.twin.reserve(demand, start, duration)
        return start

    def check(self):
        """Segments ascend by more than an instant and hold what the sums say."""
        times = self.times[: self.n].tolist()
        assert all(before(a, b) for a, b in pairwise(times))
        for i, time in enumerate(times):
            assert self.free[i].tolist() == self.twin.at(time)
        for point in self.twin.points():
            assert any(abs(time - point) <= width(point) for time in times)

    def fits(self, demand, first, until):
        """Both answers to 'is it free from segment `first` until then'."""
        fast = profile.fits(self.times, self.free, self.n, first, self.R, np.array(demand, np.int64), until)
        start = float(self.times[first])
        return bool(fast), self.twin.fits(demand, start, until - start)


@pytest.mark.parametrize("clock", [lambda rng: float(rng.randint(1, 30)), lambda rng: rng.randint(1, 300) / 10])
@pytest.mark.parametrize("seed", range(12))
def test_random_operations(seed, clock):
    """Releases and reservations in any order; whole seconds tie exactly, tenths but for the last bit."""
    rng = random.Random(seed)
    R = rng.randint(1, 3)
    pair = Pair(clock(rng), [rng.randint(0, 4) for _ in range(R)])
    for _ in range(12):
        pair.returns(pair.twin.now + clock(rng), [rng.randint(0, 3) for _ in range(R)])
    pair.check()
    for _ in range(10):
        duration = math.inf if rng.random() < 0.1 else clock(rng)
        pair.reserve([rng.randint(0, 5) for _ in range(R)], duration)
        pair.check()
        first = rng.randrange(pair.n)
        fast, slow = pair.fits([rng.randint(0, 4) for _ in range(R)], first, float(pair.times[first]) + clock(rng))
        assert fast == slow


def test_split_snaps_to_a_time_nearly_equal():
    """0.1 + 0.2 and 0.3 are one boundary, whichever comes first; 0.3001 is another."""
    for first, second in ((0.3, 0.1 + 0.2), (0.1 + 0.2, 0.3)):
        pair = Pair(0.0, [1])
        pair.returns(first, [1])
        pair.returns(second, [1])
        assert pair.times[: pair.n].tolist() == [0.0, first]
        assert pair.free[: pair.n, 0].tolist() == [1, 3]
        pair.returns(0.3001, [1])
        assert pair.n == 3


def test_a_release_at_once_counts_at_once():
    """Less than an instant after now is now: no sliver of a segment at the beginning."""
    pair = Pair(5.0, [1])
    pair.returns(5.0 + 1e-12, [2])
    assert (pair.n, pair.free[0, 0]) == (1, 3)


def test_an_end_that_is_nearly_a_beginning_does_not_clash():
    """Free until 0.3, where a reservation begins; wanted for 0.1 + 0.2, which is later in the last bit alone."""
    pair = Pair(0.0, [2])
    pair.twin.reserve([2], 0.3, 1.0)
    first, pair.n = profile.split(pair.times, pair.free, pair.n, 0, 1, 0.3)
    pair.n = profile.reserve(pair.times, pair.free, pair.n, 1, np.array([2]), first, 1.3)
    pair.check()
    assert pair.fits([1], 0, 0.1 + 0.2) == (True, True)
    assert pair.fits([1], 0, 0.31) == (False, False)


def test_only_the_first_resources_count():
    """R = 1 of two columns: the second resource is short, and nobody asks."""
    times, free = np.zeros(4), np.array([[3, 0], [0, 0], [0, 0], [0, 0]])
    demand = np.array([2, 9])
    assert profile.fits(times, free, 1, 0, 1, demand, 10.0)
    assert not profile.fits(times, free, 1, 0, 2, demand, 10.0)
    assert profile.reserve(times, free, 1, 1, demand, 0, 10.0) == 2
    assert free[:2].tolist() == [[1, 0], [3, 0]]


def test_never():
    pair = Pair(0.0, [1, 5])
    pair.returns(4.0, [1, 0])
    assert pair.reserve([3, 0], 1.0) == math.inf


class Bits:
    """Counted columns and columns of bits in one profile, and a twin for each."""

    def __init__(self, free, nodes, returns):
        self.times, self.free, self.n = np.zeros(ROOM), np.zeros((ROOM, 5), np.int64), 1  # a count, 2 words, 2 closed
        self.free[0, :3] = self.row(free, nodes)
        self.counts, self.nodes = Profile(0.0, [free]), Calendar(0.0, nodes)
        for time, count, back in returns:
            first, self.n = profile.split(self.times, self.free, self.n, 0, 3, time)
            self.free[first : self.n, 0] += count
            self.free[first : self.n, 1:3] |= self.row(count, back)[1:]
            self.counts.returns.append((time, [count]))
            self.nodes.returns.append((time, back))

    def row(self, count, nodes):
        return np.array([count, *kernels.to_words(nodes, 2)], np.int64)

    def segment(self, time):
        """The one that begins at `time`, but for an instant."""
        return next(i for i in range(self.n) if abs(self.times[i] - time) <= width(time))

    def take(self, count, nodes, start, until):
        first = self.segment(start)
        self.n = profile.take(self.times, self.free, self.n, 1, self.row(count, nodes), first, until)
        self.counts.reserve([count], start, until - start)
        self.nodes.take(nodes, start, until)

    def close(self, nodes, time):
        profile.close(self.free, 1, self.row(9, nodes), self.segment(time))
        self.nodes.close(nodes, time)

    def during(self, start, until):
        """The nodes that every segment from `start` until then has, as words."""
        found = np.zeros(3, np.int64)
        layout.least(self.times, self.free, self.n, self.segment(start), until, 1, found)
        return found[1:].tolist()

    def check(self):
        """Counts at every segment; nodes from each point until each other, a little less, and a little more."""
        times = self.times[: self.n].tolist()
        assert all(before(a, b) for a, b in pairwise(times))
        assert [[count] for count in self.free[: self.n, 0].tolist()] == [self.counts.at(time) for time in times]
        points = self.nodes.points()
        for start in points:
            for point in points:
                for until in (point - 0.04, point * (1 - 1e-14), point, point * (1 + 1e-14), point + 0.04):
                    if until > start + 0.01:
                        slow = kernels.to_words(self.nodes.during(start, until), 2)
                        assert self.during(start, until) == slow, (start, until)


SOME_NODES = st.sets(st.integers(0, 63), max_size=40)
TICKS = st.integers(1, 12)


@given(
    st.sampled_from((1.0, 0.1)),
    SOME_NODES,
    st.lists(st.tuples(TICKS, SOME_NODES), min_size=1, max_size=5),
    st.lists(st.tuples(st.booleans(), st.integers(0, 20), TICKS | st.just(math.inf), SOME_NODES), max_size=6),
)
def test_nodes_by_bits(tick, nodes, returns, steps):
    """Nodes and counts are taken from any point on; the nodes, some of the times, also from who ends at that point."""
    pair = Bits(50, nodes, [(ticks * tick, 1, back) for ticks, back in returns])
    pair.check()
    for closed, choice, ticks, some in steps:
        points = pair.nodes.points()
        time = points[choice % len(points)]
        pair.take(choice, some, time, time + ticks * tick)
        if closed and time > 0:
            pair.close(some, time)
        pair.check()


def test_bits_are_taken_once():
    """Node 1 is taken twice over [2, 4): it is gone, and its neighbours are as they were; counts add up."""
    pair = Bits(5, {0, 1, 2}, [(2.0, 0, set())])
    pair.take(1, {1}, 2.0, 4.0)
    pair.take(1, {1, 40}, 2.0, 4.0)
    assert pair.times[: pair.n].tolist() == [0.0, 2.0, 4.0]
    assert pair.free[: pair.n, :3].T.tolist() == [[5, 3, 5], [7, 5, 7], [0, 0, 0]]


def test_closed_to_who_ends_then():
    """Node 1 is wanted from 0.3 on: until 0.3, or 0.1 + 0.2, one may have nodes 0 and 2; until 0.29 all three."""
    pair = Bits(5, {0, 1, 2}, [(0.3, 1, set())])
    pair.take(1, {1}, 0.3, 1.0)
    pair.close({1}, 0.3)
    assert [pair.during(0.0, until)[0] for until in (0.29, 0.3, 0.1 + 0.2, 0.5)] == [7, 5, 5, 5]
    assert pair.free[: pair.n, 0].tolist() == [5, 5, 6]


@pytest.mark.parametrize("seed", range(40))
def test_the_longest_run_is_as_long_as_anybody_may_be(seed):
    rng = random.Random(seed)
    n, R = rng.randint(1, 8), rng.randint(1, 3)
    times = np.cumsum([rng.randint(1, 9) for _ in range(n)]).astype(float)
    free = np.array([[rng.randint(0, 3) for _ in range(R)] for _ in range(n)], np.int64)
    demand, n_begins, first = np.array([rng.randint(0, 3) for _ in range(R)]), rng.randint(0, n), rng.randint(0, 1)
    longest = profile.longest_run(times, free, n, n_begins, first, R, demand)
    for duration in (1.0, 2.0, 5.0, 11.0, 1000.0):
        begins = profile.window(times, free, n, n_begins, first, R, demand, duration)[0] >= 0
        assert begins == (first < n_begins and duration <= longest)
