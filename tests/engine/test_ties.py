"""What joins the queue in one instant: by hand, and against the slow twin on random small graphs of whole seconds."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from cases.chunks import examples
from forebay.workload import dependency_table, job_table
from twins.ties import CANCELLED, KILLED, LATE, REJECTED, WELL, Ties

pytestmark = pytest.mark.small

NEVER = math.inf
STATES = {
    "COMPLETED_SUCCESSFULLY": WELL, "COMPLETED_WALLTIME_REACHED": LATE, "REJECTED": REJECTED, "CANCELLED": CANCELLED,
    "COMPLETED_KILLED": KILLED,
}  # fmt: skip


def run(nodes, jobs, edges, policy="fcfs"):
    """A run of jobs (submit, seconds, nodes, walltime, cancel) with edges (job, parent, kind, delay, any), by row."""
    names = ("submit", "run_time", "nodes", "walltime", "cancel")
    columns = {"id": range(1, len(jobs) + 1), **dict(zip(names, map(list, zip(*jobs, strict=True)), strict=True))}
    waits = None
    if edges:
        table = zip(*((job + 1, parent + 1, *rest) for job, parent, *rest in edges), strict=True)
        waits = dependency_table(dict(zip(("job", "parent", "kind", "delay", "any"), map(list, table), strict=True)))
    return fb.simulate(fb.Workload("ties", job_table(columns), dependencies=waits), f"flat:nodes={nodes}", policy)


def job(submit, seconds, nodes=1, cancel=NEVER):
    return (submit, seconds, nodes, 99, cancel)


def starts(*given):
    return run(*given).jobs["starting_time"].to_list()


def test_a_delay_that_is_over_as_another_job_comes():
    # Both are free at 2, and job 2 was submitted first.
    jobs = [job(0, 1), job(1, 2), job(2, 3)]
    assert starts(1, jobs, [(1, 0, "afterok", 1.0, False)]) == [0, 2, 4]


def test_a_parent_that_ends_as_another_job_comes():
    jobs = [job(0, 2), job(1, 2), job(2, 3)]
    assert starts(1, jobs, [(1, 0, "afterok", 0.0, False)]) == [0, 2, 4]


def test_a_parent_that_is_rejected_as_another_job_comes():
    # Job 4 is larger than the machine; job 3 comes before it, and behind job 2.
    jobs = [job(0, 2), job(1, 2), job(2, 3), job(2, 1, nodes=9)]
    assert starts(1, jobs, [(1, 3, "afternotok", 0.0, False)]) == [0, 2, 4, None]


def test_a_parent_that_is_withdrawn_as_another_is_rejected_and_a_third_comes():
    # Job 4 is withdrawn at 2, job 6 rejected: that frees jobs 2 and 3, in this order, before job 5, which comes at 2.
    jobs = [job(0, 2), job(0, 2), job(1, 2), job(1, 1, cancel=1.0), job(2, 3), job(2, 1, nodes=9)]
    edges = [(1, 5, "afternotok", 0.0, False), (2, 3, "afterany", 0.0, False)]
    assert starts(1, jobs, edges) == [0, 2, 4, None, 6, None]


def test_who_was_submitted_later_joins_later_however_it_stands_in_the_workload():
    # Job 2 is submitted at 3, one second after job 1 has ended; job 3 was at 1, and is free when job 4 ends, at 3.
    jobs = [job(0, 2), job(0, 5), job(1, 2), job(2, 1)]
    edges = [(1, 0, "think", 1.0, False), (2, 3, "afterok", 0.0, False)]
    assert starts(1, jobs, edges) == [0, 5, 3, 2]


def test_who_is_withdrawn_as_it_would_join_never_joins():
    jobs = [job(0, 2), job(1, 2, cancel=1.0), job(2, 3)]
    result = run(1, jobs, [(1, 0, "afterok", 0.0, False)])
    assert result.jobs["final_state"].to_list()[1] == "CANCELLED"
    assert result.jobs["eligible_time"].to_list() == [0, None, 2]
    assert result.log.filter(kind="eligible").height == 0


@pytest.mark.parametrize(("parent", "state"), [(0, "REJECTED"), (2, "CANCELLED")])
def test_of_two_withdrawals_the_one_of_the_job_submitted_first_comes_first(parent, state):
    # Job 2 waits for job 1 or 3 to end well. All are withdrawn at 2.
    jobs = [job(0, 9, cancel=2.0), job(1, 2, cancel=1.0), job(1, 9, cancel=1.0)]
    result = run(1, jobs, [(1, parent, "afterok", 0.0, False)])
    assert result.jobs["final_state"][1] == state


def test_who_is_freed_by_a_decision_is_there_in_the_next_one():
    # The policy kills job 1 as job 3 comes, at 2: that frees job 2, and the next decision finds both.
    seen = []

    class Watch:
        def decide(self, view, act):
            seen.append((view.now, [int(view.jobs["id"][one]) for one in view.queue]))
            if view.now == 2 and len(seen) == 2:
                act.kill(0)
                return
            for one in view.queue:
                if act.fits(one):
                    act.start(one)

    run(1, [job(0, 9), job(0, 3), job(2, 1)], [(1, 0, "afternotok", 0.0, False)], Watch())
    assert seen[:3] == [(0.0, [1]), (2.0, [3]), (2.0, [3, 2])]


def test_who_waits_for_several_that_cannot_is_told_of_the_first():
    # Jobs 2 and 3 wait for job 1 to end badly, job 4 for both to end well, job 5 for job 4.
    jobs = [job(0, 2), job(0, 1), job(0, 1), job(0, 1), job(0, 1)]
    edges = [(1, 0), (2, 0), (3, 1), (3, 2), (4, 3)]
    kinds = ["afternotok", "afternotok", "afterok", "afterok", "afterok"]
    result = run(1, jobs, [(*edge, kind, 0.0, False) for edge, kind in zip(edges, kinds, strict=True)])
    rejected = result.log.filter(kind="reject").select("time", "job", "amount").rows()
    assert rejected == [(2, 2, 1), (2, 3, 1), (2, 4, 2), (2, 5, 4)]


@st.composite
def cases(draw):
    """Few nodes, few jobs, times of few seconds: most of what happens, happens together."""
    n, nodes = draw(st.integers(2, 8)), draw(st.integers(1, 3))
    small = st.integers(0, 4)
    jobs = sorted(
        (
            draw(small), draw(small), draw(st.integers(1, nodes + (draw(st.integers(0, 5)) == 0))),
            draw(st.sampled_from([1, 2, 99, 99])), draw(st.sampled_from([NEVER, NEVER, NEVER, 1.0, 1.0, 2.0, 4.0])),
        )
        for _ in range(n)
    )  # fmt: skip
    jobs.sort(key=lambda one: one[0])
    order = draw(st.permutations(range(n)))
    kinds = st.sampled_from(["after", "afterany", "afterok", "afternotok", "afternotok", "think"])
    edges = []
    for place in range(1, n):
        parents = draw(st.sets(st.sampled_from(order[:place]), max_size=2))
        either = draw(st.booleans())
        for parent in sorted(parents):
            edges.append((order[place], parent, draw(kinds), float(draw(st.sampled_from([0, 0, 1, 2]))), either))
    return nodes, jobs, edges


@settings(max_examples=examples(100))
@given(cases())
def test_runs_equal_the_slow_twin(case):
    nodes, jobs, edges = case
    slow = Ties(nodes, jobs, edges).finished()
    fast = run(nodes, jobs, edges).jobs
    assert [STATES[state] for state in fast["final_state"].to_list()] == [one.state for one in slow.jobs]
    assert fast["starting_time"].to_list() == [one.start for one in slow.jobs]
    assert fast["submission_time"].to_list() == [one.submit for one in slow.jobs]
    if edges:
        assert fast["eligible_time"].to_list() == [one.joined for one in slow.jobs]
