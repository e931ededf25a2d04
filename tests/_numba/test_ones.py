"""How many bits of a number are set, compiled and plain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay._numba.ones import _plain
from forebay.algorithms.nodes import bits

pytestmark = pytest.mark.small


@given(st.integers(0, 2**32 - 1))
def test_as_python_counts(x):
    assert bits.count_word(np.int64(x)) == bin(x).count("1") == _plain(np.int64(x))


@given(st.integers(1, 2**32 - 1))
def test_the_lowest(x):
    assert bits.lowest(np.int64(x)) == bin(x)[::-1].index("1")
