"""Plans that choose tiers: an order that pays, one job as under sas, and machines where there is nothing to choose."""

import polars as pl
import pytest

import forebay as fb
from cases import tiered
from cases.tiered import machine, workload
from cases.tiered_by_hand import job, outcome, run, steps
from forebay.errors import InputError
from forebay.policies import load

pytestmark = pytest.mark.small


def test_the_short_job_goes_first():
    # One node, both jobs there: 20 + 30 s of turnaround in order of arrival, 10 + 30 s the other way round.
    one = machine(1, 1, (10, 4, 2))
    jobs, phases = [job(1, 20), job(2, 10)], steps(1, compute=20) + steps(2, compute=10)
    assert outcome(run(jobs, phases, "sas", one)) == {1: ("slow", 0, 20), 2: ("slow", 20, 30)}
    assert outcome(run(jobs, phases, "sas-plan", one)) == {2: ("slow", 0, 10), 1: ("slow", 10, 30)}


def test_fast_storage_goes_to_who_gains_most():
    # Two nodes, room for one. Job 1 would save 2 s on fast storage (18 rather than 16), job 2 42 s: 64 rather than
    # 64 - 3/4 x 56 = 22. In order of arrival job 1 takes it and job 2 waits for it until 18; the plan lays job 2 first.
    jobs = [job(1, 18, fast=10), job(2, 64, fast=10)]
    phases = steps(1, read=8, compute=10) + steps(2, compute=8, checkpoint=56)
    assert outcome(run(jobs, phases)) == {1: ("fast", 0, 16), 2: ("fast", 16, 38)}
    assert outcome(run(jobs, phases, "sas-plan")) == {2: ("fast", 0, 22), 1: ("slow", 0, 18)}


@pytest.mark.parametrize("seed", range(20))
def test_one_job_alone_is_as_under_sas(seed):
    made, platform = tiered.make(seed)
    first = made.jobs.filter(pl.col("nodes") <= platform.nodes).head(1)
    phases = made.phases.filter(pl.col("job") == first["id"][0])
    alone = fb.Workload("alone", first.with_columns(submit=pl.lit(0.0)), phases=phases)
    ours, theirs = (fb.simulate(alone, platform, policy, job_model="tiered") for policy in ("sas-plan", "sas"))
    assert outcome(ours) == outcome(theirs)


@pytest.mark.parametrize("seed", range(20))
def test_all_jobs_run_whatever_the_plan(seed):
    made, platform = tiered.make(seed)
    result = fb.simulate(made, platform, "sas-plan", job_model="tiered")
    fits = made.jobs["nodes"] <= platform.nodes
    assert (result.jobs["final_state"] == "COMPLETED_SUCCESSFULLY").sum() == fits.sum()


def test_nothing_to_choose():
    jobs, phases = [job(1, 20), job(2, 10), job(3, 5)], []
    made = workload(jobs, phases)
    ours, theirs = (fb.simulate(made, "flat:nodes=1", policy).jobs for policy in ("sas-plan", "conservative-bb"))
    assert ours["starting_time"].to_list() == theirs["starting_time"].to_list()


@pytest.mark.parametrize("spec", ["sas-plan:alpha=0", "sas-plan:moves=-1", "sas-plan:planned=-2", "sas:slot=never"])
def test_refused(spec):
    with pytest.raises(InputError, match=r"give a|walltime"):
        load(spec)
