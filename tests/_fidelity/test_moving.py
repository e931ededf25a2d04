"""Moving averages of waits: by hand, and against averages that are taken one by one."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay._fidelity import _moving

pytestmark = pytest.mark.small

DAY = 86400.0


def jobs(submit, recorded, simulated):
    columns = {"submit": submit, "recorded_wait": recorded, "simulated_wait": simulated}
    return pl.DataFrame({name: np.asarray(values, float) for name, values in columns.items()})


def test_two_weeks_by_hand():
    # Submitted on days 0, 7, 14, 21 and 28: a window of two weeks has two jobs on most days, first on day 14.
    days = np.array([0, 7, 14, 21, 28]) * DAY
    found, window = _moving.moving(jobs(days, [100, 200, 300, 0, 500], [100, 100, 400, 0, 250]))
    assert window == 14 * DAY
    assert found["time"].to_list() == [day * DAY for day in range(14, 29)]
    by_day = {row["time"] / DAY: row for row in found.iter_rows(named=True)}
    # A window is open at its beginning: on day 14 the job of day 0 is out, and that of day 14 is in.
    assert (by_day[14]["jobs"], by_day[14]["recorded"], by_day[14]["simulated"]) == (2, 250, 250)
    assert (by_day[20]["jobs"], by_day[20]["recorded"], by_day[20]["simulated"]) == (2, 250, 250)
    assert (by_day[21]["jobs"], by_day[21]["recorded"], by_day[21]["simulated"]) == (2, 150, 200)
    assert (by_day[28]["jobs"], by_day[28]["recorded"], by_day[28]["simulated"]) == (2, 250, 125)
    # 7 days without an error, 7 days with 50 of 150, 1 with 125 of 250.
    assert _moving.numbers(found, window) == {
        "moving_error": pytest.approx((7 / 3 + 0.5) / 15),
        "moving_window": window,
    }


def test_a_short_period_has_a_window_of_a_quarter():
    found, window = _moving.moving(jobs([0, 60, 120], [10, 20, 30], [20, 20, 15]))
    assert window == 30
    # Windows (0, 30] and later up to 60 hold none until the second job comes.
    assert found["time"].min() >= 60
    assert found.row(-1, named=True) == {"time": 120, "jobs": 1, "recorded": 30, "simulated": 15}


@pytest.mark.parametrize("submit", [[], [5], [5, 5]])
def test_jobs_without_time_between_them(submit):
    found, window = _moving.moving(jobs(submit, submit, submit))
    assert found.is_empty()
    assert _moving.numbers(found, window) == {"moving_error": None, "moving_window": None}


def test_nothing_is_a_share_of_no_wait():
    found, window = _moving.moving(jobs([0, 100], [0, 0], [5, 5]))
    assert len(found) > 0
    assert _moving.numbers(found, window)["moving_error"] is None


moments = st.floats(0, 60, allow_nan=False).map(lambda days: round(days * DAY))
waits = st.integers(0, 10**6)


@given(st.lists(st.tuples(moments, waits, waits), min_size=2, max_size=30))
def test_each_average_is_that_of_its_window(rows):
    table = jobs(*zip(*rows, strict=True))
    found, window = _moving.moving(table)
    submit = table["submit"].to_numpy()
    if window is None:
        assert np.ptp(submit) == 0
        return
    assert found.is_empty() or found["time"].max() <= submit.max() * (1 + 1e-9)
    for row in found.iter_rows(named=True):
        mine = table.filter((pl.col("submit") > row["time"] - window) & (pl.col("submit") <= row["time"]))
        assert row["jobs"] == len(mine)
        assert row["recorded"] == pytest.approx(mine["recorded_wait"].mean(), abs=1e-6)
        assert row["simulated"] == pytest.approx(mine["simulated_wait"].mean(), abs=1e-6)
