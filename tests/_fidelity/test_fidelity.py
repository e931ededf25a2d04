"""A recorded period replayed: what is scored, and what is said of what cannot match."""

import json
import math

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError

pytestmark = pytest.mark.small

EPOCH = 1735689600.0  # 2025-01-01


def trace(rows, **more):
    """(submit, recorded start, run time, nodes) a job, with walltimes as long as they ran."""
    submit, start, run_time, nodes = zip(*rows, strict=True)
    columns = {"id": range(1, len(rows) + 1), "submit": submit, "recorded_start": list(map(float, start))}
    columns |= {"run_time": run_time, "walltime": run_time, "nodes": nodes}
    names = more.pop("names", {})
    jobs = fb.workload.job_table(columns | more)
    return fb.Workload("trace", jobs, epoch=EPOCH, platform="flat:nodes=4", names=names)


@pytest.fixture
def w():
    # A machine of 4 nodes under FCFS, but for job 4, which was held for 1,000 s while all was idle.
    rows = [(0, 0, 100, 4), (10, 100, 100, 2), (20, 100, 50, 2), (300, 1300, 100, 1), (2000, 2000, 10, 4)]
    return trace(rows, user=[1, 1, 2, 2, 1], queue=[1, 1, 1, 2, 2], names={"user": {1: "ann", 2: "bob"}})


def test_a_schedule_that_is_the_recorded_one(w):
    found = fb.fidelity(w, policy="fcfs")
    assert found.jobs["error"].to_list() == [0, 0, 0, -1000, 0]
    assert found.numbers["ratio_of_means"] == pytest.approx(170 / 1170)
    assert found.by["user"].select("name", "jobs", "mean_error").rows() == [("ann", 3, 0), ("bob", 2, -500)]
    assert found.by["queue"]["name"].to_list() == ["1", "2"]
    assert repr(found) == "<Fidelity of fcfs on 5 jobs: mean wait 34 s, recorded 3 min 54 s>"


def test_what_cannot_match(w):
    told = fb.fidelity(w, policy="fcfs").doubts
    assert set(told) == {"before", "room", "queues", "limits"}
    assert told["room"].startswith("1 job waited while the machine had room all the time, 85 % of all recorded waiting")
    assert told["queues"].startswith("the trace has 2 queues, and the machine no partitions")


def test_a_machine_that_is_too_small_or_too_large(w):
    assert fb.fidelity(w, "flat:nodes=6", "fcfs").doubts["size"].startswith("2 of 6 nodes were never in use")
    small = fb.fidelity(w, "flat:nodes=3", "fcfs")
    assert small.doubts["size"].startswith("jobs had up to 4 nodes at once by the record, and the machine has 3")
    assert small.doubts["rejected"].startswith("2 jobs asked for more than this machine has")
    assert small.jobs["job_id"].to_list() == [2, 3, 4]


def test_a_period_with_a_warm_start_is_closer_than_one_without():
    # Job 1 holds all nodes until 1,000; the period begins at 500, when job 2 waits. Both then run one after the other.
    w = trace([(0, 0, 1000, 4), (100, 1000, 500, 4), (600, 1500, 100, 4)])
    warm = fb.fidelity(w, policy="fcfs", period=(500, 700))
    assert warm.jobs["job_id"].to_list() == [2, 3]
    assert warm.jobs["error"].to_list() == [0, 0]
    assert warm.numbers["recorded_use"] == warm.numbers["simulated_use"] == 1
    assert "before" not in warm.doubts
    cold = fb.fidelity(w, policy="fcfs", period=(500, 700), warm=False)
    assert cold.jobs["error"].to_list() == [-900]
    assert cold.doubts["before"].startswith("the period begins with an empty machine")
    assert warm.doubts["after"].startswith("no job arrives after the last one here")


def test_dates_of_a_period():
    w = trace([(0, 0, 1000, 4), (100, 1000, 500, 4), (600, 1500, 100, 4)])
    dated = fb.fidelity(w, policy="fcfs", period=("2025-01-01T00:08:20", "2025-01-01T00:11:40"))
    assert dated.jobs["error"].to_list() == [0, 0]


def test_jobs_without_a_start_that_makes_sense():
    w = trace([(0, 0, 10, 1), (10, math.nan, 10, 1), (20, 15, 10, 1)])
    found = fb.fidelity(w, policy="fcfs")
    assert found.jobs["job_id"].to_list() == [1]
    assert found.doubts["starts"].startswith(
        "1 job without a recorded start and 1 job recorded to start before submission: simulated, but not scored"
    )


def test_what_is_written(w, tmp_path):
    found = fb.fidelity(w, policy="fcfs")
    files = found.save(tmp_path / "out")
    assert {file.name for file in files} == {path.name for path in (tmp_path / "out").iterdir()}
    told = json.loads((tmp_path / "out/fidelity.json").read_text())
    assert told["numbers"]["mean_error"] == -200
    assert told["cannot_match"] == dict(found.doubts)
    assert pl.read_csv(tmp_path / "out/waits.csv")["error"].to_list() == [0, 0, 0, -1000, 0]
    groups = pl.read_csv(tmp_path / "out/groups.csv", infer_schema_length=None)
    assert groups.filter(pl.col("by") == "user")["name"].to_list() == ["ann", "bob"]
    use = pl.read_csv(tmp_path / "out/fidelity-use.csv")
    recorded = use.filter(pl.col("result") == "recorded")
    assert recorded.select("time", "in_use_percent").rows()[:4] == [(0, 100), (100, 100), (150, 50), (200, 0)]


def test_what_cannot_be(w):
    plain = fb.Workload("plain", w.jobs.drop("recorded_start"), platform="flat:nodes=4")
    with pytest.raises(InputError, match="plain does not tell when its jobs started"):
        fb.fidelity(plain)
    with pytest.raises(InputError, match="period"):
        fb.fidelity(w, period="2025-01-01")
    with pytest.raises(InputError, match="nothing to score"):
        fb.fidelity(trace([(5, 0, 10, 1)]), policy="fcfs")
