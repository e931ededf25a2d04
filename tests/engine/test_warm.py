"""Jobs that run already when a period begins: small cases worked out by hand."""

import math

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.metrics import usage, utilisation

pytestmark = pytest.mark.small

NO = math.nan


def period(rows, nodes=4, **more):
    """(submit, walltime, run_time, nodes, running_since) a job, on a machine of 4 nodes."""
    submit, walltime, run_time, size, since = zip(*rows, strict=True)
    columns = {"id": range(1, len(rows) + 1), "submit": submit, "walltime": walltime, "run_time": run_time}
    jobs = fb.workload.job_table(columns | {"nodes": size, "running_since": [float(one) for one in since]} | more)
    return fb.Workload("period", jobs, platform=f"flat:nodes={nodes}")


def starts(result):
    return result.jobs["starting_time"].to_list()


@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "conservative", "sjf-easy", "plan-1", "slurm-bb"])
def test_they_hold_their_nodes_and_end_as_recorded(policy):
    # Job 1 has 3 of 4 nodes from -50 to 50; job 2 wants all, and job 3 the node that is left until 40.
    w = period([(-60, 200, 100, 3, -50), (10, 100, 100, 4, NO), (20, 20, 20, 1, NO)])
    result = fb.simulate(w, policy=policy)
    assert result.jobs["finish_time"][0] == 50
    assert starts(result)[:2] == [-50, 50]
    assert starts(result)[2] == (150 if policy == "fcfs" else 20)


def test_the_policy_first_decides_at_second_0():
    # Both jobs have waited for a long time, on a machine that is empty: they start when the period begins.
    w = period([(-500, 100, 100, 4, NO), (-400, 100, 100, 2, NO), (7, 10, 10, 2, NO)])
    seen = []

    class Watch:
        def decide(self, view, act):
            seen.append((view.now, len(view.queue)))
            for job in view.queue:
                if act.fits(job):
                    act.start(job)

    result = fb.simulate(w, policy=Watch())
    assert seen[0] == (0.0, 2)
    assert starts(result) == [0, 100, 100]
    assert result.jobs["waiting_time"].to_list() == [500, 500, 93]


def test_waiting_jobs_meet_what_runs():
    # Job 1 holds all nodes until 30 and job 2, submitted before the period, is to have half of them next.
    w = period([(-90, 100, 80, 4, -50), (-20, 100, 100, 2, NO), (0, 10, 10, 2, NO)])
    result = fb.simulate(w, policy="fcfs")
    assert starts(result) == [-50, 30, 30]
    assert result.jobs["waiting_time"].to_list() == [40, 50, 30]


def test_a_walltime_counts_from_the_start_that_was():
    # Job 1 may run until 10 only. EASY trusts that: job 3, which ends by then, passes job 2.
    w = period([(-90, 100, 500, 3, -90), (0, 10, 10, 4, NO), (0, 10, 10, 1, NO)])
    result = fb.simulate(w, policy="fcfs-easy")
    assert result.jobs["final_state"].to_list()[0] == "COMPLETED_WALLTIME_REACHED"
    assert result.jobs["finish_time"][0] == 10
    assert starts(result) == [-90, 10, 0]


def test_buffers_are_held_too():
    w = period([(-9, 50, 50, 1, -9), (0, 10, 10, 1, NO), (0, 10, 10, 1, NO)], burst_buffer=[70, 40, 30])
    result = fb.simulate(w, "flat:nodes=4,burst_buffer=100B", policy="filler")
    assert starts(result) == [-9, 41, 0]


def test_who_ends_before_second_0_holds_nothing():
    w = period([(-90, 20, 20, 4, -80), (0, 10, 10, 4, NO)])
    assert starts(fb.simulate(w, policy="fcfs")) == [-80, 0]


def test_who_has_no_room_waits_like_others():
    # On 4 nodes only the first of two jobs of 3 nodes could run already.
    w = period([(-50, 100, 100, 3, -40), (-50, 100, 100, 3, -30), (5, 10, 10, 1, NO)])
    result = fb.simulate(w, policy="fcfs")
    assert starts(result) == [-40, 60, 60]
    assert any("1 job has no room here (first: job 2)" in note for note in result.facts["notes"])


def test_they_are_in_no_mean_but_in_the_use_of_the_machine():
    w = period([(-60, 100, 100, 2, -50), (-20, 100, 100, 4, NO), (10, 50, 50, 2, NO)])
    result = fb.simulate(w, policy="fcfs")
    assert starts(result) == [-50, 50, 150]
    numbers = fb.summary(result)
    assert numbers["mean_waiting_time"] == (70 + 140) / 2
    assert numbers["makespan"] == 200  # from second 0 on
    assert usage(result, "nodes").rows() == [(-50.0, 2), (50.0, 4), (150.0, 2), (200.0, 0)]
    assert utilisation(result) == pytest.approx((50 * 2 + 100 * 4 + 50 * 2) / (200 * 4))
    assert fb.metrics.by_user(result)["n"].to_list() == [2]


def test_without_any_the_run_is_as_ever():
    rows = [(0, 100, 100, 3, NO), (0, 100, 100, 3, NO), (5, 10, 10, 1, NO)]
    plain = period(rows)
    plain = fb.Workload("period", plain.jobs.drop("running_since"), platform=plain.platform)
    for policy in ("fcfs", "fcfs-easy"):
        cold, warm = (fb.simulate(w, policy=policy) for w in (plain, period(rows)))
        assert cold.log.equals(warm.log)


def test_a_machine_that_fails_is_whole_until_second_0():
    w = period([(-60, 500, 500, 4, -50), (0, 10, 10, 1, NO)])
    result = fb.simulate(w, policy="fcfs", failures="mtbf=100s,downtime=10s", seed=3)
    assert result.log.filter(pl.col("kind") == "node_down")["time"].min() >= 0


@pytest.mark.parametrize(
    ("since", "what"),
    [(-61, "job 1 runs already before it is submitted"), (1, "job 1 is to run already from second 0")],
)
def test_what_cannot_be(since, what):
    with pytest.raises(InputError, match=what):
        fb.simulate(period([(-60, 100, 100, 2, since)]), policy="fcfs")
