"""All numbers at once."""

import json

import pytest

from forebay import metrics

pytestmark = pytest.mark.small


def test_summary_of_the_run(run):
    found = metrics.summary(run)
    assert found.items() >= {"n_jobs": 4, "n_started": 3, "n_killed": 1, "n_rejected": 1}.items()
    assert found["makespan"] == 150
    assert found["utilisation_nodes"] == pytest.approx(415 / 600)
    assert found["utilisation_bb"] == pytest.approx(640 / 1500)
    assert found["mean_waiting_time"] == pytest.approx(110 / 3)
    assert found["p95_waiting_time"] == pytest.approx(91)
    assert found["mean_bounded_slowdown_10s"] == pytest.approx(1.75)
    assert found["mean_bounded_slowdown_10min"] == 1
    assert found["node_weighted_mean_waiting_time"] == pytest.approx(410 / 7)
    assert found["n_waiting_over_10_walltimes"] == 0


def test_names_are_the_same_for_every_run_and_json_holds_them(run, rejected, empty):
    whole = metrics.summary(run)
    assert None not in whole.values()
    of_users = {"jain_slowdown", "user_slowdown_spread"}  # only where two are known
    for nothing in (rejected, empty):
        found = metrics.summary(nothing)
        assert list(found) == [name for name in whole if name not in of_users]
        counts = {name for name in found if name.startswith("n_")}
        assert {name for name, value in found.items() if value is not None} == counts
        json.dumps(found, allow_nan=False)


def test_summary_of_a_window(run):
    found = metrics.summary(run, window=(5, 40))
    assert found["n_jobs"] == 2
    assert found["mean_waiting_time"] == 10
    assert found["ci95_waiting_time"] is None
    assert found["utilisation_nodes"] == pytest.approx(80 / 140)


def test_results_of_the_same_run_are_the_same_to_the_bit(run):
    assert metrics.summary(run) == metrics.summary(run)
