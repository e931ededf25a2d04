"""The job model of slow and fast storage: its parameter, what it refuses, what it tells, and what jobs do under it."""

import dataclasses

import polars as pl
import pytest

import forebay as fb
from cases.pooled import workload as with_legs
from cases.tiered import machine, workload
from cases.tiered import make as random_case
from forebay.errors import InputError
from forebay.platforms import Platform
from forebay.platforms.tiers import fast, pfs, shared_bb, slow

pytestmark = pytest.mark.small

MACHINE = machine(2, 1, (10, 4, 2))
JOB = {"id": 1, "submit": 0.0, "walltime": 50.0, "nodes": 1, "fast": 10}
PHASES = [(1, "read", 8), (1, "compute", 3), (1, "checkpoint", 4), (1, "fetch", 12), (1, "write", 6)]


def run(jobs=(JOB,), phases=tuple(PHASES), policy="tier-fast", platform=MACHINE, model="tiered"):
    return fb.simulate(workload(list(jobs), phases), platform, policy, job_model=model)


def order(result):
    """What job 1 does, and for how long."""
    begun = result.log.filter(pl.col("kind") == "begin_phase")["time"].to_list()
    ended = result.log.filter(pl.col("kind") == "end_phase").select("time", "reason", "amount").rows()
    return [(kind, end - begin, moved) for begin, (end, kind, moved) in zip(begun, ended, strict=True)]


def test_on_fast_storage():
    # 8 B in at 2 B/s; then over the 4 B/s between fast storage and nodes; 6 B out at 2 B/s.
    result = run()
    assert order(result) == [
        ("stage_in", 4, 8),
        ("fetch", 2, 8),
        ("compute", 3, 0),
        ("checkpoint", 1, 4),
        ("fetch", 3, 12),
        ("checkpoint", 1.5, 6),
        ("stage_out", 3, 6),
    ]
    assert result.links.rows() == [("slow", 1, 0), ("fast", 4, 30), ("fast staging", 2, 14)]
    assert result.jobs.select("tier", "stage_in_time", "io_time", "compute_start").rows() == [("fast", 4, 14.5, 6)]
    held = result.log.filter(pl.col("kind").is_in(["acquire", "release"])).select("time", "resource", "amount").rows()
    assert held == [(0, "fast", 10), (17.5, "fast", 10)]


def test_on_slow_storage():
    result = run(policy="tier-slow")
    assert order(result) == [
        ("read", 8, 8),
        ("compute", 3, 0),
        ("write", 4, 4),
        ("read", 12, 12),
        ("write", 6, 6),
    ]
    assert result.links.rows() == [("slow", 1, 30), ("fast", 4, 0), ("fast staging", 2, 0)]
    assert result.jobs.select("tier", "stage_in_time").rows() == [("slow", 0)]
    assert result.log.filter(pl.col("resource") == "fast").is_empty()


def test_nothing_to_read_or_write_is_not_staged():
    result = run(phases=[(1, "read", 0), (1, "compute", 3), (1, "checkpoint", 4)])
    assert [kind for kind, _, moved in order(result) if moved] == ["checkpoint"]
    assert result.jobs["finish_time"].to_list() == [4]


def test_several_reads_are_staged_at_once():
    # 2 + 6 B in: 4 s; then 0.5, 1 and 1.5 s.
    result = run(phases=[(1, "read", 2), (1, "compute", 1), (1, "read", 6)])
    assert order(result)[0] == ("stage_in", 4, 8)
    assert result.jobs["finish_time"].to_list() == [7]


def test_jobs_without_phases_only_compute():
    result = run([JOB | {"run_time": 7.0}], ())
    assert result.jobs.select("tier", "finish_time").rows() == [("fast", 7)]


def test_the_walltime_kills_nobody():
    result = run([JOB | {"walltime": 2.0}])
    assert result.jobs.select("finish_time", "final_state").rows() == [(17.5, "COMPLETED_SUCCESSFULLY")]


def test_nodes_are_free_while_data_is_staged():
    # From 4 to 14.5 the job has its node; the stage-in is a leg of its own, and the stage-out runs without nodes.
    result = run(model="tiered:nodes=free")
    nodes = result.log.filter(
        (pl.col("resource") == "nodes") & (pl.col("amount") > 0) & (pl.col("kind") != "submit")
    ).select("time", "kind", "amount", "leg")
    assert nodes.rows() == [(4, "start", 1, 1), (14.5, "release", 1, 1)]
    assert result.jobs.select("starting_time", "finish_time", "n_legs").rows() == [(0, 17.5, 2)]
    assert order(result) == order(run(model="tiered:nodes=held"))


