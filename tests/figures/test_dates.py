"""Axes of dates: round moments, in order, within the span, and not too many."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from forebay.figures._dates import _ticks, calendar


def unix(*numbers):
    return datetime(*numbers, tzinfo=UTC).timestamp()


@pytest.mark.small
@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (
            (2025, 3, 1),
            (2025, 3, 6),
            ["2025-03-01", "2025-03-02", "2025-03-03", "2025-03-04", "2025-03-05", "2025-03-06"],
        ),
        ((2025, 3, 1, 22), (2025, 3, 2, 2), ["22:00\n2025-03-01", "23:00", "00:00\n2025-03-02", "01:00", "02:00"]),
        ((2025, 3, 1), (2025, 3, 24), ["2025-03-03", "2025-03-10", "2025-03-17", "2025-03-24"]),  # Mondays
        ((2024, 11, 20), (2025, 3, 5), ["2024-12-01", "2025-01-01", "2025-02-01", "2025-03-01"]),
    ],
)
def test_ticks_by_hand(start, end, words):
    found = [text for _, text in _ticks(unix(*start), unix(*end))]
    assert found == [word[:7] for word in words] if len(found[0]) == 7 else found == words


@pytest.mark.small
@given(st.floats(3.2e8, 4e9), st.floats(420, 1e9))
def test_ticks_are_few_and_within(start, length):
    moments = [moment for moment, _ in _ticks(start, start + length)]
    assert 1 <= len(moments) <= 9
    assert moments == sorted(set(moments))
    assert start <= moments[0] <= moments[-1] <= start + length


@pytest.mark.small
def test_an_axis_without_dates_stays_as_it_is():
    axis = Figure().add_subplot()
    axis.set_xlabel("time (hours)")
    calendar(axis, None, 0, 1e6, 3600)
    calendar(axis, 1.7e9, 0, 60, 1)
    calendar(axis, 1e15, 0, 1e6, 3600)
    assert axis.get_xlabel() == "time (hours)"
    calendar(axis, unix(2025, 3, 1), 0, 3 * 86400, 3600)
    assert axis.get_xlabel() == "date (UTC)"
    assert next(text.get_text() for text in axis.get_xticklabels()).endswith("2025-03-01")
    assert axis.get_xticks()[0] == 0
