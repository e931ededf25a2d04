"""The engine against its slow twin: random workloads under every preset and under random parameters of the family."""

import math
from dataclasses import replace

import polars as pl
import pytest

import forebay
from cases import pooled
from forebay.core.limits import Limits
from forebay.errors import StalledError
from forebay.policies import load
from forebay.policies._family import Backfill
from forebay.policies._limited import Limited
from forebay.policies._orders import ALL
from twins import run as naive

CHUNKS, CHUNK = 20, 10


def ids(text):
    """The node ids of an interval set such as "0-3 7"."""
    pieces = [piece.split("-") for piece in text.split()]
    return {node for piece in pieces for node in range(int(piece[0]), int(piece[-1]) + 1)}


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


def check_same(workload, platform, policy, params, kill=True, limits=None):
    """Run both; every start, end, state, wait and node must agree, and the number of decisions."""
    policy = policy if limits is None else Limited(load(policy), Limits(**limits))
    compare(naive.simulate(workload, platform, params, kill, limits=limits), workload, platform, policy, kill)


def compare(slow, workload, platform, policy, kill=True, seed=0):
    """A finished run of the slow twin against forebay's."""
    model = f"alloc-only:kill={str(kill).lower()}"
    if slow.queue:  # legs that hold what they carry can lock each other out; then both must say so
        with pytest.raises(StalledError, match=f"leaves {len(slow.queue)} job"):
            forebay.simulate(workload, platform, policy, seed, job_model=model)
        return
    fast = forebay.simulate(workload, platform, policy, seed, job_model=model)
    starts = fast.log.filter(pl.col("kind") == "start").select("time", "job", "leg", "amount").rows()
    assert [row[1:] for row in starts] == [(job, leg, len(nodes)) for _, job, leg, nodes in slow.starts]
    assert all(close(a[0], b[0]) for a, b in zip(starts, slow.starts, strict=True))
    for row, job in zip(fast.jobs.to_dicts(), slow.jobs, strict=True):
        assert (row["job_id"], row["final_state"]) == (job.id, job.state)
        if job.state in (naive.REJECTED, naive.CANCELLED):
            assert row["starting_time"] is row["finish_time"] is row["total_wait"] is None
            continue
        assert close(row["starting_time"], job.start)
        assert close(row["finish_time"], job.finish)
        assert close(row["waiting_time"], job.start - job.submit)
        assert close(row["total_wait"], job.waited)
        nodes = set().union(*(nodes for _, owner, _, nodes in slow.starts if owner == job.id))
        assert ids(row["allocated_resources"]) == nodes
    assert fast.facts["decisions"] == len(slow.decisions)


def check_seed(seed):
    """One workload under two presets and three random policies, with and without kills."""
    workload, platform = pooled.make(seed)
    names = sorted(naive.PRESETS)
    for name in (names[seed % len(names)], names[seed * 5 % len(names) - 4]):
        check_same(workload, platform, name, naive.PRESETS[name], kill=seed % 3 > 0)
    for draw in range(3):
        params = pooled.policy(10 * seed + draw, math.inf)
        policy = Backfill(**pooled.policy(10 * seed + draw, ALL))
        check_same(workload, platform, policy, params, kill=(seed + draw) % 3 > 0)


def check_site(seed):
    """One workload with cancelled jobs, one under limits, one with both; users that are not known too."""
    workload, platform = pooled.make(seed)
    user = pl.col("user")
    workload = replace(workload, jobs=workload.jobs.with_columns(user=pl.when(user == 3).then(-1).otherwise(user)))
    withdrawn = pooled.with_cancels(workload, seed)
    for draw, (jobs, limits) in enumerate(
        (
            (withdrawn, None),
            (workload, pooled.limits(2 * seed)),
            (withdrawn, pooled.limits(2 * seed + 1)),
        )
    ):
        params = pooled.policy(10 * seed + draw, math.inf)
        policy = Backfill(**pooled.policy(10 * seed + draw, ALL))
        check_same(jobs, platform, policy, params, kill=(seed + draw) % 3 > 0, limits=limits)


def check_kinds(seed):
    """One workload on nodes of two kinds, under a preset and three random policies."""
    workload, platform = pooled.with_kinds(*pooled.make(seed), seed)
    name = sorted(naive.PRESETS)[seed % len(naive.PRESETS)]
    check_same(workload, platform, name, naive.PRESETS[name])
    for draw in range(3):
        params = pooled.policy(10 * seed + draw, math.inf)
        policy = Backfill(**pooled.policy(10 * seed + draw, ALL))
        check_same(workload, platform, policy, params, kill=(seed + draw) % 3 > 0)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_nodes_of_two_kinds_equal_naive(chunk):
    for seed in range(30_000 + chunk * CHUNK, 30_000 + (chunk + 1) * CHUNK):
        check_kinds(seed)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(1200, 1206))
def test_nodes_of_two_kinds_equal_naive_small(seed):
    check_kinds(seed)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_limits_and_cancelled_jobs_equal_naive(chunk):
    for seed in range(20_000 + chunk * CHUNK, 20_000 + (chunk + 1) * CHUNK):
        check_site(seed)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(1100, 1106))
def test_limits_and_cancelled_jobs_equal_naive_small(seed):
    check_site(seed)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_engine_equals_naive(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check_seed(seed)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(1000, 1006))
def test_engine_equals_naive_small(seed):
    check_seed(seed)


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(100))
def test_engine_equals_naive_at_length(chunk):
    """A thousand workloads more."""
    for seed in range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK):
        check_seed(seed)
