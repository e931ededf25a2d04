"""Slurm's way with buffers, by hand: who gets space, who gets nodes, and who starves."""

import math
import random

import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload.workload import job_table
from twins import slurm

pytestmark = pytest.mark.small

GB, TB = 10**9, 10**12
MACHINE = "flat:nodes=4,burst_buffer=10GB,pfs=1GB/s"


def workload(*jobs):
    """Jobs as (submit, seconds, walltime, nodes, bytes of buffer), numbered 1, 2, ..."""
    names = ("submit", "run_time", "walltime", "nodes", "burst_buffer")
    columns = {name: [job[i] for job in jobs] for i, name in enumerate(names)}
    times = {name: [float(value) for value in columns[name]] for name in names[:3]}
    return fb.Workload("by hand", job_table({"id": range(1, len(jobs) + 1)} | columns | times))


def starts(result):
    """(job, leg) -> time of its start."""
    rows = result.log.filter(pl.col("kind") == "start").select("job", "leg", "time").rows()
    return {(job, leg): time for job, leg, time in rows}


def test_space_is_granted_to_those_expected_first():
    # 4 nodes, 10 GB, 1 GB/s. Job 1 runs on all nodes without a buffer until 100 (as it says). Job 2 needs 4 nodes,
    # job 3 one, both 6 GB: there is space for one of them, expected at 100 and 100; job 2 came first and has it from 1
    # on, filled at 7. Job 3 waits for space until job 2 has staged out: it runs 100 to 150, then 6 s out: 156. Its own
    # is filled at 162, and it runs at once.
    jobs = workload((0, 100, 100, 4, 0), (1, 50, 50, 4, 6 * GB), (2, 50, 50, 1, 6 * GB))
    found = starts(fb.simulate(jobs, MACHINE, "slurm-bb", job_model="three-legs"))
    assert found == {(1, 0): 0, (2, 0): 1, (2, 1): 100, (2, 2): 150, (3, 0): 156, (3, 1): 162, (3, 2): 212}


def test_who_can_start_first_is_served_first():
    # Jobs 2 and 3 arrive together while job 1 has three of the 4 nodes until 100. Job 2 needs 2 nodes and is expected
    # at 100, job 3 needs 1 and is expected now: the space goes to job 3, though job 2 came first.
    jobs = workload((0, 100, 100, 3, 0), (1, 10, 10, 2, 6 * GB), (1, 10, 10, 1, 6 * GB))
    found = starts(fb.simulate(jobs, MACHINE, "slurm-bb", job_model="three-legs"))
    assert (found[3, 0], found[3, 1]) == (1, 7)
    # job 3: in until 7, runs until 17, out until 23; only then there is space for job 2
    assert (found[2, 0], found[2, 1]) == (23, 100)


def test_no_nodes_are_kept_for_who_has_not_begun_to_stage():
    # Job 1 holds 6 GB and 2 nodes until 50. Job 2 (4 nodes, 6 GB) finds no space, so nothing is kept for it, and job 3
    # (2 nodes, no buffer, 500 s) starts at once. With job 2's nodes reserved for 50 it would have had to wait.
    jobs = workload((0, 50, 50, 2, 6 * GB), (10, 50, 50, 4, 6 * GB), (11, 500, 500, 2, 0))
    found = starts(fb.simulate(jobs, MACHINE, "slurm-bb", job_model="three-legs"))
    assert found[3, 0] == 11
    assert found[2, 1] == 511


def stream(n=20):
    """A job of 8 TB behind the first two of a stream of jobs of 4 TB, one every 100 s, each running 250 s."""
    small = [(100 * k, 250, 300, 1, 4 * TB) for k in range(n)]
    return workload(*small[:2], (110, 250, 300, 1, 8 * TB), *small[2:])


@pytest.mark.parametrize(("policy", "model"), [("slurm-bb", "three-legs"), ("slurm-bb", "io-aware")])
def test_a_large_buffer_starves_behind_a_stream(policy, model):
    # of 10 TB two small jobs have 8 at any time, and when one ends the next is there: until the stream is over
    result = fb.simulate(stream(), "flat:nodes=8,burst_buffer=10TB,pfs=1TB/s", policy, job_model=model)
    start = result.jobs["starting_time"].to_list()
    assert start[2] > max(start[:2] + start[3:])


def test_with_a_reservation_it_does_not():
    # the buffer is reserved for 400 s, when job 2 is expected to end; it ends at 358, after 4 s in, 250 s and 4 s out
    result = fb.simulate(stream(), "flat:nodes=8,burst_buffer=10TB,pfs=1TB/s", "fcfs-bb", job_model="io-aware")
    assert result.jobs["starting_time"][2] == 358


def test_jobs_without_buffer_are_backfilled():
    # as conservative backfilling: job 2 is planned for 100, job 3 fits before it, job 4 does not
    jobs = workload((0, 100, 100, 2, 0), (1, 50, 50, 4, 0), (2, 90, 90, 2, 0), (3, 200, 200, 2, 0))
    found = starts(fb.simulate(jobs, MACHINE, "slurm-bb"))
    assert found == {(1, 0): 0, (2, 0): 100, (3, 0): 2, (4, 0): 150}


def test_three_legs_need_a_buffer_and_a_file_system():
    jobs = workload((0, 100, 100, 2, GB))
    with pytest.raises(InputError, match="has no buffer"):
        fb.simulate(jobs, "flat:nodes=4,pfs=1GB/s", "slurm-bb", job_model="three-legs")
    with pytest.raises(InputError, match="the machine has none"):
        fb.simulate(jobs, "flat:nodes=4,burst_buffer=1GB", "slurm-bb", job_model="three-legs")


def test_a_count_below_one_is_refused():
    with pytest.raises(InputError, match="max_planned is 0"):
        fb.simulate(workload((0, 1, 1, 1, 0)), MACHINE, "slurm-bb:max_planned=0")


def crowded(seed):
    """Some jobs more than the machine has room for, with ties; a few are withdrawn."""
    rng = random.Random(seed)
    n = rng.choice((5, 30))
    columns = {
        "submit": sorted(float(rng.randint(0, 10 * n)) for _ in range(n)),
        "run_time": [float(rng.choice((0, 1, 10, 100, 1000))) for _ in range(n)],
        "walltime": [float(rng.choice((1, 10, 100, 500, 2000, math.inf))) for _ in range(n)],
        "nodes": [rng.randint(1, 4) for _ in range(n)],
        "burst_buffer": [rng.choice((0, 0, 1, 4, 6, 10)) * GB for _ in range(n)],
        "cancel": [float(rng.randint(1, 10**4)) if rng.random() < 0.1 else math.inf for _ in range(n)],
    }
    return fb.Workload("crowded", job_table({"id": rng.sample(range(100), n)} | columns))


@pytest.mark.parametrize("model", ["three-legs", "three-legs:kill=false", "alloc-only", "io-aware"])
@pytest.mark.parametrize("most", [500, 3])
def test_as_its_twin(model, most):
    for seed in range(12):
        w = crowded(seed)
        fast = fb.simulate(w, MACHINE, f"slurm-bb:max_planned={most}", job_model=model)
        slow = fb.simulate(w, MACHINE, slurm.SlurmBb(most), job_model=model)
        assert fast.log.equals(slow.log)


def test_it_can_be_as_deep_as_the_queue():
    w = crowded(1)
    assert fb.simulate(w, MACHINE, "slurm-bb:max_planned=99999999999999999999").jobs.equals(
        fb.simulate(w, MACHINE, "slurm-bb").jobs
    )
