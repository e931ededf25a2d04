"""Policies of ours beside the paper's: ratios and gaps by hand, and users from the log."""

import os
from types import SimpleNamespace

import pytest

from forebay.studies import load
from forebay.studies._expected import Expected
from forebay.studies._frame import Options, Report
from forebay.studies.kopanski2021 import _better

METRICS = ("mean_waiting_time", "mean_bounded_slowdown_10min", "p99_waiting_time")


def rows(policy, waits):
    """Rows of two parts; `waits` are (replica, seed, wait in part 0, wait in part 1)."""
    return [
        {"policy": policy, "part": part, "replica": replica, "seed": seed} | dict.fromkeys(METRICS, float(wait))
        for replica, seed, *pair in waits
        for part, wait in enumerate(pair)
    ]


@pytest.mark.small
def test_ratios_spread_and_gap_by_hand():
    """Ratios are of means over the parts, replica by replica; 40 of a gap of 100 are closed."""
    given = [
        *rows("plan-2", [(0, 0, 90, 300), (0, 1, 110, 300), (1, 0, 100, 300), (2, 1, 100, 100)]),
        *rows("plan-best", [(0, 0, 80, 100), (1, 0, 100, 200), (2, 0, 100, 200)]),
        *rows("plan-predict", [(0, 0, 80, 100), (1, 0, 60, 160), (2, 0, 60, 160)]),
        *rows("plan-best, run times known", [(0, 0, 9, 9), (1, 0, 50, 50), (2, 0, 50, 50)]),
    ]
    settings = SimpleNamespace(better=SimpleNamespace(reference="plan-2", job_model="alloc-only"))
    made = Report()
    _better.tell(SimpleNamespace(settings=settings, parts=(0, 1)), given, Expected({}), made)
    told = {row["policy"]: row for row in made.frames["better"].to_dicts() if row["metric"] == METRICS[0]}
    assert told["plan-2"]["as_given"] == 200
    # A standard deviation of 14.1 over 100 in one part, none in the other.
    assert told["plan-2"]["over_seeds"] == pytest.approx((200**0.5 / 100 + 0) / 2)
    assert told["plan-best"]["over_seeds"] == 0
    assert told["plan-best"]["ratio"] == pytest.approx((150 / 200 + 150 / 100) / 2)
    # Two values, 0.75 and 1.5: the interval is 12.7 standard errors of 0.375.
    assert told["plan-best"]["ratio_half_95"] == pytest.approx(12.7062 * 0.375, rel=1e-4)
    assert [note for note in made.notes if "plan-predict closes 40 % in mean wait" in note]
    assert not [note for note in made.notes if "sjf-predict" in note]
    assert len(made.shown) == 3


def test_users_are_those_of_the_log():
    if not os.environ.get("FOREBAY_DATA"):
        pytest.skip("FOREBAY_DATA is not set: the authors' files are not here")
    from forebay.experiments.runs import workload_of

    plan = load("kopanski2021").plan(Options(sections=("better",), parts=(3,), policies=("plan-predict",)))
    jobs = workload_of(plan.runs[0].jobs).jobs
    assert (jobs["user"] >= 0).all()
    assert jobs["user"].n_unique() > 50
