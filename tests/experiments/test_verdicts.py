"""Verdicts by hand, by symmetry, and by how often they are right on numbers whose truth is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.experiments import verdicts as v

pytestmark = pytest.mark.small
NAMES = ("mine", "theirs", "mean_wait")


def test_pairs_by_hand():
    """Means 90 and 100. Shares of the means: 0.8, 1, 1.2 and 0.81, 1, 1.19, so differences of -0.01, 0 and 0.01."""
    found = v.judge([72.0, 90.0, 108.0], [81.0, 100.0, 119.0], policy="mine", reference="theirs")
    assert (found.value, found.reference_value, found.n, found.over) == (90.0, 100.0, 3, "seeds")
    assert found.change == pytest.approx(-0.1)
    half = 4.302653 * 0.01 / math.sqrt(3)
    assert (found.low, found.high) == pytest.approx((0.9 * math.exp(-half) - 1, 0.9 * math.exp(half) - 1))
    assert found.word == "better"


def test_the_word_depends_on_the_metric():
    less, more = [90.0, 91.0, 89.0], [100.0, 101.0, 99.5]
    words = {
        metric: (v.judge(less, more, metric).word, v.judge(more, less, metric).word)
        for metric in ("mean_wait", "mean_bounded_slowdown_10min", "makespan", "mean_turnaround_time")
    }
    assert set(words.values()) == {("better", "worse")}
    for metric in ("utilisation_nodes", "throughput_per_hour", "useful_utilisation"):
        assert (v.judge(less, more, metric).word, v.judge(more, less, metric).word) == ("worse", "better")


@pytest.mark.parametrize(
    ("values", "others", "change"),
    [
        ([], [], None),
        ([5.0], [4.0], 0.25),  # a single pair has no interval
        ([1.0, 2.0], [0.0, 0.0], None),  # nothing is a share of nothing
        ([0.0, 0.0], [1.0, 2.0], -1.0),
        ([None, 2.0], [1.0, None], None),
    ],
)
def test_what_cannot_be_told(values, others, change):
    found = v.judge(values, others)
    assert found.change == change
    assert (found.low, found.high, found.word) == (None, None, "undecided")


def test_pairs_without_a_value_do_not_count():
    full, gaps = v.judge([1.0, 2.0], [2.0, 4.1]), v.judge([1.0, None, 2.0, 9.0], [2.0, 7.0, 4.1, None])
    assert full == gaps


@given(
    st.lists(st.tuples(st.floats(50, 200), st.floats(50, 200)), min_size=3, max_size=12),
    st.floats(1e-3, 1e3),
)
def test_units_do_not_count_and_sides_can_be_changed(pairs, scale):
    mine, theirs = zip(*pairs, strict=True)
    found, back = v.judge(mine, theirs), v.judge(theirs, mine)
    scaled = v.judge([scale * one for one in mine], [scale * one for one in theirs])
    assert (scaled.change, scaled.low, scaled.high) == pytest.approx((found.change, found.low, found.high), rel=1e-6)
    # What is a quarter longer one way is a fifth shorter the other way, and so are the ends of the intervals.
    assert (1 + found.low) * (1 + back.high) == pytest.approx(1)
    assert (1 + found.change) * (1 + back.change) == pytest.approx(1)
    opposite = {"better": "worse", "worse": "better", "undecided": "undecided"}
    assert back.word == opposite[found.word]
    assert found.low <= found.change <= found.high


def test_variances_add_up():
    """Two of 0.03 and 0.04 make 0.05; of equal variances the degrees of freedom add up too."""
    both = v.half_width([v.Deviation(0.03, 1e9), v.Deviation(0.04, 1e9)])
    assert both == pytest.approx(1.959964 * 0.05, rel=1e-5)
    equal = v.half_width([v.Deviation(0.1, 3), v.Deviation(0.1, 3)])
    assert equal == pytest.approx(2.446912 * 0.1 * math.sqrt(2), rel=1e-5)  # t of 6
    assert v.half_width([v.Deviation(0.0, 3), v.Deviation(0.1, 4)]) == pytest.approx(2.776445 * 0.1, rel=1e-5)
    assert v.half_width([v.Deviation(0.0, 3)]) == 0


def test_the_same_schedule_is_the_same():
    found = v.same(NAMES, (3.0, 3.0), 25, "blocks")
    assert (found.word, found.change, found.low, found.high) == ("same", 0.0, 0.0, 0.0)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_intervals_hold_the_truth_about_95_times_in_100(n):
    """Pairs share a factor, as runs on one shaken trace do; each has noise of its own. The truth is -10 %."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(400):
        shared = rng.lognormal(0, 0.2, n)
        mine, theirs = 90 * shared * rng.lognormal(0, 0.05, n), 100 * shared * rng.lognormal(0, 0.05, n)
        found = v.judge(mine.tolist(), theirs.tolist())
        hits += found.low <= -0.1 <= found.high
    assert 0.925 <= hits / 400 <= 0.98


def test_pairs_of_zeros_have_no_ratio():
    """One pair that tells is a single one, however many seeds had nothing to wait for."""
    assert v.judge([0.0, 0.0, 9.0], [0.0, 0.0, 10.0]).low is None
    assert v.judge([0.0, 8.0, 9.0], [0.0, 10.0, 10.0]).low is not None
