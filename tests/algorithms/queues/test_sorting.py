"""The partial heap sort against sorted()."""

import random

import numpy as np
import pytest

from forebay.algorithms.queues.sorting import sort_smallest
from twins import kernels as naive

pytestmark = pytest.mark.small


def check(keys, ties, items, count):
    """The front is the twin's answer, and nothing is lost or doubled behind it."""
    out = np.array(items, np.int64)
    sort_smallest(np.array(keys, float), np.array(ties, np.int64), out, len(items), count)
    expected = naive.sort_smallest(keys, ties, items, count)
    assert out[: len(expected)].tolist() == expected
    assert sorted(out.tolist()) == sorted(items)


@pytest.mark.parametrize("seed", range(40))
def test_random(seed):
    """Few distinct keys: ties decide most of the order. Ask for none, some or all of the items."""
    rng = random.Random(seed)
    n = rng.randint(0, 25)
    keys = [rng.choice((0.0, 0.5, 1.0, float("inf"), -1.0)) for _ in range(n)]
    check(keys, rng.sample(range(100), n), rng.sample(range(1000), n), rng.randint(0, n + 2))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8])
def test_orders_that_are_already_there(count):
    ascending = list(range(8))
    for keys in (ascending, ascending[::-1], [1] * 8):
        check([float(key) for key in keys], ascending[::-1], ascending, count)
