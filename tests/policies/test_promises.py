"""Reservations on shared nodes that are kept between decisions: they are those that a decision without memory makes."""

import numpy as np
import pytest

import forebay as fb
from cases.chunks import chunks
from cases.shared import failing, jobs, machine, random_outages, starts, with_windows
from forebay.platforms import Partition
from forebay.policies._families.backfill import Backfill
from policies.test_calendar import POLICIES, with_buffer


def forgetful(policy, state):
    """No more memory than elsewhere."""
    return policy.memory(len(state.jobs), len(state.resources))


def crowd(seed, n_jobs, n_nodes):
    """So many jobs at once, some of them on many nodes, for two classes in partitions that overlap."""
    rng = np.random.default_rng(seed)
    half = n_nodes // 2
    classes = {"name": "a", "nodes": half, "cores": 16}, {"name": "b", "nodes": n_nodes - half, "cores": 24}
    nodes = (f"0-{half - 1}", f"{half}-{n_nodes - 1}", f"0-{n_nodes - 1}")
    parts = tuple(Partition(name=f"p{k}", nodes=some) for k, some in enumerate(nodes))
    rows = []
    for _ in range(n_jobs):
        count = int(rng.integers(2, half)) if rng.random() < 0.3 else 1
        run_time = float(rng.integers(1, 400))
        row = {"nodes": count, "cores": count * int(rng.choice((1, 2, 3, 8, 11, 16))), "run_time": run_time}
        rows.append(row | {"walltime": run_time + float(rng.integers(0, 400)), "queue": int(rng.integers(3))})
    names = {"queue": {k: f"p{k}" for k in range(3)}}
    return machine(*classes, partitions=parts), jobs(*rows, names=names)


def check(monkeypatch, platform, workload, policy, failures=None):
    """Runs with and without memory have the same starts, on the same nodes."""
    runs = []
    for forgets in (False, True):
        with monkeypatch.context() as patch:
            if forgets:
                patch.setattr(Backfill, "memory_on", forgetful)
            runs.append(fb.simulate(workload, platform, policy, failures=failures))
    kept, anew = runs
    assert starts(kept) == starts(anew)
    assert kept.jobs["allocated_resources"].to_list() == anew.jobs["allocated_resources"].to_list()


@pytest.mark.small
@pytest.mark.parametrize("seed", range(5))
def test_what_is_kept_changes_nothing(monkeypatch, seed):
    platform, workload = with_windows(seed, 40)
    platform = platform.model_copy(update={"reservations": ()})
    if seed % 3 == 1:
        platform, workload = with_buffer(platform, workload, seed)
    failures = failing(random_outages(seed, platform.nodes)) if seed % 5 == 4 else None
    check(monkeypatch, platform, workload, POLICIES[seed % 4], failures)


@pytest.mark.small
@pytest.mark.parametrize(("seed", "placement"), [(1, "best-fit"), (2, "worst-fit")])
def test_nor_does_it_for_many_jobs_at_once(monkeypatch, seed, placement):
    platform, workload = crowd(seed, 90, 24)
    check(monkeypatch, platform.model_copy(update={"placement": placement}), workload, "conservative")


@pytest.mark.parametrize("placement", ["best-fit", "lowest", "worst-fit"])
@pytest.mark.parametrize("seed", chunks(1, 4))
def test_nor_does_it_in_long_lines(monkeypatch, seed, placement):
    platform, workload = crowd(seed, 600, 40)
    platform = platform.model_copy(update={"placement": placement})
    if seed == 3:
        platform, workload = with_buffer(platform, workload, seed)
    check(monkeypatch, platform, workload, POLICIES[seed % 2])
