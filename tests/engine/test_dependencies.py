"""Jobs that wait for others, solved by hand: when each is free, who is rejected, and what log and explanations say."""

import math

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError, StartedEarlyError
from forebay.workload import dependency_table, job_table

pytestmark = pytest.mark.small

DONE, LATE = "COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"


def run(jobs, edges, nodes=2, policy="fcfs", **more):
    """A run of jobs as (submit, seconds, nodes, walltime) with edges (job, parent, kind, delay[, any]); ids from 1."""
    submit, seconds, wide, walltime = (list(column) for column in zip(*jobs, strict=True))
    table = job_table(
        {
            "id": range(1, len(jobs) + 1), "submit": submit, "walltime": walltime, "run_time": seconds, "nodes": wide,
            **more,
        }
    )  # fmt: skip
    columns = zip(*[(*edge, False)[:5] for edge in edges], strict=True)
    waits = dependency_table(dict(zip(("job", "parent", "kind", "delay", "any"), columns, strict=True)))
    workload = fb.Workload("by hand", table, dependencies=waits)
    return fb.simulate(workload, f"flat:nodes={nodes}", policy)


def starts(result):
    return result.jobs["starting_time"].to_list()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("after", 7.0), ("afterany", 37.0), ("afterok", 37.0), ("think", 37.0), ("afternotok", None)],
)
def test_what_a_parent_must_have_done(kind, expected):
    # Job 1 runs from 0 to 30; the delay is 7 s.
    result = run([(0, 30, 1, 60), (0, 10, 1, 60)], [(2, 1, kind, 7.0)])
    assert starts(result) == [0.0, expected]


@pytest.mark.parametrize(
    ("kind", "expected"), [("after", 0.0), ("afterany", 20.0), ("afterok", None), ("afternotok", 20.0)]
)
def test_a_parent_that_is_killed_has_not_ended_well(kind, expected):
    result = run([(0, 30, 1, 20), (0, 10, 1, 60)], [(2, 1, kind, 0.0)])
    assert starts(result) == [0.0, expected]
    assert result.jobs["final_state"][0] == LATE


@pytest.mark.parametrize(
    ("kind", "expected"), [("after", 5.0), ("afterany", 5.0), ("afterok", None), ("afternotok", 5.0)]
)
def test_a_parent_that_is_rejected_has_ended_and_not_well(kind, expected):
    result = run([(5, 30, 9, 60), (5, 10, 1, 60)], [(2, 1, kind, 0.0)])
    assert starts(result) == [None, expected]


def test_all_parents_are_waited_for_and_any_is_enough():
    # Parents end at 10, 20 and 30; the second with a delay of 5 s, the third with none, the first with 25 s.
    jobs = [(0, 10, 1, 60), (0, 20, 1, 60), (0, 30, 1, 60), (0, 5, 1, 60)]
    edges = [(4, 1, "afterok", 25.0), (4, 2, "afterok", 5.0), (4, 3, "afterok", 0.0)]
    assert starts(run(jobs, edges, 4))[3] == 35.0
    assert starts(run(jobs, [(*edge, True) for edge in edges], 4))[3] == 25.0
    # Of any, one that never happens does no harm until all are such.
    never = [(4, 1, "afternotok", 0.0, True), (4, 3, "afterok", 0.0, True)]
    assert starts(run(jobs, never, 4))[3] == 30.0
    result = run(jobs, [(4, 1, "afternotok", 0.0, True), (4, 2, "afternotok", 0.0, True)], 4)
    assert result.jobs["final_state"][3] == "REJECTED"
    assert result.log.filter(kind="reject")["time"].to_list() == [20.0]


def test_what_never_happens_rejects_a_whole_chain():
    # Job 1 is killed at 20. Job 2 waits for it to end well, 3 for 2, 4 for 3 to fail, 5 comes later and waits for 3.
    jobs = [(0, 30, 1, 20), (0, 5, 1, 60), (0, 5, 1, 60), (0, 5, 1, 60), (50, 5, 1, 60)]
    edges = [(2, 1, "afterok", 0.0), (3, 2, "afterok", 0.0), (4, 3, "afternotok", 3.0), (5, 3, "afterok", 0.0)]
    result = run(jobs, edges)
    assert starts(result) == [0.0, None, None, 23.0, None]
    rejected = result.log.filter(kind="reject").select("time", "job", "amount", pl.col("reason").cast(pl.String))
    assert rejected.rows() == [(20.0, 2, 1, "dependency"), (20.0, 3, 2, "dependency"), (50.0, 5, 3, "dependency")]
    assert result.jobs["eligible_time"].to_list() == [0.0, None, None, 23.0, None]
    why = fb.explain.reasons(result).filter(job_id=3).select("seconds", "reason", "slurm", "blocker")
    assert why.rows() == [(20.0, "dependency", "DependencyNeverSatisfied", 2)]


