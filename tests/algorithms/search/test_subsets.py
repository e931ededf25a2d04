"""Lists of partial sets: whatever was left out of them, their pairs give the same front as all sets."""

import random

import numpy as np
import pytest

from forebay.algorithms.search import subsets
from forebay.core.stopping import NO_CLOCK
from twins import pareto as naive

PLENTY = 10**9


def random_jobs(rng, most):
    R, top = rng.randint(1, 4), rng.choice((2, 6, 1000))
    jobs = [tuple(rng.randint(0, top) for _ in range(R)) for _ in range(rng.randint(1, most))]
    room = [rng.randint(top, max(top + 1, top * len(jobs) * 2 // 3)) for _ in range(R)]
    return jobs, [1 << k for k in range(len(jobs))], room


def deal(jobs, bits, room, limit=PLENTY):
    """Both lists as {row: key}, and the work."""
    arrays = np.array(jobs, np.int64), np.array(bits, np.int64)
    *lists, work = subsets.deal(*arrays, (1 << len(room)) - 1, np.array(room, np.int64), limit, NO_CLOCK)
    rows, keys = lists[::2], lists[1::2]
    return [dict(zip(map(tuple, a.tolist()), b.tolist(), strict=True)) for a, b in zip(rows, keys, strict=True)], work


def front_of(best, n):
    """The front of {load: key}."""
    loads, keys = np.array(list(best)), np.array(list(best.values()))
    return naive.undominated(loads, keys[:, None] >> np.arange(n - 1, -1, -1) & 1)


def check_pairs(rng, most, n_windows):
    for _ in range(n_windows):
        jobs, bits, room = random_jobs(rng, most)
        (left, right), _ = deal(jobs, bits, room)
        every, pairs = naive.sums(jobs, bits, room), {}
        for a, a_key in left.items():
            for b, b_key in right.items():
                load = tuple(x + y for x, y in zip(a, b, strict=True))
                if all(x <= have for x, have in zip(load, room, strict=True)):
                    assert a_key & b_key == 0
                    pairs[load] = max(pairs.get(load, 0), a_key + b_key)
        assert pairs.keys() <= every.keys()
        assert front_of(pairs, len(jobs)) == front_of(every, len(jobs))


@pytest.mark.small
def test_pairs_of_few_jobs():
    check_pairs(random.Random(1), 6, 25)


def test_pairs_of_up_to_twelve_jobs():
    check_pairs(random.Random(2), 12, 300)


@pytest.mark.small
def test_nothing_is_in_the_way_of_a_slack_resource():
    """Ten jobs of one node each and bytes that all fit: of each number of nodes only the most bytes are kept."""
    jobs = [(1, 1 << k) for k in range(10)]
    (left, right), _ = deal(jobs, [1 << k for k in range(10)], (5, 1 << 10))
    assert [len(left), len(right)] == [6, 6]


@pytest.mark.small
def test_work_is_limited():
    jobs = [(1 << k, 4097 - (1 << k)) for k in range(12)]
    lists, work = deal(jobs, [1 << k for k in range(12)], (3000, 20_000), 500)
    assert work > 500
    lists, work = deal(jobs, [1 << k for k in range(12)], (3000, 20_000), 10_000)
    assert work <= 10_000
    assert all(lists)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(20))
def test_highest_loads(seed):
    jobs, bits, room = random_jobs(random.Random(seed), 8)
    lowered = np.array(room, np.int64)
    subsets.tighten(np.array(jobs, np.int64), np.array(bits, np.int64), lowered, PLENTY, NO_CLOCK)
    assert lowered.tolist() == naive.highest(jobs, room)
    lowered = np.array(room, np.int64)
    subsets.tighten(np.array(jobs, np.int64), np.array(bits, np.int64), lowered, 0, NO_CLOCK)
    assert lowered.tolist() == room
