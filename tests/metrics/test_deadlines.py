"""Deadlines: who missed them, and by how much."""

import dataclasses

import polars as pl
import pytest

import forebay as fb
from forebay.experiments.comparison.shaking import shaken
from forebay.experiments.runs import Added, lengthened
from forebay.workload import _sidecar, operations, periods

pytestmark = pytest.mark.small

# One node, in order of arrival:
#
#     job  submit  run time  deadline  ends  tardiness
#     1         0        60        90    60          0
#     2         0        60       100   120         20
#     3        10        30      none   150          -
#     4        20        40       150   190         40
#     5        20        10        10     -          -  two nodes: rejected
#     6        30        10        -1   200          -
JOBS = {
    "id": [1, 2, 3, 4, 5, 6],
    "submit": [0, 0, 10, 20, 20, 30],
    "run_time": [60, 60, 30, 40, 10, 10],
    "walltime": [60, 60, 30, 40, 10, 10],
    "nodes": [1, 1, 1, 1, 2, 1],
    "deadline": [90, 100, None, 150, 10, -1],
}
NUMBERS = {"missed_deadlines": 2, "missed_deadlines_share": 2 / 3, "mean_tardiness": 20.0, "max_tardiness": 40.0}


def made(**more):
    return fb.Workload("due", fb.workload.job_table(JOBS | more))


def deadlines(w):
    return dict(w.jobs.select("id", "deadline").rows())


def found(result):
    return {name: value for name, value in fb.summary(result).items() if name in NUMBERS}


def test_solved_by_hand():
    result = fb.simulate(made(), "flat:nodes=1", "fcfs")
    assert fb.metrics.tardiness(result).rows() == [(1, 0.0), (2, 20.0), (4, 40.0)]
    assert found(result) == pytest.approx(NUMBERS)
    assert found(fb.metrics.window(result, 15, 100)) == pytest.approx(
        {"missed_deadlines": 1, "missed_deadlines_share": 1, "mean_tardiness": 40, "max_tardiness": 40}
    )


def test_a_run_that_is_saved_keeps_them(tmp_path):
    result = fb.simulate(made(), "flat:nodes=1", "fcfs")
    result.save(tmp_path)
    assert found(fb.load(tmp_path)) == found(result)


@pytest.mark.parametrize("column", [[None] * 6, [-1] * 6, [float("nan")] * 6, ["soon"] * 6])
def test_only_where_some_are_set(column):
    result = fb.simulate(made(deadline=column), "flat:nodes=1", "fcfs")
    assert found(result) == {}
    assert fb.metrics.tardiness(result).is_empty()
    assert found(fb.simulate("table1")) == {}


def test_where_no_job_that_ran_has_one():
    result = fb.simulate(made(deadline=[None, None, None, None, 10, None]), "flat:nodes=1", "fcfs")
    assert found(result) == {"missed_deadlines": 0} | dict.fromkeys(list(NUMBERS)[1:])


def test_they_are_on_the_clock_of_the_trace():
    """They go with their jobs wherever these are moved, and none stays none."""
    later = operations.slice_time(made(), 10, 100)
    assert deadlines(later) == {3: None, 4: 140, 5: 0, 6: None}
    assert later.jobs["submit"].to_list() == [0, 10, 10, 20]
    assert deadlines(operations.scale_load(made(), 2)) == {1: 90, 2: 100, 3: None, 4: 140, 5: 0, 6: None}
    warm = made(recorded_start=[0, 60, 120, 150, 1000, 190])
    assert deadlines(periods.period(warm, 15, 100)) == {1: 75, 2: 85, 3: None, 4: 135, 5: -5, 6: None}


def test_a_shaken_copy_leaves_each_job_its_time():
    w = made()
    left = (w.jobs["deadline"] - w.jobs["submit"]).to_list()
    for copy in (shaken(w, 1, 1), lengthened(w, Added(0.0, (1, 1), 60.0))):
        jobs = copy.jobs.sort("id")
        assert jobs["submit"].to_list() != w.jobs["submit"].to_list()
        due = (jobs["deadline"] - jobs["submit"]).to_list()
        assert due == pytest.approx([*left[:2], None, *left[3:5], None])


def test_a_table_beside_a_trace_gives_them(tmp_path):
    (tmp_path / "due.csv").write_text("id,deadline\n1,90\n2,100.5\n3,\n4,-1\n")
    plain = dataclasses.replace(made(), jobs=made().jobs.drop("deadline"))
    w = operations.attach_table(plain, _sidecar.load(tmp_path / "due.csv"), "due.csv")
    assert deadlines(w) == {1: 90, 2: 100.5, 3: None, 4: None, 5: None, 6: None}
    assert w.own == ("deadline",)
    assert fb.summary(fb.simulate(w, "flat:nodes=1", "fcfs"))["mean_tardiness"] == pytest.approx((0 + 19.5) / 2)


def test_policies_read_them():
    seen = []

    class Reader:
        def decide(self, view, act):
            seen.append(list(view.column("deadline")[:2]))
            for job in view.queue:
                if act.fits(job):
                    act.start(job)

    fb.simulate(made(), "flat:nodes=1", Reader)
    assert seen[0] == [90, 100]


def test_a_comparison_takes_jobs_that_ran_under_every_policy():
    """Job 4 is rejected by one of both: it counts in neither's numbers."""

    class Rejecting:
        def decide(self, view, act):
            for job in view.queue:
                if view.jobs["id"][job] == 4:
                    act.reject(job)
                elif act.fits(job):
                    act.start(job)

    w = made(nodes=[1] * 6)
    found = fb.compare(w, {"fcfs": "fcfs", "mine": Rejecting}, "flat:nodes=1", replicas=0, bounds=False, jobs=1)
    late = dict(found.summaries.select("policy", "missed_deadlines").rows())
    alone = fb.summary(fb.simulate(w, "flat:nodes=1", "fcfs"))["missed_deadlines"]
    assert late["fcfs"] == alone - 1
    assert found.summaries.schema["missed_deadlines"] == pl.Int64
