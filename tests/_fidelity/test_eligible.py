"""Waits of jobs that wait for others, by hand: they count from when these let them go, in the record and here."""

import math

import polars as pl
import pytest

import forebay as fb

pytestmark = pytest.mark.small

MACHINE = "flat:nodes=4"


def trace(rows, dependencies):
    """Jobs as (submit, seconds, nodes, recorded start), with dependencies as (job, parent, kind, delay, any)."""
    submit, seconds, nodes, start = zip(*rows, strict=True)
    times = {"submit": submit, "run_time": seconds, "walltime": seconds, "recorded_start": start}
    columns = {"id": range(1, len(rows) + 1), "nodes": nodes, **{k: list(map(float, v)) for k, v in times.items()}}
    names = ("job", "parent", "kind", "delay", "any")
    waits = fb.workload.dependency_table(dict(zip(names, map(list, zip(*dependencies, strict=True)), strict=True)))
    return fb.Workload("by hand", fb.workload.job_table(columns), dependencies=waits)


def waits(w, policy="fcfs"):
    found = fb.fidelity(w, MACHINE, policy)
    return dict(found.jobs.select("job_id", pl.struct("recorded_wait", "simulated_wait")).rows()), found


def test_a_chain_counts_each_wait_once():
    # By the record job 1 waited for 500 s that nothing here explains, 2 started 20 s after 1 had ended, 3 with 2's end.
    # Simulated, 1 starts at 0 and ends at 100: 2 is free at 100 and starts. Only the wait of job 1 differs by 500.
    w = trace(
        [(0, 100, 4, 500), (0, 100, 4, 620), (0, 100, 1, 720)],
        [(2, 1, "afterok", 0.0, False), (3, 2, "afterany", 0.0, False)],
    )
    pairs, found = waits(w)
    assert pairs == {
        1: {"recorded_wait": 500, "simulated_wait": 0},
        2: {"recorded_wait": 20, "simulated_wait": 0},
        3: {"recorded_wait": 0, "simulated_wait": 0},
    }
    assert found.numbers["mean_error"] == pytest.approx((-500 - 20) / 3)


def test_the_last_parent_counts_or_the_first_where_one_will_do():
    # Parents end at 100 and 300. Job 3 is let go by both at 300, job 4 by one at 100, job 5 with a delay of 50 s after
    # job 2 has begun (at 0): at 50.
    rows = [(0, 100, 1, 0), (0, 300, 1, 0), (10, 10, 1, 310), (10, 10, 1, 110), (10, 10, 1, 60)]
    some = [(3, 1, "afterany", 0.0, False), (3, 2, "afterany", 0.0, False)]
    some += [(4, 1, "afterany", 0.0, True), (4, 2, "afterany", 0.0, True), (5, 2, "after", 50.0, False)]
    pairs, _ = waits(trace(rows, some))
    assert {job: pair["recorded_wait"] for job, pair in pairs.items()} == {1: 0, 2: 0, 3: 10, 4: 10, 5: 10}
    assert {job: pair["simulated_wait"] for job, pair in pairs.items()} == dict.fromkeys(range(1, 6), 0)


def test_a_job_submitted_when_its_parents_have_ended_waits_from_then():
    pairs, _ = waits(trace([(0, 100, 1, 0), (400, 10, 1, 450)], [(2, 1, "afterok", 0.0, False)]))
    assert pairs[2] == {"recorded_wait": 50, "simulated_wait": 0}


def test_a_dependency_that_was_taken_away_leaves_no_wait_below_nothing():
    pairs, _ = waits(trace([(0, 100, 1, 0), (0, 10, 1, 40)], [(2, 1, "afterok", 0.0, False)]))
    assert pairs[2]["recorded_wait"] == 0


def test_a_parent_without_a_start_says_nothing_and_a_start_before_submission_is_left_out():
    w = trace(
        [(0, 100, 1, math.nan), (0, 10, 1, 40), (90, 10, 1, 80)],
        [(2, 1, "afterok", 0.0, False), (3, 1, "afterok", 0.0, False)],
    )
    pairs, _ = waits(w)
    assert pairs == {2: {"recorded_wait": 40, "simulated_wait": 0}}


def test_users_who_think_wait_from_their_submission():
    w = trace([(0, 100, 4, 0), (150, 10, 1, 170)], [(2, 1, "think", 50.0, False)])
    pairs, _ = waits(w)
    assert pairs[2] == {"recorded_wait": 20, "simulated_wait": 0}


def test_without_dependencies_waits_are_as_they_were():
    w = trace([(0, 100, 4, 30), (5, 10, 1, 130)], [(2, 1, "afterok", 0.0, False)])
    w = fb.Workload("by hand", w.jobs)
    pairs, _ = waits(w)
    assert pairs == {1: {"recorded_wait": 30, "simulated_wait": 0}, 2: {"recorded_wait": 125, "simulated_wait": 95}}
