"""Extreme numbers on which policies of ours once broke the rules: tiny walltimes, large buffers."""

from dataclasses import replace

import polars as pl
import pytest

import forebay as fb
from cases import pooled
from forebay.core.schemas import PHASE_SCHEMA
from forebay.policies import load, names

LATE = 10_687_589.6  # s: an instant is a microsecond wide there


def tiny_first(walltime, demand):
    """Two jobs for which there is no room together, the first with a walltime far below an instant."""
    first = {"id": 1, "submit": LATE, "walltime": walltime, "run_time": 10.0}
    second = {"id": 2, "submit": LATE + 1e-7, "walltime": 10.0, "run_time": 10.0}
    return pooled.workload([first | demand[0], second | demand[1]])


@pytest.mark.parametrize("policy", [name for name in names() if not load(name).needs_times])
@pytest.mark.parametrize("walltime", [1e-12, 1e-9, 1e-6])
def test_nobody_starts_in_the_place_of_a_job_with_a_tiny_walltime(policy, walltime):
    """40 GB of buffer on 2 nodes, chunks of 40 GB on servers of 40 GB; then 1 byte, on a machine that is full."""
    nodes = {"nodes": 96, "burst_buffer": 480 * 10**9}, {"nodes": 1, "burst_buffer": 1}
    for demand in (nodes, ({"nodes": 2, "burst_buffer": 40 * 10**9}, {"nodes": 1, "burst_buffer": 1})):
        result = fb.simulate(tiny_first(walltime, demand), "dragonfly-96", policy, job_model="alloc-only:kill=false")
        starts = result.jobs["starting_time"].to_list()
        assert starts[0] <= LATE + 1.1e-6 + (policy == "slurm")  # which looks for work once a second
        if demand is nodes:
            assert starts[1] >= result.jobs["finish_time"][0]


@pytest.mark.small
@pytest.mark.parametrize("policy", ["plan-1", "plan-3", "plan-best", "conservative-bb", "fcfs-bb"])
def test_two_jobs_with_tiny_walltimes_in_one_decision(policy):
    """Both arrive at once and need the whole machine: a plan that reserves nothing for an instant starts both."""
    jobs = [
        {"id": i, "submit": LATE, "walltime": 1e-12, "run_time": 1.0, "nodes": 4, "burst_buffer": 10} for i in (1, 2, 3)
    ]
    result = fb.simulate(pooled.workload(jobs), pooled.platform(4, 10), policy, job_model="alloc-only:kill=false")
    assert result.jobs["starting_time"].to_list() == [LATE, LATE + 1, LATE + 2]


@pytest.mark.parametrize("policy", ["cerberus-throughput", "cerberus-parallelism", "cerberus-parallelism:method=table"])
@pytest.mark.parametrize("size", [10**8, 10**12, 2**60])
def test_knapsacks_of_large_buffers_take_little_memory(policy, size):
    """Two ordinary jobs; a table with a cell for each byte would be all of a machine's memory, and more."""
    jobs = [{"id": i, "submit": 0.0, "walltime": 60.0, "nodes": 1, "burst_buffer": size // 2 + i} for i in range(1, 5)]
    machine = f"flat:nodes=4,burst_buffer={size}B,pfs=1GB/s"
    result = fb.simulate(pooled.workload(jobs), machine, policy, job_model="three-legs:kill=false")
    assert (result.jobs["final_state"] == "COMPLETED_SUCCESSFULLY").all()


def test_a_knapsack_in_coarser_units_says_so():
    """A table was asked for, in units of a byte: 10^12 of them are too many."""
    jobs = [{"id": i, "submit": 0.0, "walltime": 60.0, "nodes": 1, "burst_buffer": 4 * 10**11 + i} for i in range(1, 5)]
    w, machine = pooled.workload(jobs), pooled.platform(4, 10**12)
    notes = fb.simulate(w, machine, "cerberus-parallelism:method=table").facts["notes"]
    assert any("solved in coarser units" in note for note in notes)
    assert not any("units" in note for note in fb.simulate(w, machine, "cerberus-parallelism").facts["notes"])


@pytest.mark.small
def test_a_job_without_anything_to_do_lets_the_next_one_start():
    """It ends as it starts: the machine is free again within the decision that had filled it."""
    w = pooled.workload([{"id": i, "submit": 0.0, "walltime": 60.0, "nodes": 4} for i in (1, 2)])
    nothing = {"leg": 0, "kind": "drain", "flop": 0.0, "communication": 0.0, "bytes": 0.0, "seconds": 0.0}
    phases = pl.DataFrame([{"job": i} | nothing | {"release": None} for i in (1, 2)], schema=PHASE_SCHEMA)
    result = fb.simulate(replace(w, phases=phases), "flat:nodes=4,burst_buffer=1GB,pfs=1GB/s", job_model="io-aware")
    assert result.jobs["finish_time"].to_list() == [0.0, 0.0]
