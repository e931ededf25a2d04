"""Limits per user and jobs withdrawn by their users, solved by hand."""

import math

import pytest

import forebay
from cases.pooled import platform, workload
from forebay.errors import BadActionError, InputError
from forebay.metrics import usage
from forebay.policies import Limited, Limits, load
from forebay.testing import check_policy

pytestmark = pytest.mark.small


def job(number, submit, walltime, nodes, user=1, **more):
    return {"id": number, "submit": float(submit), "walltime": float(walltime), "nodes": nodes, "user": user, **more}


def starts(result):
    return dict(result.jobs.select("job_id", "starting_time").rows())


def states(result):
    return dict(result.jobs.select("job_id", "final_state").rows())


def test_at_most_so_many_jobs_of_a_user_at_a_time():
    """4 nodes, all idle, but user 1 may run one job: 1 at 0, then 2 at 10, then 3 at 20; user 2 starts at 0."""
    jobs = [job(1, 0, 10, 1), job(2, 0, 10, 1), job(3, 0, 10, 1), job(4, 0, 10, 1, user=2)]
    result = forebay.simulate(workload(jobs), platform(4), "fcfs+limits:user_jobs=1")
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 20.0, 4: 0.0}
    assert starts(forebay.simulate(workload(jobs), platform(4), "fcfs")) == dict.fromkeys((1, 2, 3, 4), 0.0)


def test_at_most_so_many_nodes_of_a_user_at_a_time():
    """Of 8 nodes user 1 may hold 4: jobs 1 (3 nodes) and 3 (1 node) at 0; 2 (2 nodes) once 1 has ended."""
    jobs = [job(1, 0, 10, 3), job(2, 0, 10, 2), job(3, 0, 20, 1), job(4, 0, 10, 4, user=2)]
    result = forebay.simulate(workload(jobs), platform(8), "fcfs+limits:user_nodes=4")
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 0.0, 4: 0.0}


def test_what_was_decided_behind_a_start_that_is_put_off_is_decided_anew():
    """4 nodes. Job 1 runs on 1 node until 10. At 1 arrive, of user 1: 2 (1 node); of user 2: 3 (3 nodes) and 4.

    Alone, fcfs-easy would start 2 and then find no room for 3. User 1 may run one job only, so 2 waits until 10, and 3
    must start at once: a scheduler that merely left out the start of 2 would let it wait for nothing.
    """
    jobs = [job(1, 0, 10, 1), job(2, 1, 5, 1), job(3, 1, 20, 3, user=2)]
    result = forebay.simulate(workload(jobs), platform(4), "fcfs-easy+limits:user_jobs=1")
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 1.0}


def test_two_starts_of_one_instant_that_pass_the_limit_together():
    """4 nodes. User 1 may hold 3; jobs 1 and 2 ask for 2 each and arrive together with 3 (user 2, 2 nodes).

    1 starts, 2 would be the fourth node of its user and is put off, so 3 starts at 0 in the place of 2.
    """
    jobs = [job(1, 0, 10, 2), job(2, 0, 10, 2), job(3, 0, 10, 2, user=2)]
    result = forebay.simulate(workload(jobs), platform(4), "fcfs+limits:user_nodes=3")
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 0.0}
    assert result.facts["decisions"] == 4  # at 0, at 0 again, at 10, at 20


@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "conservative", "slurm-bb", "fcfs-bb"])
@pytest.mark.parametrize("submit", [0, 1])
def test_a_job_held_back_blocks_nobody(policy, submit):
    """4 nodes. User 1 may run one job. 1 (2 nodes) starts at 0 and 2 (4 nodes) is then held back, so it has no
    reservation: 3, of user 2, which would not end before 2 could begin, starts as it arrives. As fast as it was
    seen to be held: in the same instant."""
    jobs = [job(1, 0, 200, 2), job(2, 0, 10, 4), job(3, submit, 1000, 2, user=2)]
    result = forebay.simulate(workload(jobs), platform(4), f"{policy}+limits:user_jobs=1")
    assert starts(result) == {1: 0.0, 2: submit + 1000.0, 3: float(submit)}


