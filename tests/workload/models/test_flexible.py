"""Jobs of a trace made malleable: which, at which sizes, how fast; solved by hand, and as runs."""

import dataclasses
import math

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload import models
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small


def jobs(nodes, platform="flat:nodes=100", **columns):
    """Jobs of 1,000 s with a walltime of 1,500 s, one every second; numbered downwards."""
    n = len(nodes)
    base = {"id": np.arange(n)[::-1], "submit": np.arange(n), "run_time": [1000.0] * n, "nodes": nodes}
    base |= {"walltime": [1500.0] * n} | columns
    return Workload("x", job_table(base), platform=platform, provenance=("made for a test",))


def attach(workload, spec="share=1", seed=1):
    return models.attach(workload, [f"flexible:{spec}"], seed)


def sizes(workload):
    """Job to its sizes."""
    table = workload.applications.sizes.group_by("job").agg("nodes").sort("job")
    return dict(table.rows())


def times(workload):
    """Size to the seconds that all rounds of a workload's one job take, and its walltime."""
    tables = workload.applications
    rounds = tables.loops["rounds"].item()
    rows = tables.amounts.join(tables.sizes, on=["job", "nodes"]).select("nodes", "seconds", "walltime").rows()
    return {nodes: (pytest.approx(rounds * seconds), pytest.approx(walltime)) for nodes, seconds, walltime in rows}


def test_sizes_are_between_the_bounds_and_on_the_machine():
    # ceil(0.3 x 10) = 3, not 4: 0.3 x 10 is a little above 3. 80 nodes may not be 160 on a machine of 100.
    found = sizes(attach(jobs([10, 1, 3, 80]), "share=1,min=0.3,max=1.5"))
    assert found == {3: [*range(3, 16)], 1: [*range(1, 5)], 0: [*range(24, 101)]}
    assert sizes(attach(jobs([1]))) == {0: [1, 2]}
    assert sizes(attach(jobs([40], platform=None)))[0] == [*range(20, 81)]


def test_many_sizes_are_spread_and_hold_the_recorded_one():
    found = sizes(attach(jobs([1000, 333, 7], "flat:nodes=5000"), "share=1,sizes=7"))
    assert found == {2: [500, 750, 1000, 1250, 1500, 1750, 2000], 1: [167, 250, 333, 417, 500, 583, 666],
                     0: [4, 6, 7, 9, 11, 12, 14]}  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_sizes_differ_and_one_is_the_recorded(seed):
    rng = np.random.default_rng(seed)
    nodes = rng.integers(1, 3000, 50)
    workload = attach(jobs(nodes, platform=None), f"share=1,min={rng.random()},max={1 + 3 * rng.random()},sizes=40")
    recorded = dict(workload.jobs.select("id", "nodes").rows())
    for job, found in sizes(workload).items():
        assert len(found) <= 40
        assert (np.diff(found) > 0).all()
        assert recorded[job] in found


def test_the_law_of_speed_up():
    # 1 - 0.9 + 0.9 x 4 / n of 1,000 s: 1,900 on 2, 550 on 8. The walltime with it.
    found = times(attach(jobs([4]), "share=1,alpha=0.9"))
    assert found[2] == (1900, 2850)
    assert found[4] == (1000, 1500)
    assert found[8] == (550, 825)


def test_the_share_may_be_of_one_node():
    # (0.1 + 0.9 / n) / (0.1 + 0.9 / 4) of 1,000 s: 0.55 / 0.325 on 2, 0.2125 / 0.325 on 8.
    found = times(attach(jobs([4]), "share=1,alpha=0.9,alpha_on=one-node"))
    assert found[2] == (pytest.approx(1692.3077), pytest.approx(2538.4615))
    assert found[4] == (1000, 1500)
    assert found[8] == (pytest.approx(653.84615), pytest.approx(980.76923))


@pytest.mark.parametrize("alpha_on", ["recorded", "one-node"])
def test_extremes(alpha_on):
    """All parallel: nodes x seconds is the same everywhere. Nothing parallel: seconds are."""
    linear = times(attach(jobs([4]), f"share=1,alpha=1,alpha_on={alpha_on}"))
    assert all(linear[n][0] == 4000 / n for n in range(2, 9))
    serial = times(attach(jobs([4]), f"share=1,alpha=0,alpha_on={alpha_on}"))
    assert all(serial[n][0] == 1000 for n in range(2, 9))


