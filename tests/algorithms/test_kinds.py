"""Who takes large nodes, against nodes counted one by one; and jobs laid into a profile of both kinds."""

import random

import numpy as np
import pytest

from forebay.algorithms import kinds, plan
from twins import kernels as naive

pytestmark = pytest.mark.small

NOTHING = np.zeros((0, 3), np.int64), np.zeros((1, 0), np.int64)


@pytest.mark.parametrize("seed", range(20))
def test_as_many_small_ones_as_there_are(seed):
    rng = random.Random(seed)
    for _ in range(50):
        segments = [(rng.randint(0, 5), rng.randint(0, 5)) for _ in range(rng.randint(1, 4))]
        free = np.array([(small + large, 7, large) for small, large in segments], np.int64)
        small, large = segments[0]
        n = rng.randint(0, small + large)
        needs_large = n <= large and rng.random() < 0.5
        demand = np.array([n, 0, n if needs_large else 0], np.int64)
        expected = naive.fewest_large(n, needs_large, small, large)
        assert kinds.fewest_large(demand, 2, free[0, 0], free[0, 2]) == expected
        assert kinds.large_for(free, 0, len(free), 2, n) == naive.large_for(segments, n)


def lay(times, rows, demand, duration):
    """Lay a job into a profile of (small, large) nodes; where it begins, and the profile after it."""
    n, R = len(times), 2
    moments, free = np.zeros(n + 4), np.zeros((n + 4, R), np.int64)
    moments[:n] = times
    free[:n] = [(small + large, large) for small, large in rows]
    scratch = np.zeros(R, np.int64), np.zeros(R, np.int64)
    at, n = plan.lay(moments, free, n, np.array(demand, np.int64), duration, 0, 0, R, 0, 0, *NOTHING, *scratch, 1)
    after = [(float(moments[i]), int(free[i, 0] - free[i, 1]), int(free[i, 1])) for i in range(n)]
    return (float(moments[at]) if at >= 0 else None), after


def test_it_takes_small_nodes_that_are_free_for_its_whole_time():
    """2 small and 2 large ones are free now, but only 1 small one from 5 on, when somebody was promised the other.

    A job of 2 nodes for 10 s takes that one and a large one, though 2 small ones are free now.
    """
    assert lay([0.0, 5.0], [(2, 2), (1, 2)], (2, 0), 10.0) == (0.0, [(0, 1, 1), (5, 0, 1), (10, 1, 2)])


def test_it_waits_for_nodes_of_its_own():
    """A small node is free until 5 and a large one from 5 on: never fewer than one, but none of them for 10 s.

    At 5 the job can have the large one.
    """
    assert lay([0.0, 5.0], [(1, 0), (0, 1)], (1, 0), 10.0) == (5.0, [(0, 1, 0), (5, 0, 0), (15, 0, 1)])


def test_who_needs_large_ones_waits_for_them():
    """3 small ones are idle; 2 large ones come free at 4."""
    assert lay([0.0, 4.0], [(3, 1), (3, 2)], (2, 2), 1.0) == (4.0, [(0, 3, 1), (4, 3, 0), (5, 3, 2)])
    assert lay([0.0, 4.0], [(3, 1), (3, 2)], (3, 3), 1.0)[0] is None
