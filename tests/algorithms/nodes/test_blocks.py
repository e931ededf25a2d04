"""Nodes by blocks of neighbours: by hand, and against lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.nodes.blocks import best_block, pick_blocks
from twins import blocks, kernels

pytestmark = pytest.mark.small
WORDS = 3
NODES = st.sets(st.integers(0, 32 * WORDS - 1)) | st.sets(st.sampled_from([0, 1, 2, 30, 31, 32, 33, 63, 64, 94, 95]))


def words(nodes):
    return np.array(kernels.to_words(nodes, WORDS), np.int64)


def picked(nodes, count):
    left, taken = words(nodes), np.zeros(WORDS, np.int64)
    missing = pick_blocks(left, count, taken)
    return left, taken, missing


def test_by_hand():
    # Blocks of 4, 3 and 2 nodes. Two nodes: the block of 2. Three: that of 3. Five: all of the largest, then one of the
    # tightest that has one, which is the block of 2.
    nodes = {0, 1, 2, 3, 5, 6, 7, 31, 32}
    assert picked(nodes, 2)[1].tolist() == kernels.to_words({31, 32}, WORDS)
    assert picked(nodes, 3)[1].tolist() == kernels.to_words({5, 6, 7}, WORDS)
    assert picked(nodes, 5)[1].tolist() == kernels.to_words({0, 1, 2, 3, 31}, WORDS)
    assert picked(nodes, 10)[2] == 1


@given(NODES, st.integers(1, 40))
def test_against_lists(nodes, count):
    block = blocks.best(nodes, count)
    low, size = best_block(words(nodes), count)
    assert size == len(block)
    assert not block or low == block[0]
    left, taken, missing = picked(nodes, count)
    expected = blocks.pick(nodes, count)
    assert taken.tolist() == kernels.to_words(expected, WORDS)
    assert left.tolist() == kernels.to_words(nodes - expected, WORDS)
    assert missing == count - len(expected)
