"""Jobs that waited too long."""

import pytest

from forebay import metrics

pytestmark = pytest.mark.small


def test_over_ten_walltimes(make, job):
    run = make(
        job(1, (0, 100, 105), 1, 10),  # exactly ten
        job(2, (0, 101, 106), 1, 10),
        job(3, (0, 101, 106), 1, 9),
        job(4, (0, 500, 505), 1, -1),  # no walltime, as Batsim writes it
        job(5, (0, 500, 505), 1, float("inf")),
        job(6, (0, None, None), 9, 1, state="REJECTED"),
    )
    assert metrics.waiting_over_walltimes(run)["job_id"].to_list() == [2, 3]
    assert metrics.n_waiting_over_10_walltimes(run) == 2
    assert metrics.waiting_over_walltimes(run, times=11)["job_id"].to_list() == [3]


def test_over_a_day_longest_first(make, job):
    day = 86400
    run = make(
        job(1, (0, day, day + 1), 1, day), job(2, (0, day + 1, day + 2), 1, day), job(3, (5, 2 * day, 3 * day), 1, day)
    )
    assert metrics.waiting_over(run)["job_id"].to_list() == [3, 2]
    assert metrics.n_waiting_over_a_day(run) == 2
    assert metrics.waiting_over(run, seconds=3600).height == 3


def test_nobody(run, rejected, empty):
    for each in (run, rejected, empty):
        assert metrics.n_waiting_over_10_walltimes(each) == 0
        assert metrics.n_waiting_over_a_day(each) == 0
        assert metrics.waiting_over(each).is_empty()
