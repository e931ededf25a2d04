"""Runs in which jobs wait for others against the slow twin, and what must hold of every such run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay
from cases import dependent, pooled
from cases.chunks import chunks, uncompiled
from cases.waiting import check_waits
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
        check_waits(fast, workload)
        for row in fast.jobs.to_dicts():
            expected = slow.eligible[row["job_id"]]
            found = row["eligible_time"]
            assert (found is None) == (expected is None), (seed, name, row["job_id"])
            assert found is None or close(found, expected), (seed, name, row["job_id"])


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_runs_equal_naive(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check_seed(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(900, 906))
def test_runs_equal_naive_small(seed):
    check_seed(seed)


@given(seed=st.integers(0, 10**6), policy=st.sampled_from(["fcfs-bb", "plan-best", "conservative-bb", "slurm"]))
def test_nobody_starts_before_its_parents_are_done(seed, policy):
    workload, platform = pooled.make(seed, legs=False)
    if workload.jobs.height < 2:
        return
    workload = dependent.with_dependencies(workload, seed)
    check_waits(forebay.simulate(workload, platform, policy), workload)
