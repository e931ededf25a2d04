"""Nodes fail under every policy, also where jobs choose tiers of storage, or read and write: nobody is lost."""

import pytest

import forebay as fb
from cases import specs, tiered
from forebay import policies
from forebay.workload import models

pytestmark = pytest.mark.small

SHARES = ("checkpoint", "recovery", "lost_to_failures", "lost_to_policy", "down", "idle")


def case(spec):
    """A workload that the policy can run, its machine and job model, and failures of two kinds."""
    if policies.load(spec).needs_times:
        made = models.generate("admire-io:jobs=15", 1)
        return made, None, "application:kill=false", ("mtbf=10min,downtime=5min", "mtbf=20min,checkpoint=20s,known=no")
    made, platform = tiered.make(11)
    return made, platform, "tiered", ("mtbf=30s,downtime=20s", "mtbf=60s,downtime=40s,checkpoint=1s,known=no")


@pytest.mark.parametrize("spec", specs.EVERY)
def test_all_jobs_are_done(spec):
    made, platform, model, kinds = case(spec)
    for failures in kinds:
        result = fb.simulate(made, platform, spec, job_model=model, failures=failures)
        rejected = result.jobs["final_state"] == "REJECTED"
        assert set(result.jobs.filter(~rejected)["final_state"]) == {"COMPLETED_SUCCESSFULLY"}
        told = fb.summary(result)
        assert told["n_failures"] > 0
        assert sum(told[f"{share}_share"] for share in SHARES) + told["useful_utilisation"] == pytest.approx(
            1, abs=1e-9
        )


@pytest.mark.parametrize("spec", ["fcfs", "fcfs-easy", "conservative", "sfsj"])
def test_comparisons_pair(spec):
    """Every policy meets failures at the same times, as long as it runs."""
    made, platform, model, _ = case(spec)
    logs = [
        fb.simulate(made, platform, one, job_model=model, failures="mtbf=30s,downtime=1s").log
        for one in ("filler", spec)
    ]
    times = [log.filter(log["kind"] == "node_down")["time"].to_list() for log in logs]
    n = min(map(len, times))
    assert n > 5
    assert times[0][:n] == times[1][:n]
