"""Dates of a trace: periods cut out by the calendar, and messages that name the trace's own."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from forebay.cli._input.options import parse_period
from forebay.errors import InputError
from forebay.workload import operations as op
from forebay.workload.dates import is_dated, seconds_of
from forebay.workload.info import describe
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

DAY = 86400
MARCH = datetime(2025, 3, 1, tzinfo=UTC).timestamp()


@pytest.fixture
def w():
    """A job at noon of each day from 27 February to 5 March."""
    n = 7
    jobs = job_table(
        {
            "id": range(1, n + 1),
            "submit": [DAY * k for k in range(n)],
            "walltime": [60] * n,
            "run_time": [30] * n,
            "nodes": [1] * n,
        }
    )
    return Workload("spring", jobs, epoch=MARCH - 1.5 * DAY)


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        ("2025-03-01", "2025-03-03", [3, 4]),
        ("2025-03-01T12:00:00", "2025-03-02T12:00:00", [3]),  # the end is out
        ("2025-03-01T13:00:00+01:00", "2025-03-02", [3]),
        (datetime(2025, 3, 4, tzinfo=UTC), datetime(2026, 1, 1), [6, 7]),
        (0, "2025-03-01", [1, 2]),
    ],
)
def test_slices_by_date(w, start, end, kept):
    part = op.slice_time(w, start, end)
    assert part.jobs["id"].to_list() == kept
    assert part.epoch == w.epoch + DAY * (kept[0] - 1)
    assert "UTC: " in part.provenance[-1]


def test_a_slice_outside_names_the_dates_of_the_trace(w):
    with pytest.raises(InputError, match=r"\[2025-04-01 .*2025-02-27 12:00:00 to 2025-03-05 12:00:00 UTC"):
        op.slice_time(w, "2025-04-01", "2025-05-01")
    with pytest.raises(InputError, match="from 0 to 518400 s, 2025-02-27"):
        op.slice_time(w, 1e7, 2e7)


def test_dates_need_an_epoch(w):
    cut = replace(w, epoch=400.0 * DAY)  # a trace without a date whose first year was cut off
    assert not is_dated(cut)
    with pytest.raises(InputError, match=r"spring has no dates.*UnixStartTime"):
        op.slice_time(cut, "2025-03-01", "2025-03-03")
    assert describe(cut)["period"] is None
    assert describe(w)["period"] == ["2025-02-27 12:00:00", "2025-03-05 12:00:00"]


@pytest.mark.parametrize("moment", ["2025-13-01", "yesterday", "2025-02-30T12:00"])
def test_what_is_no_date(w, moment):
    with pytest.raises(InputError, match="is not a date; write one such as"):
        seconds_of(w, moment)


def utc(*numbers):
    return datetime(*numbers, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("2025-03-01:2025-04-01", (utc(2025, 3, 1), utc(2025, 4, 1))),
        ("2025-03-01T12:2025-03-01T13:30", (utc(2025, 3, 1, 12), utc(2025, 3, 1, 13, 30))),
        ("2025-03-01T12:00:05Z:2025-03-02 00:00:00", (utc(2025, 3, 1, 12, 0, 5), utc(2025, 3, 2))),
        ("2025-03-01T12:00:00+02:00:", (utc(2025, 3, 1, 10), float("inf"))),
        (":2025-03-01", (0.0, utc(2025, 3, 1))),
        ("1d:2025-03-01", (86400.0, utc(2025, 3, 1))),
    ],
)
def test_periods_of_dates(text, period):
    assert parse_period(text, "--slice") == period


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2025-04-01:2025-03-01", "is empty"),
        ("2025-3-1:2025-04-01", "is not a date"),
        ("2025-03-01", "is not START:END"),
        ("2025-03-01:2025-04-01:2025-05-01", "is not START:END"),
        ("March:April", "--slice 'March:April'"),
    ],
)
def test_periods_that_are_none(text, why):
    with pytest.raises(InputError, match=why):
        parse_period(text, "--slice")
