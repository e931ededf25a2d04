"""Means, intervals and percentiles over jobs, on the run of conftest.py."""

import pytest

from forebay import metrics
from forebay.errors import InputError

pytestmark = pytest.mark.small


def test_means_take_killed_jobs_and_leave_out_rejected_ones(run):
    assert metrics.mean_wait(run) == pytest.approx((0 + 100 + 10) / 3)
    assert metrics.mean_turnaround(run) == pytest.approx((100 + 150 + 50) / 3)
    # Slowdowns: 100 / 100, 150 / 50, 50 / 40.
    assert metrics.mean_slowdown(run) == pytest.approx((1 + 3 + 1.25) / 3)


def test_bounded_slowdown(run):
    assert metrics.mean_bounded_slowdown(run, 10) == pytest.approx((1 + 3 + 1.25) / 3)  # all run longer than 10 s
    assert metrics.mean_bounded_slowdown(run, 60) == pytest.approx((1 + 150 / 60 + 1) / 3)  # 50 / 60 counts as 1
    assert metrics.mean_bounded_slowdown(run, 600) == 1
    with pytest.raises(InputError, match="bound"):
        metrics.mean_bounded_slowdown(run, 0)


def test_a_job_of_no_length_has_no_slowdown_but_a_bounded_one(make, job):
    two = make(job(1, (0, 100, 100), 1, 10), job(2, (0, 10, 20), 1, 10))
    assert metrics.mean_slowdown(two) == 2
    assert metrics.mean_bounded_slowdown(two, 10) == (10 + 2) / 2


def test_interval_over_jobs(run):
    # Waits 0, 100, 10 have mean 110/3 and squared deviations that add up to 54600/9, so s = sqrt(54600/9/2) = 55.0757.
    assert metrics.ci95(run, "waiting_time") == pytest.approx(1.96 * 55.0757 / 3**0.5, rel=1e-5)


def test_one_job_has_no_interval(make, job):
    assert metrics.ci95(make(job(1, (0, 0, 5), 1, 10)), "waiting_time") is None


def test_percentiles_lie_between_neighbours(run):
    # Of 0, 10, 100: p95 is 9/10 of the way from the second to the third, p99 is 98/100 of it.
    assert metrics.percentiles(run) == pytest.approx({"p50": 10, "p95": 91, "p99": 98.2, "max": 100})
    assert metrics.percentiles(run, "bounded_slowdown_10s")["p50"] == 1.25


def test_weighted_means(run):
    assert metrics.weighted_mean(run) == pytest.approx((2 * 0 + 4 * 100 + 1 * 10) / 7)
    # Node-seconds held: 2 x 100, 4 x 50, and 15 of job 3, which gave its node back at 45.
    assert metrics.weighted_mean(run, by="node_seconds") == pytest.approx((200 * 100 + 15 * 10) / 415)
    assert metrics.weighted_mean(run, "turnaround_time") == pytest.approx((2 * 100 + 4 * 150 + 50) / 7)


def test_an_unknown_measure_is_named(run):
    with pytest.raises(InputError, match="unknown measure 'wating_time': did you mean 'waiting_time'"):
        metrics.mean(run, "wating_time")


@pytest.mark.parametrize("which", ["rejected", "empty"])
def test_nothing_to_measure(which, request):
    nothing = request.getfixturevalue(which)
    assert metrics.mean_wait(nothing) is None
    assert metrics.mean_bounded_slowdown(nothing, 10) is None
    assert metrics.ci95(nothing, "slowdown") is None
    assert metrics.weighted_mean(nothing) is None
    assert metrics.weighted_mean(nothing, by="node_seconds") is None
    assert set(metrics.percentiles(nothing).values()) == {None}
