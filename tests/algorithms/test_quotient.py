"""Whole quotients by floats equal those of whole numbers, also just beside a multiple."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay._numba.jit import kernel
from forebay.algorithms.quotient import quotient

pytestmark = pytest.mark.small


@kernel
def _each(a, b, found):
    for i in range(len(a)):
        found[i] = quotient(a[i], b[i])


@given(st.lists(st.tuples(st.integers(1, 2**62), st.integers(1, 2**62), st.integers(-1, 1)), min_size=1, max_size=50))
def test_it_is_what_whole_numbers_say(cases):
    b = np.array([divisor for divisor, _, _ in cases])
    a = np.array([max(near // divisor * divisor + by, 0) for divisor, near, by in cases])
    found = np.empty(len(a), np.int64)
    _each(a, b, found)
    assert found.tolist() == [operator.floordiv(int(x), int(y)) for x, y in zip(a, b, strict=True)]