def test_waits_count_from_submission_and_from_when_others_are_done():
    # One node: job 1 runs to 30, job 2 (submitted at 1) from 30 to 50, job 3 waits for 1 and then for the node.
    result = run([(0, 30, 1, 60), (1, 20, 1, 60), (2, 10, 1, 60)], [(3, 1, "afterok", 0.0)], nodes=1)
    row = result.jobs.row(2, named=True)
    wanted = {"submission_time": 2, "eligible_time": 30, "starting_time": 50, "waiting_time": 48, "planned_time": 20}
    assert {name: row[name] for name in wanted} == wanted
    assert row["total_wait"] == 20
    assert fb.metrics.mean_planned_time(result) == (0 + 29 + 20) / 3
    assert fb.metrics.summary(result)["mean_planned_time"] == (0 + 29 + 20) / 3
    why = fb.explain.reasons(result).filter(job_id=3)
    assert why.select("start", "end", "reason", "slurm", "blocker").rows() == [
        (2.0, 30.0, "dependency", "Dependency", 1),
        (30.0, 50.0, "nodes", "Resources", 2),
    ]


def test_who_is_freed_queues_behind_those_that_came_before():
    # Job 3 is free at 10 and job 4 came at 5: under fcfs job 4 goes first.
    jobs = [(0, 10, 1, 60), (0, 20, 1, 60), (1, 5, 1, 60), (5, 5, 2, 60)]
    assert starts(run(jobs, [(3, 1, "afterany", 0.0)])) == [0.0, 0.0, 25.0, 20.0]


def test_without_dependencies_results_have_no_new_columns():
    result = fb.simulate("table1")
    assert not {"eligible_time", "planned_time"} & set(result.jobs.columns)
    assert "dependencies" not in result.facts
    assert "mean_planned_time" not in fb.metrics.summary(result)


def test_who_waits_for_others_may_be_withdrawn():
    cancel = [math.inf, 8.0, math.inf]
    result = run(
        [(0, 30, 1, 60), (0, 5, 1, 60), (0, 5, 1, 60)],
        [(2, 1, "afterok", 0.0), (3, 2, "afternotok", 0.0)],
        cancel=cancel,
    )
    assert result.jobs["final_state"].to_list() == [DONE, "CANCELLED", DONE]
    assert starts(result) == [0.0, None, 8.0]


def test_a_think_time_moves_the_submission_and_what_counts_from_it():
    # Job 2 is submitted at 30 + 12 = 42, and withdrawn 5 s later, as job 1's node is taken by job 3 until 100.
    result = run(
        [(0, 30, 1, 60), (0, 50, 1, 60), (35, 65, 1, 99)], [(2, 1, "think", 12.0)], 1, cancel=[math.inf, 5.0, math.inf]
    )
    assert result.jobs["submission_time"].to_list() == [0.0, 42.0, 35.0]
    assert result.jobs["final_state"].to_list() == [DONE, "CANCELLED", DONE]
    assert result.log.filter(kind="cancel")["time"].to_list() == [47.0]
    assert result.facts["dependencies"] == {"think": 1}
    assert any("closed loop: 1 job is submitted when others end" in note for note in result.facts["notes"])


def test_a_policy_does_not_see_who_waits():
    seen = []

    class Greedy:
        def decide(self, view, act):
            seen.append((view.now, [view.jobs["id"][job] for job in view.queue]))
            for job in view.queue:
                if act.fits(job):
                    act.start(job)

    jobs, edges = [(0, 30, 1, 60), (0, 10, 1, 60)], [(2, 1, "afterok", 7.0)]
    run(jobs, edges, policy=Greedy())
    assert seen == [(0.0, [1]), (30.0, []), (37.0, [2]), (47.0, [])]

    class Early:
        def decide(self, view, act):
            act.start(1)

    with pytest.raises(StartedEarlyError, match="job 2, which waits for other jobs"):
        run(jobs, edges, policy=Early())


def test_tasks_of_an_array_run_so_many_at_a_time():
    table = job_table(
        {
            "id": [1, 2, 3, 4, 5], "submit": [0.0] * 5, "walltime": [60.0] * 5, "run_time": [10.0] * 5,
            "nodes": [1] * 5,
            "array": [1, 1, 1, 1, -1], "array_task": [0, 1, 2, 3, -1], "array_limit": [2, 2, 2, 2, -1],
        }
    )  # fmt: skip
    result = fb.simulate(fb.Workload("array", table), "flat:nodes=5", "fcfs")
    assert starts(result) == [0.0, 0.0, 10.0, 10.0, 0.0]
    assert result.held.filter(pl.col("slurm") != "")["slurm"].unique().to_list() == ["JobArrayTaskLimit"]


@pytest.mark.parametrize(
    ("edges", "says"),
    [
        ([(1, 2, "after", 0.0), (2, 3, "after", 0.0), (3, 1, "after", 0.0)], "circle of 3: 1 after 2 after 3 after 1"),
        ([(1, 1, "afterok", 0.0)], "dependency of job 1: parent is 1; it must be another job"),
        ([(1, 9, "afterok", 0.0)], "dependency of job 1: parent is 9; it must be the id of a job"),
        ([(9, 1, "afterok", 0.0)], "dependency of job 9: job is 9"),
        ([(1, 2, "afterwards", 0.0)], "kind is 'afterwards'; it must be one of after, afterany"),
        ([(1, 2, "afterok", -1.0)], "delay is -1.0"),
        ([(1, 2, "afterok", math.nan)], "delay is nan"),
        ([(1, 2, "afterok", 0.0, True), (1, 3, "afterok", 0.0, False)], "any is .*the same in all rows"),
    ],
)  # fmt: skip
def test_dependencies_that_make_no_sense_are_refused(edges, says):
    with pytest.raises(InputError, match=says):
        run([(0, 10, 1, 60)] * 3, edges)
