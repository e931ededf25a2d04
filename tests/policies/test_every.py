"""Policies that decide by the clock alone, `+every=60s`: by hand, and against one that ignores all other calls."""

import math

import numpy as np
import pytest

import forebay
from cases import flexible, pooled
from forebay.errors import ForebayError, InputError
from forebay.policies import Every, Limited, Limits, load
from forebay.testing import check_policy

pytestmark = pytest.mark.small


def job(number, submit, walltime, nodes=1):
    return {"id": number, "submit": float(submit), "walltime": float(walltime), "nodes": nodes, "user": 1}


def starts(result):
    return result.jobs["starting_time"].to_list()


class Greedy(forebay.Policy):
    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)


class ByTheClock(Greedy):
    """The slow version: called at every event, it does nothing but ask for a call at the next tick."""

    def __init__(self, seconds):
        self.seconds = seconds

    def decide(self, view, act):
        ticks = view.now / self.seconds
        if abs(ticks - round(ticks)) * self.seconds > 1e-7 * max(1.0, view.now):
            act.wake(math.ceil(ticks) * self.seconds)
        else:
            super().decide(view, act)


def test_by_hand():
    """2 nodes, decisions at 0, 10, 20, ... Job 1 (2 nodes, 12 s) starts at 0; 2 and 3 arrive at 1 and 15: at 20.

    4 arrives at 30, which is a tick, but 3 runs until 36 and 4 needs both nodes: it starts at 40. So with limits, too.
    """
    jobs = [job(1, 0, 12, 2), job(2, 1, 5), job(3, 15, 16), job(4, 30, 1, 2)]
    made, machine = pooled.workload(jobs), pooled.platform(2)
    for policy in ("fcfs-bb+every=10s", "fcfs-bb+every=10", "fcfs-bb+limits:user_jobs=9+every=10s"):
        result = forebay.simulate(made, machine, policy)
        assert starts(result) == [0.0, 20.0, 20.0, 40.0]
        assert result.facts["every"] == 10.0
    again = forebay.simulate(made, machine, Every(Limited(load("fcfs-bb"), Limits(user_jobs=9)), 10))
    assert again.facts["log_sha256"] == result.facts["log_sha256"]
    assert again.facts["decisions"] == 5  # 0, 10, 20, 30, 40


@pytest.mark.parametrize("seed", range(12))
def test_it_is_as_if_all_other_calls_were_ignored(seed):
    made, machine = pooled.make(seed, legs=seed % 2 == 0)
    for seconds in (3.0, 7.5):
        slow = forebay.simulate(made, machine, ByTheClock(seconds))
        fast = forebay.simulate(made, machine, Every(Greedy(), seconds))
        assert fast.jobs.equals(slow.jobs)
        start = fast.log.filter(fast.log["kind"] == "start")["time"].to_numpy() / seconds
        assert np.abs(start - np.round(start)).max() < 1e-6


def test_presets_of_every_kind_keep_the_rules():
    for policy in ("plan-1+every=7s", "slurm+every=5s", "mebf+every=4s"):
        assert check_policy(policy, n_cases=2).passed


def test_jobs_at_points_go_on_between_ticks():
    result = forebay.simulate(flexible.growing(), "flat:nodes=16", Every(load("fcfs-malleable"), 1000.0))
    assert set(result.jobs["final_state"]) == {"COMPLETED_SUCCESSFULLY"}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("fcfs+every=0s", "no time between decisions"),
        ("fcfs+every=soon", "is not a time"),
        ("fcfs+every=1s+every=2s", "given twice"),
    ],
)
def test_what_is_no_time_is_refused(spec, says):
    with pytest.raises(InputError, match=says):
        load(spec)


def test_a_run_does_not_change_its_clock_half_way():
    with forebay.open("table1", policy="fcfs+every=60s") as sim, pytest.raises(ForebayError, match="is not asked as"):
        sim.fork("fcfs")