FILES = pfs.Tier(name="pfs", read=1.0, write=1.0)
BUFFER = shared_bb.Tier(name="fast", capacity=10, bandwidth=4.0)


def test_a_burst_buffer_may_be_a_choice_too():
    # As on fast storage, but for the file system's 1 B/s each way, which staging crosses as well.
    platform = Platform(name="both", nodes=2, tiers=(FILES, BUFFER))
    result = run(platform=platform)
    assert [seconds for _, seconds, _ in order(result)] == [8, 2, 3, 1, 3, 1.5, 6]
    ports = [("server0 in", 4, 8 + 4 + 6), ("server0 out", 4, 8 + 12 + 6)]
    assert result.links.rows() == [("pfs read", 1, 8), ("pfs write", 1, 6), *ports]
    assert order(run(platform=platform, policy="tier-slow")) == order(run(policy="tier-slow"))
    # A job that is staged and one that reads share the file system: 0.5 B/s each.
    jobs = [JOB, JOB | {"id": 2, "fast": 0}]
    result = run(jobs, [(1, "read", 8), (2, "read", 8)], platform=platform)
    ends = result.log.filter(pl.col("kind") == "end_phase").select("job", "time", "reason").rows()
    assert sorted(ends) == [(1, 16, "stage_in"), (1, 18, "fetch"), (2, 16, "read")]


def test_fast_storage_may_be_beside_a_parallel_file_system():
    flash = fast.Tier(name="fast", capacity=10, bandwidth=4.0, stage=2.0)
    both = Platform(name="both", nodes=2, tiers=(FILES, flash))
    assert order(run(platform=both)) == order(run())
    assert order(run(platform=both, policy="tier-slow")) == order(run(policy="tier-slow"))


def test_fast_storage_is_a_buffer_to_other_job_models():
    # 8 B in at 2 B/s, 4 B to fast storage at 4 B/s, 5 B from slow storage at 1 B/s, 6 B out at 2 B/s.
    phases = [(1, "stage_in", 8), (1, "compute", 3), (1, "checkpoint", 4), (1, "read", 5), (1, "stage_out", 6)]
    result = run(phases=phases, policy="fcfs", model="io-aware")
    assert [seconds for _, seconds, _ in order(result)] == [4, 3, 1, 5, 3]
    assert result.links.rows() == [("slow", 1, 5), ("fast", 4, 4), ("fast staging", 2, 14)]
    # 10 B in, an hour at most, 10 B out: 5 s each way, one leg after the other
    result = run([JOB | {"run_time": 7.0}], (), "fcfs", model="three-legs")
    assert [(kind, seconds) for kind, seconds, _ in order(result)] == [
        ("stage_in", 5),
        ("compute", 7),
        ("stage_out", 5),
    ]


def test_a_burst_buffer_may_be_beside_slow_storage():
    disk = slow.Tier(name="slow", bandwidth=1.0)
    platform = Platform(name="both", nodes=2, tiers=(disk, BUFFER))
    result = run(phases=[(1, "stage_in", 8), (1, "fetch", 8)], policy="fcfs", platform=platform, model="io-aware")
    assert [seconds for _, seconds, _ in order(result)] == [8, 2]
    assert result.links.rows() == [("slow", 1, 8), ("server0 in", 4, 0), ("server0 out", 4, 8)]


def test_the_model_is_the_default_where_there_is_a_slow_tier():
    made = workload([JOB], PHASES)
    assert fb.simulate(made, MACHINE, "sas").facts["job_model"] == "tiered"
    assert fb.simulate(made, machine(2, 1), "sas").facts["job_model"] == "tiered"


def test_policies_that_know_nothing_of_tiers_use_the_slow_one():
    for policy in ("fcfs", "fcfs-easy", "conservative"):
        result = run(policy=policy)
        assert result.jobs.select("tier", "finish_time").rows() == [("slow", 33)]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("tiered:nodes=gone", "job model 'tiered': nodes='gone' is not held or free"),
        ("tiered:node=free", "job model 'tiered' has no parameter 'node'"),
    ],
)
def test_parameters_out_of_range(model, message):
    with pytest.raises(InputError, match=message):
        run(model=model)


def test_a_machine_without_a_file_system_is_refused():
    with pytest.raises(
        InputError, match="runs jobs on a file system or on faster storage, and flat has no file system"
    ):
        run(platform="flat:nodes=4")


