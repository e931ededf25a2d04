"""What describe tells of four jobs that can be worked out by hand, and of corner cases."""

import json
import math
from dataclasses import replace

import polars as pl
import pytest

from forebay.workload.info import describe
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small


@pytest.fixture
def w():
    jobs = job_table(
        {
            "id": [1, 2, 3, 4],
            "submit": [0.0, 86400.0, 100000.0, 172800.0],
            "walltime": [100.0, 200.0, 50.0, math.inf],
            "run_time": [100.0, 50.0, 80.0, 0.0],
            "flop": [0.0, 0.0, 0.0, 3e9],
            "nodes": [1, 2, 3, 10],
            "user": [5, 5, 6, -1],
            "burst_buffer": [0, 10, 30, 0],
        }
    )
    return Workload(
        "four",
        jobs,
        epoch=1704067200.0,
        platform="flat:nodes=10",
        records=6,
        dropped={"no processors": 2},
        notes=("n",),
    )


def test_facts_of_four_jobs(w):
    facts = describe(w)
    assert facts["nodes"] == {"min": 1, "median": 2.5, "mean": 4.0, "p95": pytest.approx(8.95), "max": 10}
    assert facts["run_time"]["max"] == 100.0
    assert facts["run_time"]["min"] == 3.0  # 3e9 flop at 1e9 flop/s
    assert facts["run_time"]["mean"] == pytest.approx(233 / 4)
    assert facts["walltime"]["median"] == 100.0  # of the three that have one
    assert facts["flop"]["jobs"] == 1
    assert facts["flop"]["assumed_speed"] == 1e9
    assert facts["flop"]["per_node"]["max"] == 3e9
    assert facts["serial_share"] == 0.25
    assert facts["power_of_two_share"] == 0.5
    assert facts["estimates"] == {
        "jobs_without_walltime": 1,
        "mean_accuracy": pytest.approx((1 + 0.25 + 1) / 3),
        "perfect_share": pytest.approx(1 / 3),
        "jobs_past_walltime": 1,
    }
    # 1*100 + 2*50 + 3*min(80, 50) + 10*3 node-seconds, on 10 nodes for two days
    assert facts["offered_load"] == pytest.approx(380 / (10 * 172800))
    assert facts["resources"] == {
        "burst_buffer": {"jobs": 2, "min": 10, "mean": 20.0, "median": 20.0, "p95": 29.0, "max": 30}
    }
    assert (facts["users"], facts["groups"], facts["queues"]) == (2, 0, 0)
    assert (facts["first_submit"], facts["last_submit"], facts["span"]) == (0.0, 172800.0, 172800.0)
    assert facts["arrivals_per_day"] == {"mean": 2.0, "min": 1, "max": 2}


def test_origin_is_told_and_all_is_json(w):
    facts = json.loads(json.dumps(describe(w), allow_nan=False))
    assert facts["epoch_iso"] == "2024-01-01T00:00:00+00:00"
    assert (facts["name"], facts["jobs"], facts["records"]) == ("four", 4, 6)
    assert (facts["dropped"], facts["notes"]) == ({"no processors": 2}, ["n"])
    assert facts["platform"] == "flat:nodes=10"


def test_load_needs_a_machine_and_a_span(w):
    assert describe(replace(w, platform=None))["offered_load"] is None
    assert describe(replace(w, platform="table1"))["offered_load"] is None
    assert describe(replace(w, platform=None), n_nodes=20)["offered_load"] == pytest.approx(190 / (10 * 172800))
    single = describe(replace(w, jobs=w.jobs.head(1)))
    assert (single["offered_load"], single["arrivals_per_day"], single["flop"]) == (None, None, None)


def test_extremes_do_not_break_the_facts(w):
    endless = w.jobs.with_columns(walltime=pl.lit(math.inf))
    facts = describe(replace(w, jobs=endless, epoch=1e18))
    assert (facts["walltime"], facts["epoch_iso"]) == (None, None)
    assert facts["estimates"]["mean_accuracy"] is None
    empty = json.dumps(describe(replace(w, jobs=w.jobs.clear())), allow_nan=False)
    assert json.loads(empty)["jobs"] == 0


def test_the_fullest_day_may_be_the_last_which_is_only_begun():
    """One job, then three and a half days later 20 within an hour: the emptiest whole day has none."""
    n = 21
    submit = [0.0, *(3.5 * 86400 + 60.0 * k for k in range(20))]
    columns = {"id": range(n), "submit": submit, "walltime": [9] * n, "run_time": [5] * n, "nodes": [1] * n}
    found = describe(Workload("w", job_table(columns)))["arrivals_per_day"]
    assert (found["min"], found["max"]) == (0, 20)
    assert found["min"] <= found["mean"] <= found["max"]


def test_a_slip_in_a_submit_time_takes_no_memory():
    """Ten thousand million days between two jobs: none of them is counted by itself."""
    columns = {"id": [1, 2, 3], "submit": [0.0, 5.0, 9e14], "walltime": [9] * 3, "run_time": [5] * 3, "nodes": [1] * 3}
    found = describe(Workload("w", job_table(columns)))
    assert (found["arrivals_per_day"]["min"], found["arrivals_per_day"]["max"]) == (0, 2)
