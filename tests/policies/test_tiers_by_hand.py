"""Slow or fast storage, solved by hand: staging, waiting for room, passing, ties, wrong statements, shared links."""

import random

import polars as pl
import pytest

import forebay as fb
from cases.tiered import machine, workload
from cases.tiered_by_hand import job, outcome, run, steps

pytestmark = pytest.mark.small


def test_fast_for_one_and_slow_now_for_the_other():
    # Each reads 8 B and computes 10 s: 18 s on slow storage, and 18 + 4 - 6 = 16 s on fast storage. Job 1 gets it: 4 s
    # of staging, 2 s of reading, 10 s. Job 2 would wait until 18 for it and end at 34, so it runs on slow storage now.
    jobs = [job(1, 18, fast=10), job(2, 18, fast=10)]
    result = run(jobs, steps(1, read=8, compute=10) + steps(2, read=8, compute=10))
    assert outcome(result) == {1: ("fast", 0, 16), 2: ("slow", 0, 18)}
    assert result.links.rows() == [("slow", 1, 8), ("fast", 4, 8), ("fast staging", 2, 8)]


@pytest.mark.parametrize(("walltime", "passes"), [(18, True), (19, False)])
def test_the_head_waits_for_fast_storage_and_is_not_delayed(walltime, passes):
    # Job 1 is expected to leave fast storage at 18. Job 2 moves 80 B in between: 84 s on slow storage, 84 - 60 = 24 s
    # on fast storage. It needs both nodes, so it can begin at 18 on either: fast. Job 3 passes if it is over by then.
    # In fact job 1 ends at 16, and job 2 takes 20 + 4 s. Without a pass job 3 follows it at 40.
    jobs = [job(1, 18, fast=10), job(2, 84, nodes=2, fast=10), job(3, walltime)]
    phases = steps(1, read=8, compute=10) + steps(2, compute=4, checkpoint=80) + steps(3, compute=15)
    expected = {1: ("fast", 0, 16), 2: ("fast", 16, 40), 3: ("slow", 0, 15) if passes else ("slow", 40, 55)}
    result = run(jobs, phases)
    assert outcome(result) == expected
    why = dict(result.log.filter(pl.col("kind") == "start").select("job", "reason").rows())
    assert why[3] == ("backfilled" if passes else "in_order")


def test_waiting_for_fast_storage_with_nodes_to_spare():
    # Job 2 could begin on slow storage at once and would end at 84; it waits until 18 and is over at 42. In fact fast
    # storage is free at 16. Job 3, with a walltime of 100, takes the other node: job 2 needs only one.
    jobs = [job(1, 18, fast=10), job(2, 84, fast=10), job(3, 100)]
    phases = steps(1, read=8, compute=10) + steps(2, compute=4, checkpoint=80) + steps(3, compute=90)
    assert outcome(run(jobs, phases)) == {1: ("fast", 0, 16), 2: ("fast", 16, 40), 3: ("slow", 0, 90)}


def test_shorter_jobs_pass_first_then_those_that_ask_for_less():
    # Job 1 has three of four nodes for 50 s, job 2 waits for all four. Of those behind one may pass at a time, and all
    # fit before 50: the shortest, 5, at 0; then 4 before 3, since it asks for 1 B less; each runs as long as it said.
    jobs = [job(1, 50, nodes=3), job(2, 5, nodes=4)]
    jobs += [job(3, 20, fast=9), job(4, 20, fast=8), job(5, 10)]
    result = run(jobs, policy="tier-slow", platform=machine(4, 1, (10, 4, 2)))
    assert {number: start for number, (_, start, _) in outcome(result).items()} == {1: 0, 2: 50, 3: 30, 4: 10, 5: 0}


