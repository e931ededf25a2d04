"""Every policy keeps the contract."""

import polars as pl
import pytest

import forebay as fb
from cases import specs, tiered
from cases.chunks import uncompiled
from forebay import policies
from forebay.errors import BadActionError
from forebay.testing import check_policy

FAMILY = [
    *specs.EVERY,
    "fcfs-bb:depth=3",
    "sjf-bb:max_backfill=2",
    "priority:order=nodes,descending=false",
    "fcfs-bb:reservations=pinned",
    "fcfs-easy:reservations=pinned",
    "conservative-bb:reservations=pinned",
    "cerberus-throughput:method=table,unit_nodes=3,unit_bytes=5,considered=4",
    "io-intensity:alpha=1,workload=cluster",
    "mebf:guard=true,gamma=2,sharing_factor=0.5,alpha=0",
    "slurm:bf_licenses=true,reservations=pinned,bf_interval=5,bf_resolution=1",
    "slurm:PriorityType=multifactor,PriorityWeightFairshare=1000,bf_max_job_user=2,partition_job_depth=2,bf_window=10",
    "multifactor:depth=all,PriorityWeightJobSize=500,PriorityCalcPeriod=0",
    "filler:order=fairshare",
    "fcfs-easy:order=multifactor,PriorityWeightQOS=100",
    "bbsched-exact:window=3,bound=2,order=wfp,backfill=conservative",
]


@pytest.mark.parametrize("n_cases", [8, pytest.param(60, marks=pytest.mark.full)])
@pytest.mark.parametrize("spec", FAMILY)
def test_every_policy_keeps_the_contract(spec, n_cases):
    report = check_policy(spec, n_cases=n_cases)
    assert report.passed, report.explanation


@uncompiled
@pytest.mark.parametrize("spec", specs.EVERY)
def test_every_policy_keeps_the_contract_on_a_few_cases(spec):
    report = check_policy(spec, seed=7, n_cases=3)
    assert report.passed, report.explanation


@pytest.mark.small
@pytest.mark.parametrize("spec", specs.WITHOUT_TIMES)
def test_every_policy_runs_jobs_on_tiers_of_storage(spec):
    """Those that know nothing of tiers start all on slow storage; all jobs that fit are done, alike each time."""
    made, platform = tiered.make(11)
    first, again = (fb.simulate(made, platform, spec, seed=3, job_model="tiered") for _ in range(2))
    assert first.facts["log_sha256"] == again.facts["log_sha256"]
    done = first.jobs.filter(pl.col("final_state") == "COMPLETED_SUCCESSFULLY")
    assert len(done) == (made.jobs["nodes"] <= platform.nodes).sum()
    if not policies.load(spec).needs_tiers:
        assert set(done["tier"]) == {platform.ways[0].name}


class WrongWay:
    def decide(self, view, act):
        for job in view.queue:
            act.start(job, way=len(view.ways(job)) + 5)


def test_a_way_that_is_not_there():
    made, platform = tiered.make(11)
    with pytest.raises(BadActionError, match=r"which it does not have; see view.ways\(job\)"):
        fb.simulate(made, platform, WrongWay(), job_model="tiered")