def test_chunks_are_refused():
    with pytest.raises(InputError, match="counts room in bytes, and burst_buffer of dragonfly-96 is chunked; make it"):
        run(platform="dragonfly-96")


def test_legs_of_their_own_are_refused():
    legs = [{"job": 1, "leg": 0, "walltime": 5.0, "nodes": 1, "carry": "", "fast": 5}]
    made = with_legs([JOB], legs, [{"job": 1, "leg": 0, "seconds": 3.0}])
    with pytest.raises(InputError, match="but job model 'tiered' makes them; leave out the legs"):
        fb.simulate(made, MACHINE, "sas", job_model="tiered")


@pytest.mark.parametrize("kind", ["stage_in", "stage_out", "drain"])
def test_phases_that_stage_are_refused(kind):
    with pytest.raises(InputError, match="phases stage or drain data, which job model 'tiered' does by itself"):
        run(phases=[(1, kind, 5), *PHASES])


def test_phases_of_a_second_leg_are_refused():
    made = workload([JOB], PHASES)
    made = dataclasses.replace(made, phases=made.phases.with_columns(leg=pl.lit(1, dtype=pl.Int64)))
    with pytest.raises(InputError, match="a phase belongs to leg 1 of job 1"):
        fb.simulate(made, MACHINE, "sas", job_model="tiered")


def test_what_does_not_fit_is_noted_once_a_tier():
    two = machine(2, 1, (10, 4, 2), (20, 8, 2))
    jobs = [JOB | {"id": i, "fast": 9 + i, "faster": 20 + (i > 2)} for i in range(1, 5)]
    notes = run(jobs, (), platform=two).facts["notes"]
    assert notes == [
        "job 2 asks for 11 B of fast, which holds 10 B: it cannot use it (3 such jobs)",
        "job 3 asks for 21 B of faster, which holds 20 B: it cannot use it (2 such jobs)",
    ]


def test_a_workload_that_asks_for_no_fast_storage_is_noted():
    job = {key: value for key, value in JOB.items() if key != "fast"}
    result = run([job])
    assert result.facts["notes"] == ["the workload says nothing of fast: every job asks for 0 of it"]
    assert result.jobs["tier"].to_list() == ["slow"]


def test_what_users_say_changes_no_transfer():
    said = {"told_input": 1, "told_output": 2, "told_data": 300}
    assert order(run([JOB | said])) == order(run())


def test_staging_without_nodes_is_not_killed():
    # Users say that there is nothing to stage, so that leg has a second; it takes 4. The run takes 2 + 3 + 4 + 1.5 s.
    model = "tiered:nodes=free,kill=true"
    done = run([{**JOB, "told_input": 0, "told_output": 0, "told_data": 0}], model=model)
    assert done.jobs["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY"]
    assert done.jobs["finish_time"].to_list() == [4 + 2 + 3 + 4 + 1.5 + 3]
    short = run([{**JOB, "walltime": 5.0}], model=model)
    assert short.jobs["final_state"].to_list() == ["COMPLETED_WALLTIME_REACHED"]
    assert short.jobs["finish_time"].to_list() == [4 + 5.0]


def test_what_phases_give_back_and_negative_statements_are_refused():
    made = workload([JOB], PHASES)
    given = dataclasses.replace(made, phases=made.phases.with_columns(release=pl.lit("nodes")))
    with pytest.raises(InputError, match="leave out `release`"):
        fb.simulate(given, MACHINE, "sas", job_model="tiered")
    with pytest.raises(InputError, match="job 1 has a told_data of -1; bytes are from 0 up"):
        run([{**JOB, "told_data": -1}])


@pytest.mark.parametrize("seed", range(12))
def test_slow_storage_is_a_file_system_to_which_a_job_is_one_stream(seed):
    made, slow_machine = random_case(seed)
    files = pfs.Tier(name="slow", bandwidth=slow_machine.tiers[0].bandwidth, per_job=1e30, through_ports=False)
    lanes = Platform(name="lanes", nodes=slow_machine.nodes, tiers=(files, *slow_machine.tiers[1:]))
    for policy in ("sas", "tier-fast", "sas-contention"):
        one, other = (fb.simulate(made, where, policy, job_model="tiered") for where in (slow_machine, lanes))
        assert one.facts["log_sha256"] == other.facts["log_sha256"]
        assert one.links.equals(other.links)