def test_rounds():
    runs = [50.0, 899.0, 901.0, 6000.0]
    rounds = attach(jobs([4] * 4, run_time=runs), "share=1,points=10min").applications.loops
    assert rounds.select("job", "rounds", "point").rows() == [(0, 10, True), (1, 2, True), (2, 1, True), (3, 1, True)]
    moldable = attach(jobs([4] * 4, run_time=runs), "share=1,kind=moldable").applications
    assert moldable.loops.select("rounds", "point").rows() == [(1, False)] * 4
    assert moldable.jobs["type"].to_list() == ["moldable"] * 4


def test_a_job_without_a_limit_has_none_at_any_size():
    assert attach(jobs([4], walltime=[math.inf])).applications.sizes["walltime"].is_infinite().all()


def test_the_share_is_drawn_and_a_larger_one_has_the_same_jobs():
    some, more = (attach(jobs([4] * 10_000), f"share={share}").applications.jobs["job"] for share in (0.2, 0.3))
    assert len(some) == pytest.approx(2000, abs=160)  # four standard deviations
    assert set(some) < set(more)


def test_nobody_has_another_size():
    workload = attach(jobs([1, 1]), "share=1,max=1.5")
    assert workload.applications is None
    assert "0 jobs of 2" in workload.provenance[-1]


def test_work_in_flop_and_communication():
    """Work is divided as run time is; what nodes send to one another stays, a part of it in each round."""
    workload = attach(jobs([4], run_time=[0.0], flop=[6e12], communication=[8e6]), "share=1")
    rows = workload.applications.amounts.select("nodes", "seconds", "flop", "communication", "streams").rows()
    assert workload.applications.loops["rounds"].item() == 10
    assert rows[2] == (4, 0, 6e11, 8e5, 4)
    assert rows[6] == (8, 0, pytest.approx(3.3e11), 8e5, 8)


WRONG = "share=1.5 min=0 min=1.2 max=0.9 max=inf alpha=-0.1 alpha_on=two points=0 kind=evolving sizes=1"


@pytest.mark.parametrize("given", WRONG.split())
def test_what_makes_no_sense_is_refused(given):
    with pytest.raises(InputError, match=rf"model 'flexible': {given.partition('=')[0]} is "):
        attach(jobs([4]), given)


def test_too_many_sizes_are_refused(monkeypatch):
    monkeypatch.setenv("FOREBAY_MAX_STEPS", "1000")
    with pytest.raises(InputError, match=r"1,020 sizes, 1,000 at most; lower share or sizes"):
        attach(jobs([50] * 20, platform=None), "share=1,min=0.8,max=1.8,sizes=51")


def test_jobs_with_sizes_of_their_own_are_refused():
    with pytest.raises(InputError, match="applications of their own"):
        attach(attach(jobs([4])))


def test_a_file_keeps_it(tmp_path):
    workload = models.attach(jobs([4] * 50), ["burst-buffer", "flexible:share=0.5"], 3)
    assert fb.write(workload, tmp_path / "x.parquet.zip") == []
    back = fb.read(tmp_path / "x.parquet.zip")
    for table in dataclasses.fields(workload.applications):
        assert getattr(back.applications, table.name).equals(getattr(workload.applications, table.name))


@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "conservative-bb"])
def test_policies_that_know_nothing_of_sizes_see_the_trace(policy):
    trace = models.attach(models.generate("lublin99:load=0.9,nodes=64", 1, jobs=200), ["tsafrir05"], 1)
    flexible = attach(trace, "share=0.5,points=60")
    before, after = (fb.simulate(one, policy=policy).jobs for one in (trace, flexible))
    for column in ("starting_time", "finish_time"):
        np.testing.assert_allclose(before[column], after[column], rtol=1e-9)
    same = ["job_id", "requested_number_of_resources", "requested_time", "final_state", "allocated_resources"]
    assert before.select(same).equals(after.select(same))


