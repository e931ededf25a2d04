"""Flurries in made-up traces: what is one, and what is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.workload._checks.flurries import FEW, flurries

pytestmark = pytest.mark.small

HOUR, DAY = 3600.0, 86400.0


def trace(*parts):
    """Jobs of (user, number, from, to), evenly over that time; users and times."""
    submit = np.concatenate([np.linspace(start, end, n, endpoint=False) for _, n, start, end in parts])
    user = np.concatenate([np.full(n, who) for who, n, _, _ in parts])
    order = np.argsort(submit, kind="stable")
    return submit[order], user[order]


def rest(days, a_day, users=10):
    return [(who, days * a_day // users, 0.0, days * DAY) for who in range(users)]


def found(*parts):
    return [(user, jobs) for user, _, _, jobs in flurries(*trace(*parts))[1].rows()]


def test_two_thirds_of_a_week_by_one_user_in_ten_hours():
    """13,072 of 19,552 jobs: far beyond what others submit in a week, though not ten average days of this one."""
    submit, user = trace((99, 13_072, 2 * DAY, 2 * DAY + 10 * HOUR), *rest(7, 925))
    odd, table = flurries(submit, user)
    [(who, start, seconds, jobs)] = table.rows()
    assert (who, jobs) == (99, 13_072)
    assert 2 * DAY <= start <= 2 * DAY + HOUR
    assert seconds == pytest.approx(9 * HOUR, rel=0.01)
    assert (odd == (user == 99)).all()


@pytest.mark.parametrize("days", [2, 7, 30, 365])
def test_quiet_traces_have_none(days):
    assert found(*rest(days, 900)) == []


@pytest.mark.parametrize("days", [1, 2, 30, 365])
def test_a_surge_is_found_in_short_and_long_traces(days):
    begin = days * DAY / 2
    assert found((50, 8_000, begin, begin + 2 * HOUR), *rest(days, 900)) == [(50, 8_000)]


def test_across_midnight():
    assert found((50, 8_000, 9.9 * DAY, 10.1 * DAY), *rest(30, 900)) == [(50, 8_000)]


def test_days_side_by_side_are_one():
    assert found((50, 40_000, 10 * DAY, 14 * DAY), *rest(60, 900)) == [(50, 40_000)]


def test_two_of_one_user():
    surges = [(50, 8_000, 5 * DAY, 5.2 * DAY), (50, 9_000, 20 * DAY, 20.2 * DAY)]
    assert found(*surges, *rest(60, 900)) == [(50, 9_000), (50, 8_000)]


def test_who_is_always_so_busy_is_no_surge():
    """Nine of ten jobs are one user's, every day."""
    assert found((50, 30 * 8_000, 0.0, 30 * DAY), *rest(30, 900)) == []


def test_most_of_a_short_trace_is_no_surge_unless_it_comes_at_once():
    """Ten hours of one user's jobs: all the while, or in two of them."""
    others = [(who, 200, 0.0, 10 * HOUR) for who in range(10)]
    assert found((50, 5_000, 0.0, 10 * HOUR), *others) == []
    assert found((50, 5_000, 4 * HOUR, 6 * HOUR), *others) == [(50, 5_000)]


def test_few_jobs_unknown_users_and_one_user_alone_are_none():
    assert found((50, FEW, 5 * DAY, 5.1 * DAY), *rest(30, 10)) == []
    assert found((50, FEW + 1, 5 * DAY, 5.1 * DAY), *rest(30, 10)) == [(50, FEW + 1)]
    assert found((-1, 8_000, 5 * DAY, 5.1 * DAY), *rest(30, 10)) == []
    assert found((50, 8_000, 5 * DAY, 5.1 * DAY), (50, 10, 0.0, 30 * DAY)) == []


def test_an_array_of_a_busy_day_is_none():
    """1,000 tasks at once, where others submit 900 jobs a day."""
    assert found((50, 1_000, 5 * DAY, 5 * DAY + 60), *rest(30, 900)) == []


def test_a_slip_in_a_date_takes_no_memory():
    assert found((1, 1, 9e14, 9e14 + 1), *rest(30, 900)) == []


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6))
def test_against_a_slow_count(seed):
    """What is found is more than the rule says, in some day of it; and no day that is left has as many."""
    rng = np.random.default_rng(seed)
    days = int(rng.integers(3, 40))
    parts = rest(days, int(rng.integers(10, 60)))
    for who in range(50, 50 + int(rng.integers(0, 3))):
        begin = rng.uniform(0, days - 1) * DAY
        parts.append((who, int(rng.integers(50, 900)), begin, begin + rng.uniform(0.1, 20) * HOUR))
    submit, user = trace(*parts)
    odd, table = flurries(submit, user)
    time, n_days = submit - submit.min(), int(np.ceil((submit.max() - submit.min()) / DAY))
    for who in set(user.tolist()):
        of_day = [
            [np.sum((time // DAY == k) & (mine == (user == who))) for k in range(n_days)] for mine in (True, False)
        ]
        others = int(np.sum(user != who))
        limit = max(FEW, min(7 * np.median(of_day[1]), others), 7 * np.median(of_day[0]))
        times = time[user == who]
        most = max(int(np.sum((times >= t) & (times < t + DAY))) for t in times)
        assert (most > limit) == (who in table["user"].to_list())
        kept = time[(user == who) & ~odd]
        assert all(int(np.sum((kept >= t) & (kept < t + DAY))) <= limit for t in kept)
