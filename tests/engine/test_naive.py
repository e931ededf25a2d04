"""The engine against its slow twin: random workloads under every preset and under random parameters of the family."""

import math
from dataclasses import replace

import polars as pl
import pytest

from cases import pooled
from cases.chunks import chunks, uncompiled
from forebay.core.limits import Limits
from forebay.policies import load
from forebay.policies._families.backfill import Backfill
from forebay.policies._limited import Limited
from forebay.policies._orders import ALL
from twins.backfill import PRESETS, simulate
from twins.compare import compare

CHUNKS, CHUNK = 20, 10


def check_same(workload, platform, policy, params, kill=True, limits=None):
    """Run both, with the twin's parameters."""
    slow = simulate(workload, platform, params, f"alloc-only:kill={str(kill).lower()}", limits=limits)
    compare(slow, workload, platform, policy if limits is None else Limited(load(policy), Limits(**limits)))


def check_seed(seed):
    """One workload under two presets and three random policies, with and without kills."""
    workload, platform = pooled.make(seed)
    names = sorted(PRESETS)
    for name in (names[seed % len(names)], names[seed * 5 % len(names) - 4]):
        check_same(workload, platform, name, PRESETS[name], kill=seed % 3 > 0)
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
    name = sorted(PRESETS)[seed % len(PRESETS)]
    check_same(workload, platform, name, PRESETS[name])
    for draw in range(3):
        params = pooled.policy(10 * seed + draw, math.inf)
        policy = Backfill(**pooled.policy(10 * seed + draw, ALL))
        check_same(workload, platform, policy, params, kill=(seed + draw) % 3 > 0)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_nodes_of_two_kinds_equal_naive(chunk):
    for seed in range(30_000 + chunk * CHUNK, 30_000 + (chunk + 1) * CHUNK):
        check_kinds(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(1200, 1206))
def test_nodes_of_two_kinds_equal_naive_small(seed):
    check_kinds(seed)


def check_classes(seed):
    """One workload on nodes that classes and partitions divide, under a preset and three random policies."""
    workload, platform = pooled.with_classes(*pooled.make(seed), seed)
    name = sorted(PRESETS)[seed % len(PRESETS)]
    check_same(workload, platform, name, PRESETS[name])
    for draw in range(3):
        params = pooled.policy(10 * seed + draw, math.inf)
        policy = Backfill(**pooled.policy(10 * seed + draw, ALL))
        check_same(workload, platform, policy, params, kill=(seed + draw) % 3 > 0)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_classes_and_partitions_equal_naive(chunk):
    for seed in range(40_000 + chunk * CHUNK, 40_000 + (chunk + 1) * CHUNK):
        check_classes(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(1300, 1306))
def test_classes_and_partitions_equal_naive_small(seed):
    check_classes(seed)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_limits_and_cancelled_jobs_equal_naive(chunk):
    for seed in range(20_000 + chunk * CHUNK, 20_000 + (chunk + 1) * CHUNK):
        check_site(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(1100, 1106))
def test_limits_and_cancelled_jobs_equal_naive_small(seed):
    check_site(seed)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_engine_equals_naive(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check_seed(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(1000, 1006))
def test_engine_equals_naive_small(seed):
    check_seed(seed)


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(100))
def test_engine_equals_naive_at_length(chunk):
    """A thousand workloads more."""
    for seed in range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK):
        check_seed(seed)
