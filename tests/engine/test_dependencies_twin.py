"""Runs in which jobs wait for others against the slow twin, and what must hold of every such run."""

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay
from cases import dependent, pooled
from cases.chunks import chunks
from twins.backfill import PRESETS
from twins.compare import close, compare
from twins.dependent import Dependent

CHUNKS, CHUNK = 10, 20
NAMES = ("fcfs", "filler", "fcfs-easy", "sjf-bb", "conservative")


def check_seed(seed):
    """One workload under two policies; everything that both tell must agree."""
    workload, platform = dependent.make(seed)
    if workload.jobs.height < 2:
        return
    for name in (NAMES[seed % 3], NAMES[3 + seed % 2]):
        slow = Dependent(workload, platform, PRESETS[name], f"alloc-only:kill={str(seed % 4 > 0).lower()}").finished()
        compare(slow, workload, platform, name)
        if slow.queue:
            continue
        fast = forebay.simulate(workload, platform, name, job_model=slow.job_model)
        check_invariant(fast, workload)
        for row in fast.jobs.to_dicts():
            expected = slow.eligible[row["job_id"]]
            found = row["eligible_time"]
            assert (found is None) == (expected is None), (seed, name, row["job_id"])
            assert found is None or close(found, expected), (seed, name, row["job_id"])


def check_invariant(result, workload):
    """No job starts before what it waits for has happened; who waits for what never happens is rejected."""
    jobs = {row["job_id"]: row for row in result.jobs.to_dicts()}
    over = {job: row["finish_time"] for job, row in jobs.items()}
    ends = result.log.filter(pl.col("kind").cast(pl.String).is_in(["reject", "cancel"]))
    over |= {job: time for job, time in ends.select("job", "time").iter_rows() if over[job] is None}
    for (job, either), edges in workload.dependencies.group_by("job", "any"):
        start, times = jobs[job]["starting_time"], []
        for edge in edges.to_dicts():
            parent, kind = jobs[edge["parent"]], edge["kind"]
            well = parent["final_state"] == "COMPLETED_SUCCESSFULLY"
            never = (kind == "afterok" and not well) or (kind == "afternotok" and well)
            begun = kind == "after" and parent["starting_time"] is not None
            time = math.inf if never else (parent["starting_time"] if begun else over[edge["parent"]]) + edge["delay"]
            if kind == "think":
                assert jobs[job]["submission_time"] >= time - 1e-6
            else:
                times.append(time)
        if not times:
            continue
        free = min(times) if either else max(times)
        if start is None:
            continue
        assert start >= free - 1e-6, (job, start, free)


@pytest.mark.parametrize("chunk", chunks(5, CHUNKS))
def test_runs_equal_naive(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check_seed(seed)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(900, 906))
def test_runs_equal_naive_small(seed):
    check_seed(seed)


@given(seed=st.integers(0, 10**6), policy=st.sampled_from(["fcfs-bb", "plan-best", "conservative-bb", "slurm"]))
def test_nobody_starts_before_its_parents_are_done(seed, policy):
    workload, platform = pooled.make(seed, legs=False)
    if workload.jobs.height < 2:
        return
    workload = dependent.with_dependencies(workload, seed)
    check_invariant(forebay.simulate(workload, platform, policy), workload)