@pytest.mark.parametrize(("between", "tier"), [(0, "slow"), (2, "fast")])
def test_a_tie_goes_to_slow_storage(between, tier):
    # Here both fast links have 2 B/s: 8 B in take 4 s of staging and save 4 s of reading. 2 B more, in between, save 1.
    jobs = [job(1, 40, fast=10)]
    platform = machine(1, 1, (10, 2, 2))
    assert outcome(run(jobs, steps(1, read=8, compute=10, checkpoint=between), platform=platform))[1][0] == tier


def test_of_equal_fast_tiers_the_first():
    platform = machine(1, 1, (10, 4, 2), (10, 4, 2))
    jobs = [job(1, 18, fast=10, faster=10)]
    assert outcome(run(jobs, steps(1, read=8, compute=10), platform=platform))[1] == ("fast", 0, 16)


def _plain_jobs(rng):
    """Jobs that only compute, with walltimes of their own."""
    return [
        job(i, walltime := rng.randint(1, 30), rng.randint(1, 4), rng.randint(0, 60), run_time=float(min(walltime, i)))
        for i in range(1, 25)
    ]


@pytest.mark.parametrize("policy", ["sas", "sas:slot=stay", "sas-contention", "tier-fast", "tier-random", "tier-slow"])
def test_nothing_to_move_and_nothing_asked_for(policy):
    """Then there is nothing to gain from fast storage: the machine might as well have none, or no storage at all."""
    for seed in range(3):
        jobs = _plain_jobs(random.Random(seed))
        with_fast = outcome(run(jobs, policy=policy, platform=machine(4, 1, (10, 4, 2))))
        assert with_fast == outcome(run(jobs, policy=policy, platform=machine(4, 1)))
        assert {tier for tier, _, _ in with_fast.values()} == {"slow"}
        plain = [{key: value for key, value in row.items() if key != "fast"} for row in jobs]
        easy = fb.simulate(workload(plain), "flat:nodes=4", "fcfs-easy:backfill_order=walltime")
        none = fb.simulate(workload(plain), "flat:nodes=4", policy)
        for other in (easy, none):
            rows = other.jobs.select("job_id", "starting_time", "finish_time").rows()
            assert {number: (start, end) for number, start, end in rows} == {
                number: (start, end) for number, (_, start, end) in with_fast.items()
            }


def test_users_who_say_that_nothing_is_moved():
    # What is said to be nothing cannot be faster anywhere, so all run on slow storage, 60 s for job 1.
    said = {"told_input": 0, "told_output": 0, "told_data": 0}
    jobs = [job(1, 70, fast=10, **said), job(2, 70, fast=5, **said)]
    phases = steps(1, read=20, compute=10, checkpoint=20, write=10) + steps(2, compute=7)
    both = run(jobs, phases)
    assert outcome(both) == {1: ("slow", 0, 60), 2: ("slow", 0, 7)}
    assert outcome(both) == outcome(run(jobs, phases, platform=machine(2, 1)))
    assert outcome(both) == outcome(run(jobs, phases, policy="sas-contention"))


def test_statements_decide_and_the_truth_takes_its_time():
    # 40 B are said to be moved in between: 14 - 30 s, so fast storage. In truth 8 B are read and none moved in between,
    # which would have taken 12 s on slow storage: 4 s of staging, 2 s of reading, 4 s.
    jobs = [job(1, 14, fast=10, told_input=0, told_output=0, told_data=40)]
    assert outcome(run(jobs, steps(1, read=8, compute=4))) == {1: ("fast", 0, 10)}


def test_a_request_that_fast_storage_cannot_hold():
    # 11 B of 10 B: slow storage for job 1, whatever the policy. Job 2 asks for all there is, and moves much.
    jobs = [job(1, 24, fast=11), job(2, 24, fast=10)]
    phases = steps(1, compute=4, checkpoint=20) + steps(2, compute=4, checkpoint=20)
    for policy in ("sas", "tier-fast", "tier-random:p=1"):
        result = run(jobs, phases, policy)
        assert outcome(result) == {1: ("slow", 0, 24), 2: ("fast", 0, 9)}
        assert result.facts["notes"] == ["job 1 asks for 11 B of fast, which holds 10 B: it cannot use it"]