def test_too_long_or_too_wide_for_any_time_is_rejected():
    jobs = [job(1, 0, 10, 1), job(2, 0, 11, 1), job(3, 0, math.inf, 1, run_time=5.0), job(4, 0, 5, 3)]
    result = forebay.simulate(workload(jobs), platform(4), "fcfs+limits:run_time=10s,user_nodes=2")
    rejected = dict.fromkeys((2, 3, 4), "REJECTED")
    assert states(result) == {1: "COMPLETED_SUCCESSFULLY"} | rejected
    reasons = result.log.filter(result.log["kind"] == "reject")["reason"].to_list()
    assert reasons == ["over_limit"] * 3


def test_who_has_all_running_may_be_turned_away_at_submission():
    """At 5 user 1 has its one job running: job 2 is rejected. At 15 nothing of it runs: job 3 is accepted."""
    jobs = [job(1, 0, 10, 1), job(2, 5, 10, 1), job(3, 15, 10, 1), job(4, 5, 10, 1, user=-1)]
    result = forebay.simulate(workload(jobs), platform(4), "fcfs+limits:user_jobs=1,over=reject")
    assert states(result)[2] == "REJECTED"
    assert starts(result) == {1: 0.0, 2: None, 3: 15.0, 4: 5.0}


def test_jobs_of_unknown_users_are_counted_in_a_note():
    jobs = [job(1, 0, 10, 1, user=-1), job(2, 0, 10, 1, user=-1), job(3, 0, 10, 1)]
    result = forebay.simulate(workload(jobs), platform(4), "fcfs+limits:user_jobs=1")
    assert starts(result) == {1: 0.0, 2: 0.0, 3: 0.0}
    assert any(note.startswith("2 jobs name no user") for note in result.facts["notes"])


def test_limits_that_bind_nobody_change_nothing():
    jobs = [job(i, i, 10 + i % 7, 1 + i % 4, user=i % 5) for i in range(1, 40)]
    free = forebay.simulate(workload(jobs), platform(6), "fcfs-easy")
    bound = forebay.simulate(workload(jobs), platform(6), "fcfs-easy+limits:user_jobs=1000,user_nodes=1000,run_time=1d")
    assert free.facts["log_sha256"] == bound.facts["log_sha256"]


def test_a_policy_in_plain_python_sees_only_what_may_start():
    seen = []

    class InOrder:
        def decide(self, view, act):
            seen.append([int(view.jobs["id"][j]) for j in view.queue])
            for j in view.queue:
                if act.fits(j):
                    act.start(j)

    jobs = [job(1, 0, 10, 1), job(2, 0, 10, 1), job(3, 0, 10, 1, user=2)]
    result = forebay.simulate(workload(jobs), platform(4), Limited(InOrder(), Limits(user_jobs=1)))
    assert starts(result) == {1: 0.0, 2: 10.0, 3: 0.0}
    # Together at first; then 2 is held back and 3 comes again, as the starts from 2 on were put off.
    assert seen == [[1, 2, 3], [3], [2], []]


def test_a_job_held_back_cannot_be_started_all_the_same():
    class Stubborn:
        def decide(self, view, act):
            for j in range(2):
                if view.jobs["state"][j] == 1:
                    act.start(j)

    jobs = [job(1, 0, 10, 1), job(2, 5, 10, 1)]
    with pytest.raises(BadActionError, match="job 2, which its user's limits hold back"):
        forebay.simulate(workload(jobs), platform(4), Limited(Stubborn(), Limits(user_jobs=1)))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("fcfs+limits", "name a limit"),
        ("fcfs+limits:user_jobs=0", "from 1 up"),
        ("fcfs+limits:user_jobs=-1", "user_jobs is -1; give a count from 1 up"),
        ("fcfs+limits:user_jobs=two", "not a whole number"),
        ("fcfs+limits:user_jobs=1.5", "not a whole number"),
        ("fcfs+limits:user_job=2", "did you mean 'user_jobs'"),
        ("fcfs+limits:run_time=-1", "run_time|seconds"),
        ("fcfs+limits:over=throw,user_jobs=1", "over is 'throw'"),
        ("fcfx+limits:user_jobs=1", "did you mean 'fcfs'"),
    ],
)
def test_limits_that_make_no_sense_are_refused(spec, words):
    with pytest.raises(InputError, match=words):
        load(spec)


