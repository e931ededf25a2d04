"""What bounds refuse, each with one message that says what to do."""

import re
import sys

import pytest

import forebay as fb
from forebay.workload import job_table

pytestmark = pytest.mark.small

JOB = {"id": [1], "submit": [0.0], "walltime": [60.0], "run_time": [30.0], "nodes": [2]}


def made(**more):
    """One job, with other columns."""
    return fb.Workload("mine", job_table(JOB | more))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"metric": "mean_wiat"}, "no bound is known for the metric 'mean_wiat'"),
        ({"metric": 5}, "the metric"),
        ({"metric": "utilisation_nodes"}, "no bound is known for the metric 'utilisation_nodes'"),
        ({"exact": True, "window": 41}, "windows of 41 jobs may take for ever to solve; give 40 at most, or --force"),
        ({"window": 0}, "the window is 0 jobs"),
        ({"window": 2.5}, "the window is 2.5 jobs"),
        ({"time_limit": 0}, "the time limit is 0 s; give seconds above 0"),
        ({"time_limit": float("nan")}, "the time limit is nan s"),
    ],
)
def test_values_that_make_no_sense(given, text):
    with pytest.raises(fb.ForebayError, match=re.escape(text)):
        fb.bounds(made(), "flat:nodes=4", **given)


def test_no_jobs():
    empty = fb.Workload("mine", job_table({name: [] for name in JOB}))
    with pytest.raises(fb.ForebayError, match="mine: no jobs; a bound needs one at least"):
        fb.bounds(empty, "flat:nodes=4")


def test_no_job_that_can_run():
    with pytest.raises(fb.ForebayError, match="no job of it runs for sure on flat"):
        fb.bounds(made(), "flat:nodes=1")


def test_a_workload_that_is_none():
    with pytest.raises(fb.ForebayError, match="the workload"):
        fb.bounds(7, "flat:nodes=4")


def test_nodes_that_fail():
    machine = fb.platform("flat:nodes=4").model_copy(update={"failures": fb.platforms.Failures(mtbf=3600.0)})
    with pytest.raises(fb.ForebayError, match="may fail, and jobs then start again"):
        fb.bounds(made(), machine)


def test_jobs_that_are_submitted_when_others_end():
    """Policies decide when that is: what waits are counted from differs."""
    one = {"id": [1, 2], "submit": [0, 0], "walltime": [9, 9], "run_time": [9, 9], "nodes": [1, 1]}
    thinks = fb.workload.dependency_table({"job": [2], "parent": [1], "kind": ["think"]})
    with pytest.raises(fb.ForebayError, match="some jobs are submitted when others end"):
        fb.bounds(fb.Workload("mine", job_table(one), dependencies=thinks), "flat:nodes=4")


def test_a_slowdown_of_jobs_that_contend():
    """A job that takes longer than alone has a lower slowdown, so there is no bound from its time alone."""
    jobs = made(burst_buffer=[10**9])
    machine = "flat:nodes=4,burst_buffer=1TB,pfs=5GB/s"
    with pytest.raises(fb.ForebayError, match="no bound is known for mean_bounded_slowdown_10s where run times depend"):
        fb.bounds(jobs, machine, "mean_bounded_slowdown_10s", job_model="io-aware")
    assert "makespan" in fb.bounds(jobs, machine, job_model="io-aware", steps=2).best


def test_runs_of_something_else():
    least = fb.bounds(made(), "flat:nodes=4")
    with pytest.raises(fb.ForebayError, match="the run fcfs-bb is of table1, and the bounds are of mine"):
        least.against(fb.simulate("table1"))
    for wrong in ("fcfs", 3, ["fcfs"], {"mine": None}):
        with pytest.raises(fb.ForebayError, match="what is held against the bounds"):
            least.gaps(wrong)


def test_ortools_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools", None)
    monkeypatch.setitem(sys.modules, "ortools.sat.python.cp_model", None)
    with pytest.raises(fb.ForebayError, match=re.escape('pip install "forebay[ortools]"')):
        fb.bounds(made(), "flat:nodes=4", exact=True)
