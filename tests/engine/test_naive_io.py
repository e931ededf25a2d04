"""The engine against its slow twin where jobs move data: random machines and workloads under every preset."""

import polars as pl
import pytest

import forebay
from cases import transfers
from forebay.errors import StalledError
from twins import run as naive
from twins import run_io

CHUNKS, CHUNK = 20, 10


def ids(text):
    """The node ids of an interval set such as "0-3 7"."""
    pieces = [piece.split("-") for piece in text.split()]
    return {node for piece in pieces for node in range(int(piece[0]), int(piece[-1]) + 1)}


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


def check_seed(seed):
    """A random run whose jobs move data."""
    check(seed, *transfers.make(seed), *transfers.policy(seed))


def check_tied(seed):
    """A random run in which ends meet beginnings, under pinned reservations."""
    preset, params, _ = transfers.policy(seed)
    check(seed, *transfers.tied(seed), preset, params | {"reservations": "pinned"}, "alloc-only")


def check(seed, workload, platform, preset, params, model):
    """Run both; every start, end, state, wait and node must agree."""
    slow = run_io.simulate(workload, platform, preset, params, model)
    policy = transfers.spec(preset, params)
    if slow.queue:  # legs that hold what they carry can lock each other out; then both must say so
        with pytest.raises(StalledError, match=f"leaves {len(slow.queue)} job"):
            forebay.simulate(workload, platform, policy, job_model=model)
        return
    fast = forebay.simulate(workload, platform, policy, job_model=model)
    starts = fast.log.filter(pl.col("kind") == "start").select("time", "job", "leg", "amount").rows()
    for ours, (time, job, leg, nodes) in zip(starts, slow.starts, strict=False):
        assert (ours[1:], close(ours[0], time)) == ((job, leg, len(nodes)), True), (seed, policy, ours, time)
    assert len(starts) == len(slow.starts), (seed, policy)
    for row, job in zip(fast.jobs.to_dicts(), slow.jobs, strict=True):
        where = (seed, policy, model, job.id)
        assert (row["job_id"], row["final_state"]) == (job.id, job.state), where
        if job.state == naive.REJECTED:
            assert row["starting_time"] is row["finish_time"] is row["total_wait"] is None, where
            continue
        assert close(row["starting_time"], job.start), where
        assert close(row["finish_time"], job.finish), where
        assert close(row["total_wait"], job.waited), where
        nodes = set().union(*(nodes for _, owner, _, nodes in slow.starts if owner == job.id))
        assert ids(row["allocated_resources"]) == nodes, where
    assert fast.facts["decisions"] == len(slow.decisions), (seed, policy)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(CHUNK))
def test_engine_equals_naive_io_small(seed):
    check_seed(seed)


@pytest.mark.parametrize("chunk", range(1, CHUNKS))
def test_engine_equals_naive_io(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check_seed(seed)


@pytest.mark.small
@pytest.mark.parametrize("seed", [19, 28, 42])
def test_tied_runs_equal_naive_io_small(seed):
    """A node that is pinned to a job is closed, in each of these, to another that would end as that begins."""
    check_tied(seed)


@pytest.mark.parametrize("chunk", range(2 * CHUNKS))
def test_tied_runs_equal_naive_io(chunk):
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check_tied(seed)


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(100))
def test_engine_equals_naive_io_at_length(chunk):
    """A thousand workloads more."""
    for seed in range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK):
        check_seed(seed)