def test_policies_keep_the_rules_under_limits():
    report = check_policy("fcfs-bb+limits:user_jobs=1,user_nodes=4", n_cases=15)
    assert report.passed, report.explanation


def test_a_job_withdrawn_while_it_waits_leaves_the_queue():
    """One node. Job 1 runs to 10; 2 is withdrawn at 1 + 4 = 5, so 3 starts at 10, not at 30."""
    jobs = [job(1, 0, 10, 1), job(2, 1, 20, 1, cancel=4.0), job(3, 2, 5, 1)]
    jobs[0]["cancel"] = jobs[2]["cancel"] = math.inf
    result = forebay.simulate(workload(jobs), platform(1), "fcfs")
    assert starts(result) == {1: 0.0, 2: None, 3: 10.0}
    assert states(result)[2] == "CANCELLED"
    numbers = forebay.summary(result)
    assert (numbers["n_cancelled"], numbers["n_started"], numbers["mean_waiting_time"]) == (1, 2, 4.0)
    last = result.log.filter(result.log["job"] == 2).select("time", "kind", "reason").rows()[-1]
    assert last == (5.0, "cancel", "cancelled")


def test_a_head_that_is_withdrawn_frees_its_reservation():
    """2 nodes. 1 holds one to 10; 2 wants both and reserves 10; 3 (1 node, 20 s) would delay it. At 6 job 2 goes: 3."""
    never = {"cancel": math.inf}
    jobs = [job(1, 0, 10, 1, **never), job(2, 1, 5, 2, cancel=5.0), job(3, 2, 20, 1, **never)]
    assert starts(forebay.simulate(workload(jobs), platform(2), "fcfs-easy")) == {1: 0.0, 2: None, 3: 6.0}


def test_a_job_withdrawn_while_it_runs_is_killed_then():
    jobs = [job(1, 0, 10, 1, cancel=4.0), job(2, 1, 3, 1, cancel=3.0)]  # 2 ends its three seconds from 4 on at 7
    result = forebay.simulate(workload(jobs), platform(1), "fcfs")
    assert result.jobs["final_state"].to_list() == ["COMPLETED_KILLED", "CANCELLED"]  # 2 is withdrawn as 1 ends
    assert result.jobs["finish_time"].to_list() == [4.0, None]


def test_a_job_that_ends_in_the_instant_of_its_withdrawal_is_complete():
    result = forebay.simulate(workload([job(1, 0, 10, 1, cancel=10.0)]), platform(1), "fcfs")
    assert states(result) == {1: "COMPLETED_SUCCESSFULLY"}


def test_a_job_withdrawn_between_its_legs_gives_back_what_it_carries():
    """2 nodes, 10 of buffer. Job 1 stages (0 to 5, all the buffer) and waits for 2 nodes, which job 2 holds to 30.

    Withdrawn at 8, it gives the buffer back, and job 3, which wants 6 of it, starts then.
    """
    never = {"cancel": math.inf, "burst_buffer": 0}
    jobs = [
        job(1, 0, 25, 2, cancel=8.0, burst_buffer=10),
        job(2, 0, 30, 1, **never),
        job(3, 1, 5, 1, **never | {"burst_buffer": 6}),
    ]
    legs = [
        {"job": 1, "leg": 0, "walltime": 5.0, "nodes": 0, "carry": "", "burst_buffer": 10},
        {"job": 1, "leg": 1, "walltime": 20.0, "nodes": 2, "carry": "burst_buffer", "burst_buffer": 10},
    ]
    phases = [{"job": 1, "leg": k, "kind": "compute", "seconds": s} for k, s in ((0, 5.0), (1, 20.0))]
    result = forebay.simulate(workload(jobs, legs, phases), platform(2, 10), "filler", job_model="alloc-only")
    assert starts(result) == {1: 0.0, 2: 0.0, 3: 8.0}
    assert result.jobs.row(0, named=True)["finish_time"] == 8.0
    assert states(result)[1] == "COMPLETED_KILLED"
    assert usage(result, "burst_buffer").rows() == [(0.0, 10), (8.0, 6), (13.0, 0)]


def test_a_time_of_cancelling_must_be_later():
    with pytest.raises(InputError, match="job 1 has a time of cancelling"):
        forebay.simulate(workload([job(1, 0, 10, 1, cancel=0.0)]), platform(1), "fcfs")
