"""The engine against its slow twin where jobs move data: random machines and workloads under every preset."""

import math
from dataclasses import replace

import polars as pl
import pytest

from cases import pooled, transfers
from cases.chunks import chunks, uncompiled
from forebay.core.limits import Limits
from forebay.policies import load
from forebay.policies._limited import Limited
from twins.backfill import PRESETS, simulate
from twins.compare import compare

CHUNKS, CHUNK = 20, 10


def check_seed(seed):
    """A random run whose jobs move data."""
    check(*transfers.make(seed), *transfers.policy(seed))


def check_tied(seed):
    """A random run in which ends meet beginnings, under pinned reservations."""
    preset, params, _ = transfers.policy(seed)
    check(*transfers.tied(seed), preset, params | {"reservations": "pinned"}, "alloc-only")


def check_site(seed):
    """The same, where some jobs are withdrawn and users are under limits."""
    workload, platform = transfers.make(seed)
    limits = pooled.limits(seed) | {"run_time": math.inf} if seed % 2 else None
    check(withdrawn(workload, seed), platform, *transfers.policy(seed), limits)


def withdrawn(workload, seed):
    """A third of the jobs, after a while of the order of their run times."""
    early = pooled.with_cancels(workload, seed)
    return replace(early, jobs=early.jobs.with_columns(cancel=1000 * pl.col("cancel")))


def check(workload, platform, preset, params, model, limits=None):
    """Run both."""
    slow = simulate(workload, platform, PRESETS[preset] | params, model, limits=limits)
    policy = transfers.spec(preset, params)
    compare(slow, workload, platform, policy if limits is None else Limited(load(policy), Limits(**limits)))


@uncompiled
@pytest.mark.parametrize("seed", range(CHUNK))
def test_engine_equals_naive_io_small(seed):
    check_seed(seed)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS - 1))
def test_engine_equals_naive_io(chunk):
    for seed in range((chunk + 1) * CHUNK, (chunk + 2) * CHUNK):
        check_seed(seed)


@pytest.mark.small
@pytest.mark.parametrize("seed", [19, 28, 42])
def test_tied_runs_equal_naive_io_small(seed):
    """A node that is pinned to a job is closed, in each of these, to another that would end as that begins."""
    check_tied(seed)


@pytest.mark.parametrize("chunk", chunks(2, 2 * CHUNKS))
def test_tied_runs_equal_naive_io(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check_tied(seed)


@uncompiled
@pytest.mark.parametrize("seed", range(500, 506))
def test_limits_and_cancelled_jobs_equal_naive_io_small(seed):
    check_site(seed)


@pytest.mark.parametrize("chunk", chunks(1, 10))
def test_limits_and_cancelled_jobs_equal_naive_io(chunk):
    for seed in range((50 + chunk) * CHUNK, (51 + chunk) * CHUNK):
        check_site(seed)


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(100))
def test_engine_equals_naive_io_at_length(chunk):
    """A thousand workloads more."""
    for seed in range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK):
        check_seed(seed)
