"""Runs on slow and fast storage against their slow twin: random machines and workloads under every policy."""

import polars as pl
import pytest

import forebay
from cases import tiered
from cases.chunks import chunks, uncompiled
from twins import tiers

SMALL, CHUNKS, CHUNK = 48, 12, 9


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


def decides(free):
    """Whether the twin makes the decisions too, or only does what was decided.

    It knows plans of jobs in one leg.
    """
    return not free


def twin_of(seed, fast, twin_decides):
    """The twin's run; where it does not decide by itself, it starts jobs when and where `fast` did."""
    workload, platform = tiered.make(seed)
    name, params, free = tiered.policy(seed)
    script = None
    if not twin_decides:
        tier = dict(fast.jobs.select("job_id", "tier").rows())
        starts = fast.log.filter(pl.col("kind") == "start").select("time", "job", "leg").rows()
        script = {(job, leg): (time, tier[job]) for time, job, leg in starts}
    return tiers.simulate(workload, platform, name, params, free, seed, script)


def check_seed(seed):
    """Run both; every start, end, tier and byte must agree."""
    workload, platform = tiered.make(seed)
    name, params, free = tiered.policy(seed)
    policy, model = tiered.spec(name, params), "tiered:nodes=free" if free else "tiered"
    fast = forebay.simulate(workload, platform, policy, seed, job_model=model)
    slow = twin_of(seed, fast, decides(free))
    where = (seed, policy, model)
    assert not slow.queue, where
    starts = fast.log.filter(pl.col("kind") == "start").select("time", "job", "leg").rows()
    for ours, theirs in zip(starts, slow.starts, strict=False):
        assert (ours[1:], close(ours[0], theirs[0])) == (theirs[1:], True), (where, ours, theirs)
    assert len(starts) == len(slow.starts), where
    for row, job in zip(fast.jobs.to_dicts(), slow.jobs, strict=True):
        assert (row["job_id"], row["final_state"]) == (job.id, job.state), where
        if job.state == "REJECTED":
            assert row["starting_time"] is row["finish_time"] is row["tier"] is None, where
            continue
        assert row["tier"] == slow.levels[job.tier].name, (where, job.id)
        assert close(row["starting_time"], job.start), (where, job.id)
        assert close(row["finish_time"], job.finish), (where, job.id)
    assert fast.facts["decisions"] == len(slow.decisions), where
    links = {("nodes", v): level.name for v, level in enumerate(slow.levels)}
    links |= {("staging", v): f"{level.name} staging" for v, level in enumerate(slow.levels) if v}
    crossed = dict(fast.links.select("link", "bytes").rows())
    assert crossed == {links[link]: pytest.approx(size, rel=1e-9) for link, size in slow.carried.items()}, where


@uncompiled
@pytest.mark.parametrize("seed", range(SMALL))
def test_equals_the_twin_small(seed):
    check_seed(seed)


@pytest.mark.parametrize("chunk", chunks(1, CHUNKS))
def test_equals_the_twin(chunk):
    for seed in range(SMALL + CHUNK * chunk, SMALL + CHUNK * (chunk + 1)):
        check_seed(seed)


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(50))
def test_equals_the_twin_at_length(chunk):
    """A thousand workloads more."""
    for seed in range(10_000 + 20 * chunk, 10_000 + 20 * (chunk + 1)):
        check_seed(seed)


def test_the_twin_decides_under_every_policy():
    """With slots of both kinds, and one to three fast tiers."""
    cases = [(seed, *tiered.policy(seed)) for seed in range(SMALL + CHUNKS * CHUNK)]
    checked = [case for case in cases if decides(case[3])]
    for name in set(tiered.POLICIES):
        for slot in (None, "stay"):
            of = [seed for seed, policy, params, _ in checked if (policy, params.get("slot")) == (name, slot)]
            assert {len(tiered.make(seed)[1].tiers) for seed in of} >= {2, 3}, (name, slot)


def test_random_workloads_have_all_that_can_go_wrong():
    """Among those of CI: too large requests and jobs, no volumes, wrong statements, no room, three fast tiers."""
    made = [tiered.make(seed) for seed in range(SMALL + CHUNKS * CHUNK)]
    columns = [set(workload.jobs.columns) for workload, _ in made]
    assert any("told_input" in names and "told_data" not in names for names in columns)
    assert any({"told_input", "told_output", "told_data"} <= names for names in columns)
    assert any("told_data" not in names for names in columns)
    assert {len(platform.ways) for _, platform in made} >= {1, 2, 3, 4}
    assert any((workload.jobs["nodes"] > platform.nodes).any() for workload, platform in made)
    assert any((workload.jobs["fast"] > platform.finite.get("fast", 0)).any() for workload, platform in made)
    assert any((workload.phases.filter(pl.col("kind") != "compute")["bytes"] == 0).any() for workload, _ in made)