def test_three_fast_tiers():
    # 60 B at 1, 2, 4 or 8 B/s beside 4 s of computing: 64, 34, 19 or 11.5 s. Nobody waits 64 s for a faster tier.
    platform = machine(4, 1, (10, 2, 1), (10, 4, 1), (10, 8, 1))
    jobs = [job(i, 64, fast=10, faster=10, fastest=10) for i in range(1, 5)]
    phases = [step for i in range(1, 5) for step in steps(i, compute=4, checkpoint=60)]
    assert outcome(run(jobs, phases, platform=platform)) == {
        1: ("fastest", 0, 11.5),
        2: ("faster", 0, 19),
        3: ("fast", 0, 34),
        4: ("slow", 0, 64),
    }
    # Always the second: one after the other, each in 19 s, though 64 s are asked for.
    second = outcome(run(jobs, phases, "tier-fast:tier=2", platform))
    assert second == {i: ("faster", 19 * (i - 1), 19 * i) for i in range(1, 5)}


def test_nodes_are_held_or_free_while_data_is_staged():
    # One node. Job 1 has it until 10. Job 2 reads 8 B, computes 5 s and writes 4 B: 4 s of staging, 2 + 5 + 1 s, 2 s.
    # With its nodes held it begins at 10 and ends at 24, and job 3 follows. Else it stages from 0 to 4 beside job 1,
    # runs from 10 to 18, and job 3 has the node while the output is staged until 20.
    jobs = [job(1, 10), job(2, 17, fast=10), job(3, 1, submit=11)]
    phases = steps(1, compute=10) + steps(2, read=8, compute=5, write=4) + steps(3, compute=1)
    one = machine(1, 1, (10, 4, 2))
    held = run(jobs, phases, platform=one)
    assert outcome(held) == {1: ("slow", 0, 10), 2: ("fast", 10, 24), 3: ("slow", 24, 25)}
    free = run(jobs, phases, platform=one, job_model="tiered:nodes=free")
    assert outcome(free) == {1: ("slow", 0, 10), 2: ("fast", 0, 20), 3: ("slow", 18, 19)}
    times = free.log.filter(pl.col("job") == 2, pl.col("kind") == "start").select("time", "leg", "amount").rows()
    assert times == [(0, 0, 0), (10, 1, 1)]
    assert free.jobs["total_wait"].to_list() == [0, 6, 7]
    assert held.links.rows() == free.links.rows() == [("slow", 1, 0), ("fast", 4, 12), ("fast staging", 2, 12)]


def test_nodes_are_kept_for_a_job_from_when_its_data_is_there():
    # Job 1 stages 8 B until 4, then needs one of two nodes. Job 2 asks for both, for 3 s: over before they are needed.
    jobs = [job(1, 18, fast=10), job(2, 3, nodes=2)]
    phases = steps(1, read=8, compute=10) + steps(2, compute=3)
    result = run(jobs, phases, job_model="tiered:nodes=free")
    assert outcome(result) == {1: ("fast", 0, 16), 2: ("slow", 0, 3)}
    # With 5 s it would be in the way.
    jobs[1]["walltime"] = 5.0
    result = run(jobs, phases, job_model="tiered:nodes=free")
    assert outcome(result) == {1: ("fast", 0, 16), 2: ("slow", 16, 19)}


def test_without_input_there_is_one_leg_whatever_the_nodes_do():
    jobs = [job(1, 40, fast=10)]
    phases = steps(1, compute=4, checkpoint=20, write=4)
    result = run(jobs, phases, job_model="tiered:nodes=free")
    assert outcome(result) == {1: ("fast", 0, 12)}  # 4 + 5 + 1 s, then 2 s without nodes
    assert result.jobs["n_legs"].to_list() == [1]
    released = result.log.filter(pl.col("kind") == "release").select("time", "resource").rows()
    assert released == [(10, "nodes"), (12, "fast")]


