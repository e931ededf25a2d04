"""Node sets as text against sets of ids, node by node."""

import random
from itertools import pairwise

import numpy as np
import pytest

from forebay.algorithms.nodes import setformat
from twins import kernels as naive

pytestmark = pytest.mark.small


def check(intervals, n_owners, begin=0):
    """Group and write; both steps must say what their twins say. Returns the lines."""
    columns = [np.array([row[k] for row in intervals], np.int32) for k in range(3)]
    first = np.zeros(n_owners + 1, np.int64)
    low, high = np.zeros((2, len(intervals)), np.int32)
    setformat.group_intervals(*columns, first, low, high)
    groups = naive.group_intervals(intervals, n_owners)
    found = [list(zip(low[a:b].tolist(), high[a:b].tolist(), strict=True)) for a, b in pairwise(first)]
    # Intervals that begin together may come in either order.
    assert [sorted(group) for group in found] == groups
    assert all([a for a, _ in group] == sorted(a for a, _ in group) for group in found)
    text = np.zeros(30 * len(intervals) + n_owners + 1, np.uint8)
    size = setformat.write_sets(first, low, high, begin, n_owners, text)
    lines = bytes(text[:size]).decode().split("\n")
    assert lines.pop() == ""  # every line ends
    assert lines == naive.write_sets(groups)[begin:]
    return lines


@pytest.mark.parametrize("seed", range(20))
def test_random(seed):
    """Owners with none, one or many intervals, apart, touching or overlapping, in any order."""
    rng = random.Random(seed)
    n = rng.randint(1, 8)
    intervals = []
    for _ in range(rng.randint(0, 30)):
        low = rng.choice((rng.randint(0, 40), rng.randint(90, 120)))
        intervals.append((rng.randrange(n), low, low + rng.randint(0, 12)))
    check(intervals, n, begin=rng.randrange(n))


def test_by_hand():
    """9 and 10, 99 and 100 are where numbers grow a digit; 3 touches 0-2; owner 1 has nothing."""
    intervals = [(0, 9, 10), (0, 3, 3), (0, 0, 2), (2, 99, 100), (2, 1_000_000, 1_000_000)]
    assert check(intervals, 3) == ["0-3 9-10", "", "99-100 1000000"]
