"""Malleable EASY backfilling, by hand."""

import pytest

import forebay as fb
from cases.flexible import Jobs, compute, loop
from forebay.errors import InputError

pytestmark = pytest.mark.small


def rows(jobs, policy):
    """(start, end, resizes) of each job on 10 nodes."""
    result = fb.simulate(jobs.workload(), "flat:nodes=10", policy)
    return result.jobs.select("starting_time", "finish_time", "n_resizes").rows()


def starts(jobs, policy):
    return fb.simulate(jobs.workload(), "flat:nodes=10", policy).jobs["starting_time"].to_list()


def add(jobs, kind, submit, sizes, work, rounds=1, priority=0, **more):
    """A job whose rounds take `work` node-seconds each."""
    jobs.add(kind, submit, sizes, loop(rounds, compute(lambda n: work / n)), **more)
    for row in jobs.rows:
        row.setdefault("priority", 0.0)
    jobs.rows[-1]["priority"] = float(priority)


def full(priority=0, **more):
    """A job that has all 10 nodes for 10 rounds of 10 s, and at 5 s another for 2 of them, of the priority given."""
    jobs = Jobs()
    add(jobs, "malleable", 0, range(1, 11), 100, rounds=10, walltime=150)
    add(jobs, "rigid", 5, [2], 10, priority=priority, walltime=5)
    return jobs


def test_a_job_starts_at_the_largest_size_up_to_the_preferred():
    # 6 of 10 nodes are taken: of 2 to 8 nodes the second prefers 6 and gets 4, though it may have 8.
    jobs = Jobs()
    add(jobs, "rigid", 0, [6], 600)
    add(jobs, "moldable", 0, range(2, 9), 80, nodes=6)
    assert rows(jobs, "mebf") == [(0, 100, 0), (0, 20, 0)]


def test_nodes_are_taken_from_jobs_of_lower_priority_at_their_points():
    # At 5 no node is idle: a fifth of 10 is given back at 10. The second leaves at 15, and the first, whose round on 8
    # nodes takes 12.5 s, has 10 again from 22.5 on: eight rounds of 10 s.
    assert rows(full(priority=1), "mebf:alpha=1") == [(0, 22.5 + 8 * 10, 2), (10, 15, 0)]


@pytest.mark.parametrize("priority", [0, -1])
def test_never_from_jobs_that_rank_as_high(priority):
    assert rows(full(priority), "mebf:alpha=1") == [(0, 100, 0), (100, 105, 0)]


@pytest.mark.parametrize(("alpha", "start"), [(4, 10), (4.1, 100)])
def test_gamma_bounds_what_it_costs(alpha, start):
    # 100 s are left: a fifth of the nodes and 4 s more are 1.24 times as long, which gamma allows.
    assert rows(full(priority=1), f"mebf:alpha={alpha},times=recorded")[1][0] == start


def test_granted_nodes_are_rounded_down_and_never_below_the_least():
    # A fifth of 10 nodes are 2, but the job needs 9: one is too few for the second.
    jobs = Jobs()
    add(jobs, "malleable", 0, range(9, 11), 100, rounds=10, walltime=100)
    add(jobs, "rigid", 5, [2], 10, priority=1, walltime=5)
    assert rows(jobs, "mebf:alpha=1") == [(0, 100, 0), (100, 105, 0)]
    add(jobs, "rigid", 5, [1], 10, priority=1, walltime=10)
    assert rows(jobs, "mebf:alpha=1")[2][0] == 10


def test_idle_nodes_go_to_the_longest_job():
    # Three prefer 2 nodes each. When the rigid one has left, at 20, 6 are idle: they go to the longest, from its point
    # at 50 on; it may have 8, and has nine rounds of 12.5 s left. The other goes on with 2.
    jobs = Jobs()
    for work in (100, 90):
        add(jobs, "malleable", 0, range(2, 9), work, rounds=10, nodes=2, walltime=lambda n, work=work: 10 * work / n)
    add(jobs, "rigid", 0, [2], 40, walltime=20)
    first, second, _ = rows(jobs, "mebf:alpha=0")
    assert first == (0, 50 + 9 * 12.5, 1)
    assert second[2] == 1  # of 450 s, 287.5 are left when the first has ended