def test_a_job_starts_small_and_grows():
    # 8 nodes, alpha 1. Job 1 (6 nodes, 600 s) leaves 2 of the 4 that job 0 prefers: rounds of 100 s take 200 s there.
    # At its point at 600 job 1 is gone, and it gets 8: 7 rounds of 50 s.
    columns = {"id": [1, 0], "submit": [0, 0], "run_time": [600.0, 1000.0], "nodes": [6, 4], "walltime": [9e3, 9e3]}
    two = Workload("x", job_table(columns), platform="flat:nodes=8", provenance=("made for a test",))
    flexible = attach(two, "share=1,points=100,alpha=1")
    only = dataclasses.replace(flexible, applications=flexible.applications.only(pl.Series([0])))
    result = fb.simulate(only, policy="fcfs-malleable")
    assert result.jobs.select("job_id", "starting_time", "finish_time").rows() == [(1, 0, 600), (0, 0, 950)]
    assert fb.metrics.usage(result, "nodes").rows() == [(0, 8), (950, 0)]


def test_jobs_that_stay_rigid_still_communicate():
    # 4 nodes send 1 GB to each of 3 others over ports of 1 MB/s: 3,000 s, with 1,000 s of work beside them.
    both = attach(jobs([4, 4], communication=[1e9, 1e9], walltime=[9e3, 9e3]), "share=1,alpha=1,max=1")
    rigid = dataclasses.replace(both, applications=both.applications.only(pl.Series([0])))
    for workload in (both, rigid, dataclasses.replace(both, applications=None)):
        result = fb.simulate(workload, "flat:nodes=8,port=1MB/s", "fcfs")
        assert result.jobs["execution_time"].to_list() == [pytest.approx(3000, rel=1e-6)] * 2


def test_it_goes_with_a_pooled_buffer():
    """The buffer is the job's, whatever its nodes: held from start to end, and nothing is staged."""
    workload = attach(jobs([4, 4], burst_buffer=[6 * 10**9] * 2), "share=1,points=100")
    machine = "flat:nodes=16,burst_buffer=10GB"
    result = fb.simulate(workload, machine, "fcfs-malleable")
    assert result.facts["job_model"] == "application"
    first, second = result.jobs["finish_time"]
    assert fb.metrics.usage(result, "burst_buffer").rows() == [(0, 6 * 10**9), (second, 0)]
    assert result.jobs["starting_time"].to_list() == [0, first]


def test_that_nothing_is_staged_is_said_where_it_could_be():
    workload = attach(jobs([4, 4], burst_buffer=[6 * 10**9] * 2))
    told = {
        machine: any("nothing is staged" in note for note in fb.simulate(workload, machine, "fcfs").facts["notes"])
        for machine in ("flat:nodes=16,burst_buffer=10GB", "flat:nodes=16,burst_buffer=10GB,pfs=1GB/s")
    }
    assert list(told.values()) == [False, True]


def test_others_with_phases_are_refused():
    """They would be taken for jobs that compute."""
    phase = {"job": 1, "leg": 0, "kind": "write", "seconds": 0.0, "flop": 0.0, "communication": 0.0, "bytes": 9.0}
    workload = dataclasses.replace(
        attach(jobs([4, 4])), phases=pl.DataFrame([phase | {"release": None}], schema=PHASE_SCHEMA)
    )
    with pytest.raises(InputError, match="job 1 has phases, and jobs have applications"):
        fb.simulate(workload, policy="fcfs")


def test_a_buffer_in_chunks_is_refused_by_name():
    workload = attach(jobs([4, 4], burst_buffer=[6 * 10**9] * 2))
    with pytest.raises(InputError, match=r"dragonfly-96 has a burst buffer in chunks.*choose another machine"):
        fb.simulate(workload, "dragonfly-96")


def test_a_walltime_is_that_of_the_size_at_the_start():
    """1,200 s of 1,000: killed at the recorded size, and as far in its work at half of it."""
    late = jobs([4], run_time=[1200.0], walltime=[1000.0])
    for machine, end in (("flat:nodes=4", 1000), ("flat:nodes=2", 2000)):
        result = fb.simulate(attach(late, "share=1,alpha=1,kind=moldable"), machine, "fcfs-malleable")
        assert result.jobs.select("finish_time", "final_state").row(0) == (end, "COMPLETED_WALLTIME_REACHED")
