"""Timelines against lists of what is taken when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms.availability import timelines
from twins.timelines import free_at

pytestmark = pytest.mark.small

AMOUNTS = st.tuples(st.integers(0, 3), st.integers(0, 3))
TAKEN = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 20), st.integers(1, 15), AMOUNTS), max_size=8)


def made(full, rows):
    """Two timelines with all of `full` free, but for what rows (line, begin, length, amounts) take."""
    lines = timelines.new_timelines(2, 2, 4, 0.0)
    for k in range(2):
        for d in range(2):
            timelines.give_from(lines, k, 0.0, d, full[d])
    for k, begin, length, taken in rows:
        lines = timelines.with_room(lines, 2)
        timelines.take_between(lines, k, float(begin), float(begin + length), taken)
    return lines


@given(
    full=AMOUNTS, rows=TAKEN, k=st.integers(0, 1), begin=st.integers(0, 25), length=st.integers(1, 20), needs=AMOUNTS
)
def test_the_least(full, rows, k, begin, length, needs):
    lines, found = made(full, rows), np.empty(2, np.int64)
    timelines.least_between(lines, k, float(begin), float(begin + length), found)
    each = [free_at(full, rows, k, time) for time in range(begin, begin + length)]
    assert found.tolist() == [min(some) for some in zip(*each, strict=True)]
    again, enough = np.empty(2, np.int64), bool(np.all(found >= needs))
    wanted = np.array(needs, np.int64)
    assert timelines.least_if(lines, k, float(begin), float(begin + length), wanted, again) == enough
    assert not enough or again.tolist() == found.tolist()


@given(full=AMOUNTS, rows=TAKEN, k=st.integers(0, 1))
def test_runs(full, rows, k):
    tails, longest = np.empty(3), np.empty(3)
    timelines.write_runs(made(full, rows), k, tails, longest)
    free = [free_at(full, rows, k, time)[0] for time in range(60)]  # all is back long before
    for step in range(3):
        lengths = [0]
        for some in free:
            lengths.append(lengths[-1] + 1 if some >= 1 << step else 0)
        tail, before = lengths[-1], max(lengths[: 61 - lengths[-1]])
        assert (tails[step], longest[step]) == (60 - tail if tail else np.inf, before)


@given(
    full=AMOUNTS, rows=TAKEN, k=st.integers(0, 1), first=st.integers(0, 25), length=st.integers(1, 20), needs=AMOUNTS
)
def test_the_first_window(full, rows, k, first, length, needs):
    lines, wanted = made(full, rows), np.array(needs, np.int64)
    fits = [
        time
        for time in range(first, 100)
        if all(
            a >= b for t in range(time, time + length) for a, b in zip(free_at(full, rows, k, t), needs, strict=True)
        )
    ]
    found = timelines.first_window(lines, k, wanted, float(length), float(first), np.inf)
    assert found == (fits[0] if fits else np.inf)
    last = float(first + 5)
    limited = timelines.first_window(lines, k, wanted, float(length), float(first), last)
    assert limited == found if found <= last else limited > last


@given(rows=TAKEN, k=st.integers(0, 1), time=st.integers(0, 40))
def test_segments_change_only_where_something_does(rows, k, time):
    lines = made((9, 9), rows)
    edges = {edge for line, begin, length, _ in rows if line == k for edge in (begin, begin + length)}
    found = timelines.next_segment(lines, k, float(time))
    assert found == min((edge for edge in edges if edge > time), default=np.inf)