def test_not_in_the_last_quarter():
    # Four rounds of 10 s. Nodes are idle from 30 s on, when a quarter is left; from 29 s on, when more is.
    for until, end in ((30, 40), (19, 20 + 2 * 5)):
        jobs = Jobs()
        add(jobs, "malleable", 0, [5, 10], 50, rounds=4, nodes=5, walltime=lambda n: 200 / n)
        add(jobs, "rigid", 0, [5], 5 * until, walltime=until)
        assert rows(jobs, "mebf:alpha=0,times=recorded")[0][1] == end


def test_an_expansion_must_be_worth_its_cost():
    # At its first point 30 s are left; with twice the nodes 15 s less.
    for alpha, end in ((14.9, 10 + 3 * 5), (15, 40)):
        jobs = Jobs()
        add(jobs, "malleable", 0, [5, 10], 50, rounds=4, nodes=5, walltime=lambda n: 200 / n)
        assert rows(jobs, f"mebf:alpha={alpha},times=recorded")[0][1] == end


def blocked():
    """A malleable job on 3 of 3 or 6 nodes, a rigid one on 4 until 100, and one that then can have 7."""
    jobs = Jobs()
    add(jobs, "malleable", 0, [3, 6], 90, rounds=10, nodes=3, priority=1, walltime=lambda n: 900 / n)
    add(jobs, "rigid", 0, [4], 400, walltime=100)
    add(jobs, "rigid", 1, [7], 7, walltime=1)
    return jobs


def test_guard_keeps_reservations():
    # The third is to start at 100, when 7 are free. Expanded, the first has 6 until 165: it would start only then.
    assert rows(blocked(), "mebf:alpha=0,guard=true")[2][0] == 100
    assert rows(blocked(), "mebf:alpha=0")[2][0] == 30 + 9 * 15


def test_who_waits_behind_passes_without_delay_at_the_preferred_size():
    # The second waits until 50 for 8 nodes, and will leave 2. The third ends at 40 and passes, the fourth takes one of
    # the two until 60. The fifth takes the other when the third leaves; the sixth finds none before 60.
    jobs = Jobs()
    add(jobs, "rigid", 0, [6], 300, walltime=50)
    add(jobs, "rigid", 1, [8], 80, walltime=10)
    add(jobs, "rigid", 1, [3], 117, walltime=39)
    for _ in range(3):
        add(jobs, "rigid", 1, [1], 59, walltime=59)
    assert starts(jobs, "mebf") == [0, 50, 1, 1, 40, 60]


@pytest.mark.parametrize("n_jobs", [100, pytest.param(None, marks=pytest.mark.full)])
def test_without_malleable_jobs_it_is_easy_by_priority(n_jobs):
    made = fb.read("default")
    made = fb.Workload(made.name, made.jobs.head(n_jobs or len(made)), platform=made.platform)
    assert fb.simulate(made, policy="mebf").log.equals(fb.simulate(made, policy="ebf").log)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("sharing_factor=0", "sharing_factor is 0; give a share between 0 and 1"),
        ("sharing_factor=1", "sharing_factor is 1; give a share between 0 and 1"),
        ("gamma=0.99", "gamma is 0.99; give a ratio from 1 up"),
        ("alpha=-1", "alpha is -1; give the seconds"),
        ("times=guessed", "times is 'guessed'"),
        ("low_r=4-0", "low_r is '4-0'; give priorities from least to most"),
        ("high_r=urgent", "high_r is 'urgent'"),
        ("backfill=largest", "backfill is 'largest'"),
    ],
)
def test_bad_parameters(given, complaint):
    with pytest.raises(InputError, match=complaint):
        fb.policies.load(f"mebf:{given}")


def test_recorded_times_must_be_there():
    with pytest.raises(InputError, match=r"'mebf:times=recorded' needs to know how long jobs take .* job 1 of table1"):
        fb.simulate("table1", policy="mebf:times=recorded")
