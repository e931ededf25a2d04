"""Estimators: what they say after what they were shown, by hand and as properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay as fb
from forebay.learn import Asked, Likely

SECONDS = st.floats(1, 1e6)
ASKED = st.builds(Asked, st.integers(-1, 3), st.integers(1, 4), st.sampled_from([600.0, 3600.0, math.inf]))


@given(st.sampled_from(fb.learn.names()), st.lists(st.tuples(ASKED, SECONDS), max_size=40), ASKED)
def test_likely_is_a_distribution_within_the_walltime(name, ended, asked):
    estimator = fb.learn.load(name)
    for one, seconds in ended:
        estimator.learn(one, min(seconds, one.walltime))
    likely = estimator.likely(asked)
    assert likely.weights.sum() == pytest.approx(1)
    assert (likely.weights >= 0).all()
    assert (np.diff(likely.seconds) >= 0).all()
    assert likely.seconds[-1] <= asked.walltime
    assert likely.seconds[0] >= 0


@given(st.lists(SECONDS, min_size=1), st.floats(0, 2e6), st.floats(0, 2e6))
def test_a_job_that_runs_ends_later_than_now_and_by_its_walltime(seconds, elapsed, more):
    walltime = elapsed + more
    goes_on = Likely.of(np.minimum(seconds, walltime)).beyond(elapsed, walltime)
    assert (goes_on.seconds >= elapsed).all()
    assert (goes_on.seconds <= max(walltime, *seconds)).all()
    assert goes_on.weights.sum() == pytest.approx(1)


def test_beyond_is_the_condition():
    """Of 60, 120 and 600 s alike, 100 s have gone by: 120 and 600 are left, alike."""
    likely = Likely.of([600.0, 60.0, 120.0]).beyond(100.0)
    assert likely.seconds.tolist() == [120.0, 600.0]
    assert likely.weights.tolist() == [0.5, 0.5]


def test_beyond_all_that_is_known_half_is_within_the_present_age():
    likely = Likely.of([60.0]).beyond(1000.0)
    assert 1800 < likely.quantile(0.5) <= 2000
    assert Likely.of([60.0]).beyond(1000.0, 1500.0).seconds.max() == 1500.0


def test_quantiles_by_hand():
    likely = Likely.of([10.0, 20.0, 30.0, 40.0])
    assert likely.quantile(np.array([0.25, 0.5, 0.75, 1.0])).tolist() == [10.0, 20.0, 30.0, 40.0]
    assert likely.quantile(0.51) == 30.0


def test_last_two_is_the_mean_of_the_users_last_two():
    estimator = fb.learn.load("last-two")
    for user, seconds in ((1, 1000.0), (1, 100.0), (2, 7.0), (1, 300.0)):
        estimator.learn(Asked(user), seconds)
    assert estimator.likely(Asked(1)).seconds.tolist() == [200.0]
    assert estimator.likely(Asked(1, walltime=50.0)).seconds.tolist() == [50.0]
    assert estimator.likely(Asked(3, walltime=50.0)).seconds.tolist() == [50.0]


def test_survival_goes_from_the_machine_to_the_user():
    """Other users' jobs take a tenth of their walltime. One user's take all of it, and are believed after a few."""
    estimator = fb.learn.load("survival")
    for user in range(50):
        estimator.learn(Asked(user, 1, 3600.0), 360.0)
    mine = Asked(99, 1, 3600.0)
    assert 300 < estimator.likely(mine).quantile(0.5) < 420
    for _ in range(12):
        estimator.learn(mine, 3600.0)
    assert estimator.likely(mine).quantile(0.5) > 3000


def test_survival_by_hand():
    """One job of the same user, request and size, of 100 s: five kinds have it, each with the share 1/2 of the rest."""
    estimator = fb.learn.load("survival:shrink=1,blur=0")
    asked = Asked(1, 4, 600.0)
    estimator.learn(asked, 100.0)
    likely = estimator.likely(asked)
    assert set(likely.seconds) == {100.0, 600.0}
    assert likely.weights[likely.seconds == 600.0].sum() == pytest.approx(1 / 2**5)


def test_other_walltimes_count_by_their_share():
    estimator = fb.learn.load("survival:shrink=0,blur=0")
    estimator.learn(Asked(1, 1, 1000.0), 500.0)
    assert estimator.likely(Asked(1, 1, 3000.0)).quantile(0.5) == 1500.0


def test_the_name_of_a_job_counts():
    jobs = fb.workload.job_table(
        {
            "id": [1, 2],
            "submit": [0, 1],
            "walltime": [9, 9],
            "run_time": [1, 1],
            "nodes": [1, 1],
            "job_name": ["a", "b"],
        },
        own=["job_name"],
    )
    assert [asked.name for asked in fb.learn.asked_of(fb.Workload("named", jobs))] == [0, 1]


@pytest.mark.parametrize(
    "spec", ["survival:last=0", "survival:shrink=-1", "survival:fade=0", "survival:blur=inf", "last-two:last=0"]
)
def test_parameters_that_make_no_sense(spec):
    with pytest.raises(fb.ForebayError, match="give a"):
        fb.learn.load(spec)


def test_an_unknown_estimator_names_the_nearest():
    with pytest.raises(fb.ForebayError, match="survival"):
        fb.learn.load("surviving")


def test_something_else_is_refused():
    with pytest.raises(fb.ForebayError, match="learn"):
        fb.learn.load(7)


def test_every_estimator_describes_itself():
    assert all(fb.learn.describe(name).endswith((".", "number.")) for name in fb.learn.names())
