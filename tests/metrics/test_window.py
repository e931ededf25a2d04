"""Windows of the run of conftest.py."""

import pytest

from forebay import metrics
from forebay.errors import InputError

pytestmark = pytest.mark.small


def ids(result):
    return result.jobs["job_id"].to_list()


def test_jobs_by_submission_start_in_and_end_out(run):
    assert ids(metrics.window(run, 0, 20)) == [1, 2, 3]
    assert ids(metrics.window(run, 10, 21)) == [3, 4]


def test_use_is_clipped_to_the_window_and_counts_jobs_from_outside(run):
    part = metrics.window(run, 5, 40)
    assert ids(part) == [3, 4]
    assert metrics.makespan(part) == 50  # of its jobs: job 3, from 10 to 60
    # Job 1 holds 2 nodes throughout, job 3 one from 30: 2 x 35 + 1 x 10 of 4 x 35.
    assert metrics.utilisation(part) == pytest.approx(80 / 140)
    assert metrics.utilisation(part, "bb") == pytest.approx((4 * 35 + 6 * 20) / 350)


def test_an_empty_window_of_time_is_refused_and_one_without_jobs_is_not(run):
    with pytest.raises(InputError, match="from 30 s to 30 s is empty"):
        metrics.window(run, 30, 30)
    quiet = metrics.window(run, 110, 120)
    assert ids(quiet) == []
    assert metrics.mean_wait(quiet) is None
    assert metrics.utilisation(quiet) == 1  # job 2 holds all four nodes


def test_a_window_of_a_window_is_what_they_share(run):
    part = metrics.window(metrics.window(run, 5, 100), 0, 15)
    assert ids(part) == [3]
    assert part.facts["window"] == [5, 15]
    with pytest.raises(InputError, match="empty"):
        metrics.window(metrics.window(run, 0, 10), 20, 30)


def test_the_run_itself_is_left_alone(run):
    metrics.window(run, 0, 5)
    assert dict(run.facts) == {"seed": 7}
    assert run.jobs.height == 4


def test_by_fraction_of_the_arrivals(run):
    # Jobs arrive from 0 to 20.
    assert ids(metrics.window_by_fraction(run, 0, 1)) == [1, 2, 3, 4]
    assert ids(metrics.window_by_fraction(run, 0.25, 0.75)) == [3]
    assert metrics.window_by_fraction(run, 0.25, 0.75).facts["window"] == [5, 15]
    with pytest.raises(InputError, match="fractions such as"):
        metrics.window_by_fraction(run, 0.5, 50)


def test_by_fraction_of_nothing_or_of_one_instant(empty, make, job):
    assert metrics.window_by_fraction(empty, 0.1, 0.9).jobs.is_empty()
    assert ids(metrics.window_by_fraction(make(job(1, (7, 7, 9), 1, 9)), 0, 1)) == [1]
