"""Shared nodes of which a site reserves some: what the first job that waits was promised, node by node, is kept."""

import pytest

import forebay as fb
from cases.shared import jobs, machine, starts, with_windows
from forebay.platforms import Reservation
from twins import watched

pytestmark = pytest.mark.small

EASY = ("fcfs-easy", "fcfs-bb")


def check(seed, policy, n_jobs=50):
    """Starts are by the promises, and everybody is where it may be; how many were promised a later start than now."""
    platform, workload = with_windows(seed, n_jobs, local=seed % 3 == 0)
    result = fb.simulate(workload, platform, policy)
    full, planned = watched.inside(platform), watched.windows(platform)
    jobs = watched.jobs_of(platform, workload, result)
    assert watched.check_room(jobs, full, planned) == (result.jobs["final_state"] != "REJECTED").sum() > 0
    if policy not in EASY:
        return 0
    told = watched.promises(jobs, full, planned)
    late = {job.id: (*told[job.id], job.start) for job in jobs if job.id in told and job.start > told[job.id][1]}
    assert late == {}
    return sum(time > now for now, time in told.values())


@pytest.mark.parametrize("seed", range(24))
def test_the_first_that_waits_starts_by_what_it_was_promised(seed):
    check(seed, EASY[seed % 2])


@pytest.mark.parametrize("policy", ["fcfs", "filler", "conservative", "fcfs-bb:depth=3", "sjf-easy", "plan-2", "slurm"])
@pytest.mark.parametrize("seed", [30, 31])
def test_nodes_are_neither_oversubscribed_nor_used_while_reserved(seed, policy):
    check(seed, policy, 30)


@pytest.mark.parametrize("policy", EASY)
@pytest.mark.parametrize("seed", range(40, 46))
def test_what_is_noted_between_decisions_changes_nothing(seed, policy):
    """A number of jobs that may pass, as large as can be, has each decision look at everything anew."""
    platform, workload = with_windows(seed, 60)
    hashes = {
        fb.simulate(workload, platform, name).facts["log_sha256"] for name in (policy, f"{policy}:max_backfill=999")
    }
    assert len(hashes) == 1


PART = Reservation(name="part", start=100.0, duration=50.0, nodes="1")


def run(*rows, planned=PART, policy="fcfs-easy", n_nodes=2, **more):
    platform = machine({"nodes": n_nodes, "cores": 4}, reservations=(planned,), **more)
    return starts(fb.simulate(jobs(*rows), platform, policy))


@pytest.mark.parametrize("policy", EASY)
def test_a_promise_behind_a_window_stands_while_its_job_is_not_seen(policy):
    """Two nodes, of which node 1 is reserved from 100 to 150. Job 1 has 3 cores of node 0 to 60.

    Job 2 (both nodes, 50 s) could begin at 60 and would not end by 100: its turn is 150. From 51 on it could not end in
    time, and is not seen. Job 3 (a core, 100 s) comes at 70: on node 0 it would be in the way until 170, and it waits.
    Job 4 (a core, 80 s) ends by 150, and starts.
    """
    head = {"nodes": 2, "cores": 8, "walltime": 50.0}
    rows = ({"cores": 3, "walltime": 60.0}, head, {"submit": 70.0, "cores": 1, "walltime": 100.0})
    last = {"submit": 70.0, "cores": 1, "walltime": 80.0}
    assert run(*rows, last, policy=policy) == {1: 0.0, 2: 150.0, 3: 200.0, 4: 70.0}


@pytest.mark.parametrize("policy", EASY)
def test_who_was_never_seen_is_in_nobodys_way(policy):
    """The same, but job 2 comes at 60, when it would not end in time: it is promised nothing until 150."""
    head = {"submit": 60.0, "nodes": 2, "cores": 8, "walltime": 50.0}
    rows = ({"cores": 3, "walltime": 60.0}, head, {"submit": 70.0, "cores": 1, "walltime": 100.0})
    assert run(*rows, policy=policy) == {1: 0.0, 2: 170.0, 3: 70.0}


def test_the_head_waits_for_nodes_that_it_will_not_be_kept_from():
    """Job 1 has node 1 to 80, job 2 node 0 to 90. Job 3 (4 cores, 50 s) has no use for node 1 at 80: its turn is 90.

    Job 5 (4 cores, 20 s) has: it comes at 80 and ends as the reservation begins. Job 4 (a core, 200 s) would be in the
    way of job 3 on node 0, where a core is free; it follows job 3 there.
    """
    rows = (
        {"cores": 3, "walltime": 90.0},
        {"cores": 4, "walltime": 80.0},
        {"cores": 4, "walltime": 50.0},
        {"submit": 5.0, "cores": 1, "walltime": 200.0},
        {"submit": 80.0, "cores": 4, "walltime": 20.0},
    )
    assert run(*rows) == {1: 0.0, 2: 0.0, 3: 90.0, 4: 140.0, 5: 80.0}


def test_a_head_starts_in_the_window_that_is_for_it():
    """Node 1 is user 2's from 100 on. Job 2 is of this user, and needs a whole node: its turn is 100, not 300.

    Job 3 of user 1 would run into it, and job 1 has all else.
    """
    own = PART.model_copy(update={"users": ("2",)})
    rows = (
        {"cores": 4, "walltime": 300.0, "user": 1},
        {"cores": 4, "walltime": 120.0, "user": 2},
        {"cores": 1, "walltime": 101.0, "user": 1},
        {"cores": 1, "walltime": 100.0, "user": 1},
    )
    assert run(*rows, planned=own) == {1: 0.0, 2: 100.0, 3: 220.0, 4: 0.0}


def test_earliest_knows_of_windows():
    """What `view.earliest` tells of such a job: at 60 both nodes are free, but for long enough only at 150."""
    told = []

    class Tells(fb.Policy):
        def decide(self, view, act):
            act.backfill()
            told.extend((view.now, view.earliest(job)) for job in view.queue)

    run({"cores": 3, "walltime": 60.0}, {"nodes": 2, "cores": 8, "walltime": 50.0}, policy=Tells())
    assert told[:2] == [(0.0, 0.0), (0.0, 150.0)]  # who has just started is told now


def test_act_backfill_is_easy_beside_windows():
    class Mine(fb.Policy):
        def decide(self, view, act):
            act.backfill(reserve="nodes")

    for seed in range(50, 56):
        platform, workload = with_windows(seed, 50)
        own, easy = (fb.simulate(workload, platform, policy) for policy in (Mine(), "fcfs-easy"))
        assert starts(own) == starts(easy)
