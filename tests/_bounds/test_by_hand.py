"""Bounds that can be worked out by hand."""

import math

import numpy as np
import pytest

import forebay as fb
from forebay.workload import job_table


def bounds(machine="flat:nodes=1", cancel=None, **columns):
    """Bounds of a few jobs, by metric and kind."""
    n = len(columns["run_time"])
    rows = {"id": np.arange(1, n + 1), "submit": np.zeros(n), "walltime": np.full(n, 1e4), "nodes": np.ones(n, int)}
    rows |= {} if cancel is None else {"cancel": cancel}
    least = fb.bounds(fb.Workload("mine", job_table(rows | columns)), machine, steps=200)
    return least, {(row["metric"], row["bound"]): row["value"] for row in least.table.iter_rows(named=True)}


def test_one_node_is_the_machine_that_squashed_bounds_are_of():
    """Three jobs of 1, 2 and 3 s on one node: the shortest first, so waits are 0, 1 and 3 s."""
    _, found = bounds(run_time=[3.0, 1.0, 2.0])
    assert found["mean_wait", "squashed, shortest rest first"] == pytest.approx(4 / 3)
    assert found["mean_wait", "squashed, mean busy time"] == pytest.approx(4 / 3)
    assert found["mean_wait", "prices"] <= 4 / 3 + 1e-9
    assert found["mean_wait", "prices"] > 0.9 * 4 / 3
    assert found["mean_turnaround_time", "squashed, mean busy time"] == pytest.approx(10 / 3)
    assert found["makespan", "area"] == 6.0
    assert found["makespan", "alone"] == 3.0


def test_jobs_that_cannot_run_together():
    """Two jobs of 3 of 4 nodes, 10 s each: one waits 10 s. Squashed they take 7.5 s, and prove less."""
    _, found = bounds("flat:nodes=4", run_time=[10.0, 10.0], nodes=[3, 3])
    assert found["mean_wait", "squashed, mean busy time"] == pytest.approx((7.5 / 2 + 7.5 * 1.5 - 10) / 2)
    assert found["mean_wait", "squashed, shortest rest first"] == pytest.approx((7.5 + 15 - 20) / 2)
    assert found["mean_wait", "prices"] <= 5.0


def test_jobs_that_need_another_resource():
    """The buffer makes them wait, not the nodes."""
    least, found = bounds("flat:nodes=100,burst_buffer=10B", run_time=[5.0, 5.0], burst_buffer=[10, 10])
    assert found["mean_wait", "squashed, mean busy time"] == pytest.approx(2.5)
    assert least.best["mean_wait"]["resource"] == "burst_buffer"
    assert least.best["makespan"] == {
        "metric": "makespan",
        "bound": "area",
        "value": 10.0,
        "resource": "burst_buffer",
        "proved": "",
        "best_found": None,
    }


def test_killed_jobs_take_their_walltime():
    """As the engine has it."""
    _, found = bounds(run_time=[50.0, 50.0], walltime=[10.0, 20.0])
    assert found["makespan", "area"] == 30.0
    assert found["mean_wait", "squashed, shortest rest first"] == 5.0


def test_jobs_that_may_be_withdrawn_cost_nothing():
    """A policy may let it go: then the other is alone in means."""
    least, found = bounds(run_time=[10.0, 10.0, 10.0], cancel=[math.inf, math.inf, 5.0])
    assert (least.n_jobs, least.n_uncertain) == (2, 1)
    assert found["mean_wait", "squashed, shortest rest first"] == pytest.approx(10 / 3)
    assert found["makespan", "area"] == 20.0


def test_slowdowns_count_from_one():
    """Two jobs of 100 s on one node: 1 and 2. Two of 1 s: both are within the bound of 10 s."""
    _, found = bounds(run_time=[100.0, 100.0])
    assert found["mean_bounded_slowdown_10s", "squashed, mean busy time"] == pytest.approx(1.5)
    _, short = bounds(run_time=[1.0, 1.0])
    assert short["mean_bounded_slowdown_10s", "squashed, mean busy time"] == pytest.approx(1.0)


def test_gaps_are_only_of_runs_that_bounds_are_for():
    """A policy that rejects a job has a shorter mean wait than any that runs all."""

    class Picky:
        """Rejects the second job."""

        def decide(self, view, act):
            """All others start in order."""
            for job in view.queue:
                if job == 1:
                    act.reject(job)
                elif act.fits(job):
                    act.start(job)

    columns = {"id": [1, 2], "submit": [0.0, 0.0], "walltime": [60.0, 60.0], "run_time": [30.0, 30.0], "nodes": [1, 1]}
    jobs = fb.Workload("mine", job_table(columns))
    least = fb.bounds(jobs, "flat:nodes=1", "mean_wait")
    told = least.gaps([fb.simulate(jobs, "flat:nodes=1", Picky()), fb.simulate(jobs, "flat:nodes=1", "fcfs")])
    assert told["gap"].to_list() == [None, pytest.approx(0.0)]
    assert told["ratio"].to_list() == [None, pytest.approx(1.0)]


def test_a_period_counts_its_own_jobs():
    """As summaries of a window do."""
    jobs = fb.read("table1")
    result = fb.simulate(jobs)
    least = fb.bounds(jobs, period=(60.0, 200.0))
    numbers = fb.summary(result, window=(60.0, 200.0))
    assert least.n_jobs == numbers["n_started"]
    for row in least.table.iter_rows(named=True):
        assert row["value"] <= numbers[row["metric"]] + 1e-9
