"""Sets of nodes in words against Python sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.nodes import bits
from twins import kernels

pytestmark = pytest.mark.small

WORDS = 4
NODES = st.sets(st.integers(0, 32 * WORDS - 1))
EDGES = (0, 1, 31, 32, 33, 63, 64, 95, 96, 127, 128)


@st.composite
def ranges(draw):
    """(low, count) within the words, with either end at the edge of a word more often than not."""
    ends = st.sampled_from(EDGES) | st.integers(0, 32 * WORDS)
    low, high = sorted((draw(ends), draw(ends)))
    return low, high - low


@given(ranges())
def test_mask(nodes):
    assert [bits.mask(word, *nodes) for word in range(WORDS)] == [kernels.mask(word, *nodes) for word in range(WORDS)]


@given(NODES, st.lists(st.tuples(st.booleans(), ranges()), max_size=6))
def test_fill_and_wipe(nodes, changes):
    """Ranges are added and taken out; both sets stay the same, and so do their sizes."""
    words = np.array(kernels.to_words(nodes, WORDS), np.int64)
    for add, (low, count) in changes:
        (bits.fill if add else bits.wipe)(words, low, count)
        (kernels.fill if add else kernels.wipe)(nodes, low, count)
        assert words.tolist() == kernels.to_words(nodes, WORDS)
        assert bits.count_bits(words) == kernels.count_bits(nodes)


@given(st.integers(0, 2**32 - 1) | st.sampled_from((0, 1, 2**31, 2**32 - 1)))
def test_count_word(x):
    assert bits.count_word(x) == kernels.count_word(x)


@given(st.integers(1, 2**32 - 1) | st.sampled_from((1, 2**31, 2**32 - 1)))
def test_lowest(x):
    assert bits.lowest(x) == kernels.lowest(x)


@given(NODES | st.just(set(range(32 * WORDS))), st.integers(0, 32 * WORDS))
def test_runs_of_neighbours(nodes, node):
    words = np.array(kernels.to_words(nodes, WORDS), np.int64)
    assert [bits.is_in(words, n) for n in range(32 * WORDS)] == [kernels.is_in(nodes, n) for n in range(32 * WORDS)]
    first, behind = bits.next_run(words, node)
    assert (first, behind if first >= 0 else -1) == kernels.next_run(nodes, node)


def test_all_and_none():
    """Node 31 is the highest bit of the first word: no sign comes of it."""
    words = np.zeros(2, np.int64)
    bits.fill(words, 31, 2)
    assert words.tolist() == [2**31, 1]
    bits.fill(words, 0, 64)
    assert words.tolist() == [2**32 - 1] * 2
    assert bits.count_bits(words) == 64
    bits.wipe(words, 0, 64)
    assert bits.count_bits(words) == 0
