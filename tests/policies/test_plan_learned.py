"""Plans by what an estimator has learned: expectations against the slow way, and runs with nothing to learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay
from cases.chunks import examples
from forebay.errors import InputError
from forebay.learn import Likely
from forebay.policies import load
from forebay.policies._families.learned import Ahead
from policies.test_predict import habits, passing

SECONDS = st.lists(st.floats(1.0, 1e5), min_size=1, max_size=8)


def test_what_is_expected_by_hand():
    """Run times of 10, 20 and 60 s: 30 on average; 40 of a job that has run for 10 s; later nothing is known."""
    ahead = Ahead(Likely.of([20.0, 10.0, 60.0]), 100.0)
    assert [ahead.mean(), ahead.mean(10.0), ahead.mean(20.0)] == pytest.approx([30.0, 40.0, 60.0])
    assert 60.0 < ahead.mean(60.0) <= ahead.mean(90.0) <= 100.0
    assert Ahead(Likely.of([0.0]), math.inf).mean() == 1.0  # what takes no time would delay nothing


@settings(max_examples=examples(50), deadline=None)
@given(SECONDS, st.floats(0.0, 2e5), st.floats(1.0, 3e5))
def test_what_is_expected_equals_the_slow_way(points, elapsed, walltime):
    likely = Likely.of(np.minimum(points, walltime))
    later = likely.beyond(elapsed, walltime)
    slow = min(float(later.seconds @ later.weights), walltime)
    assert Ahead(likely, walltime).mean(elapsed) == pytest.approx(max(slow, 1.0) if walltime >= 1.0 else slow)


def log(spec, workload, platform):
    return forebay.simulate(workload, platform, spec).facts["log_sha256"]


def test_without_anything_learned_it_is_plan_best():
    """An estimator that only knows walltimes: the same log, with ends either way; what is learned changes it."""
    made, few = habits(6000), "exhaustive=2,steps=1,moves=2,rounds=1,planned=4,keep=true"
    best = log(f"plan-best:{few}", *made)
    for ends in ("walltime", "predicted"):
        assert log(f"plan-predict:{few},estimator=walltime,ends={ends}", *made) == best
    policy = load(f"plan-predict:{few}")
    learned = log(policy, *made)
    assert learned == log(policy, *made) != best  # nothing is left of the run before


def test_a_job_that_is_likely_to_be_short_passes():
    assert passing("plan-best")[0] == 9
    assert passing("plan-predict")[0] == 8
    assert passing("plan-predict:estimator=walltime")[0] == 9


def test_unknown_estimators_are_refused():
    with pytest.raises(InputError, match=r"estimator 'x'.*survival"):
        load("plan-predict:estimator=x")
