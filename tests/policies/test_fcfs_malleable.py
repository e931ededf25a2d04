"""First come, first served with jobs that grow, by hand."""

import pytest

import forebay as fb
from cases.flexible import Jobs, compute, loop

pytestmark = pytest.mark.small


def times(jobs, policy, machine="flat:nodes=16"):
    """(start, end) of each job."""
    result = fb.simulate(jobs.workload(), machine, policy)
    return list(zip(*result.jobs.select("starting_time", "finish_time").get_columns(), strict=True))


def two():
    """A job of 12 nodes for 35 s, and one of 2 to 8 nodes whose rounds take 80 s of a node."""
    jobs = Jobs()
    jobs.add("rigid", 0, [12], loop(1, compute(35)))
    jobs.add("malleable", 0, range(2, 9), loop(6, compute(lambda n: 80 / n)))
    return jobs


@pytest.mark.parametrize("when", ["free", "idle"])
def test_a_job_grows_at_its_point(when):
    # 4 nodes, rounds of 20 s; at 40 it gets 8: four rounds of 10 s.
    assert times(two(), f"fcfs-malleable:when={when}") == [(0, 35), (0, 80)]


@pytest.mark.parametrize(("when", "end"), [("free", 80), ("idle", 120)])
def test_somebody_who_waits_holds_growth_back_if_asked(when, end):
    # A job of 14 nodes comes at 36 and finds 12. Job 1 grows at 40 all the same, or goes on with its 4: 6 x 20 s.
    jobs = two()
    jobs.add("rigid", 36, [14], loop(1, compute(10)))
    assert times(jobs, f"fcfs-malleable:when={when}") == [(0, 35), (0, end), (end, end + 10)]


def test_jobs_start_with_what_is_there():
    # 16 nodes: 10 for the first, 6 of 2 to 8 for the second, nothing for the third, which needs 1.
    jobs = Jobs()
    jobs.add("moldable", 0, [5, 10, 20], loop(1, compute(lambda n: 100 / n)))
    jobs.add("moldable", 0, range(2, 9), loop(1, compute(lambda n: 60 / n)))
    jobs.add("rigid", 0, [1], loop(1, compute(1)))
    assert times(jobs, "fcfs-malleable") == [(0, 10), (0, 10), (10, 11)]


def test_a_request_is_granted_where_there_are_nodes():
    # It starts on 8, rounds of 5 s, and asks for 2 before the last: 20 s.
    jobs = Jobs()
    wants = [(over, n, (4, 8, 2)[over]) for over in range(3) for n in (2, 4, 8)]
    jobs.add("evolving", 0, [2, 4, 8], loop(3, compute(lambda n: 40 / n), requests=lambda sizes: wants), nodes=4)
    assert times(jobs, "fcfs-malleable", "flat:nodes=8") == [(0, 5 + 5 + 20)]


def test_it_serves_rigid_jobs_as_fcfs_does():
    assert fb.simulate("table1", policy="fcfs-malleable").log.equals(fb.simulate("table1", policy="fcfs").log)
