"""Moves, acceptance and cooling against their twins."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.search import annealing
from twins import lay

pytestmark = pytest.mark.small

SCORES, HEAT = st.floats(0, 1e12), st.floats(0, 1e12)


@given(SCORES, SCORES, HEAT, st.floats(0, 1, exclude_max=True))
def test_acceptance(score, new, temperature, u):
    assert annealing.accepts(score, new, temperature, u) == lay.accepts(score, new, temperature, u)
    # Above the limit nothing is ever accepted; and the limit is no further off than rounding asks for.
    limit, exact = annealing.refused_above(score, temperature, u), lay.refused_above(score, temperature, u)
    assert new <= limit or not annealing.accepts(score, new, temperature, u)
    assert exact <= limit <= exact + 2e-9 * abs(exact) + 1.0 or limit == exact


@given(HEAT, st.floats(0.01, 1), st.floats(0, 10))
def test_cooling(temperature, rate, floor):
    assert annealing.cooled(temperature, rate, floor) == lay.cooled(temperature, rate, floor)


@pytest.mark.parametrize("seed", range(5))
def test_moves(seed):
    rng = random.Random(seed)
    for _ in range(50):
        n = rng.randint(1, 9)
        i, j = rng.randrange(n), rng.randrange(n)
        for name in ("swap", "insert"):
            order = np.array(rng.sample(range(n), n))
            expected = getattr(lay, name)(order.tolist(), i, j)
            getattr(annealing, name)(order, i, j)
            assert order.tolist() == expected


@given(st.permutations(range(6)), st.integers(0, 7))
def test_the_last_order_of_those_that_begin_alike(order, first):
    found = np.array(order)
    annealing.last_order(found, first)
    assert found.tolist() == lay.last_order(order, first)


@pytest.mark.parametrize("n", range(1, 6))
def test_all_orders_in_order(n):
    order = np.arange(n)
    while True:
        before = order.tolist()
        expected = lay.next_order(before)
        first = annealing.next_order(order)
        if expected is None:
            assert first == -1
            break
        assert order.tolist() == expected
        assert before[:first] == expected[:first]
        assert before[first] != expected[first]