def test_a_request_is_kept_while_the_job_waits_for_nodes():
    # One node. Job 2's input is there at 4; until 10, when it gets the node, job 3 cannot have its room.
    jobs = [job(1, 10), job(2, 18, fast=10), job(3, 9, fast=5)]
    phases = steps(1, compute=10) + steps(2, read=8, compute=10) + steps(3, read=8, compute=1)
    result = run(jobs, phases, "tier-fast", machine(1, 1, (10, 4, 2)), job_model="tiered:nodes=free")
    assert outcome(result)[2] == ("fast", 0, 22)
    assert outcome(result)[3] == ("fast", 22, 29)


def test_contention_on_the_staging_link():
    # Job 2 reads 8 B. With the staging link to itself it saves 2 s on fast storage. But job 1 stages 40 B of its 41 s:
    # the link is its own for about half of the time. With half of the link, job 2 stages for 8 s and saves no more.
    jobs = [job(1, 41, fast=5), job(2, 12, fast=5, submit=1)]
    phases = steps(1, read=40, compute=1) + steps(2, read=8, compute=4)
    assert outcome(run(jobs, phases))[2][0] == "fast"
    assert outcome(run(jobs, phases, "sas-contention"))[2] == ("slow", 1, 13)
    assert outcome(run(jobs[1:], phases[2:], "sas-contention"))[2][0] == "fast"


def test_links_are_shared_by_jobs_not_by_nodes():
    # Both read from slow storage, one on three nodes: half of the link each. 10 B are over at 20, 20 B at 30.
    jobs = [job(1, 30, nodes=3), job(2, 30)]
    result = run(jobs, steps(1, read=10) + steps(2, read=20), platform=machine(4, 1, (10, 4, 2)))
    assert outcome(result) == {1: ("slow", 0, 20), 2: ("slow", 0, 30)}


def test_both_directions_share_the_staging_link():
    # Job 1 stages 8 B out from 1 on, alone: 2 B/s. At 2 job 2 begins to stage 4 B in; they share, and job 2 has its
    # 4 B at 6. Job 1 has moved 2 + 4 B by then, and the last 2 B take until 7.
    jobs = [job(1, 30, fast=5, told_data=99), job(2, 30, fast=5, submit=2, told_data=99)]
    phases = steps(1, checkpoint=0, write=8) + steps(2, read=4)
    # Writing 8 B over the fast link of 8 B/s takes the first second; reading 4 B half a second.
    result = run(jobs, phases, platform=machine(2, 1, (10, 8, 2)))
    assert outcome(result) == {1: ("fast", 0, 7), 2: ("fast", 2, 6.5)}


def test_nobody_is_killed_and_what_is_late_is_expected_in_a_second():
    # Job 1 says 5 s and takes 30. Job 2 waits for both nodes; at 10 job 1 is expected at 11, so that a job of 1 s
    # passes and one of 2 s does not.
    jobs = [job(1, 5, run_time=30.0), job(2, 5, nodes=2), job(3, 1, submit=10), job(4, 2, submit=12)]
    found = outcome(run(jobs))
    assert found[1] == ("slow", 0, 30)
    assert found[3] == ("slow", 10, 11)
    assert found[2] == ("slow", 30, 35)
    assert found[4] == ("slow", 35, 37)


def test_fast_storage_of_no_size_is_none():
    jobs = [job(1, 18, fast=10), job(2, 18, fast=0)]
    phases = steps(1, read=8, compute=10) + steps(2, read=8, compute=10)
    nothing, none = (run(jobs, phases, platform=platform) for platform in (machine(2, 1, (0, 4, 2)), machine(2, 1)))
    assert outcome(nothing) == outcome(none) == {1: ("slow", 0, 26), 2: ("slow", 0, 26)}
    assert nothing.links.rows() == none.links.rows() == [("slow", 1, 16)]
