"""A finished run of the slow twin against forebay's."""

import polars as pl
import pytest

import forebay
from forebay.errors import StalledError
from twins.jobs import CANCELLED, REJECTED


def ids(text):
    """The node ids of an interval set such as "0-3 7"."""
    pieces = [piece.split("-") for piece in text.split()]
    return {node for piece in pieces for node in range(int(piece[0]), int(piece[-1]) + 1)}


def close(a, b):
    """Whether two times are the same but for rounding."""
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


def compare(slow, workload, platform, policy, seed=0):
    """Every start, end, state, wait and node must agree, and the number of decisions."""
    if slow.queue:  # legs that hold what they carry can lock each other out; then both must say so
        with pytest.raises(StalledError, match=f"leaves {len(slow.queue)} job"):
            forebay.simulate(workload, platform, policy, seed, job_model=slow.job_model)
        return
    fast = forebay.simulate(workload, platform, policy, seed, job_model=slow.job_model)
    starts = fast.log.filter(pl.col("kind") == "start").select("time", "job", "leg", "amount").rows()
    assert [row[1:] for row in starts] == [(job, leg, len(nodes)) for _, job, leg, nodes in slow.starts], policy
    for (time, *_), (slow_time, job, *_) in zip(starts, slow.starts, strict=True):
        assert close(time, slow_time), (policy, job, time, slow_time)
    for row, job in zip(fast.jobs.to_dicts(), slow.jobs, strict=True):
        where = policy, slow.job_model, job.id
        assert (row["job_id"], row["final_state"]) == (job.id, job.state), where
        if job.state in (REJECTED, CANCELLED):
            assert row["starting_time"] is row["finish_time"] is row["total_wait"] is None, where
            continue
        assert close(row["starting_time"], job.start), where
        assert close(row["finish_time"], job.finish), where
        assert close(row["waiting_time"], job.start - job.submit), where
        assert close(row["total_wait"], job.waited), where
        nodes = set().union(*(nodes for _, owner, _, nodes in slow.starts if owner == job.id))
        assert ids(row["allocated_resources"]) == nodes, where
    assert fast.facts["decisions"] == len(slow.decisions), policy
