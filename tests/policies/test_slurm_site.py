"""Slurm's schedulers on machines with classes, partitions and shared nodes, against a slow twin."""

import random

import pytest

import forebay as fb
from cases import classes
from twins.classes import Inside
from twins.compare import ids
from twins.slurm_site import Slurm

pytestmark = pytest.mark.small


def options(rng):
    """Random parameters, in whole seconds."""
    return {
        "default_queue_depth": rng.choice((2, 5, 100)), "sched_interval": rng.choice((20, 60)),
        "batch_sched_delay": rng.choice((0, 3, 7)), "bf_interval": rng.choice((3, 5, 30)),
        "bf_window": rng.choice((1, 1440)), "bf_resolution": rng.choice((1, 5, 10)),
        "bf_window_linear": rng.choice((0, 10)), "bf_max_job_test": rng.choice((3, 500)),
        "bf_max_job_start": rng.choice((0, 0, 1)), "bf_min_age_reserve": rng.choice((0, 0, 10)),
    }  # fmt: skip


def _owners(platform):
    """Of each unit that ids count the node that it is of."""
    if not platform.sharing:
        return list(range(platform.nodes))
    cores = [one.cores for one in platform.classes for _ in range(one.nodes)]
    return [n for n, some in enumerate(cores) for _ in range(some)]


def check(seed):
    """Whether anything was to be compared."""
    made = classes.make(seed)
    if made is None:
        return False
    workload, platform, machine, jobs = made
    params = options(random.Random(f"slurm {seed}"))
    Slurm(Inside(machine.nodes, platform.placement), jobs, platform.sharing, **params).run()
    spec = "slurm:" + ",".join(f"{key}={value}" for key, value in params.items())
    rows = {row["job_id"]: row for row in fb.simulate(workload, platform, spec).jobs.to_dicts()}
    owners = _owners(platform)
    for job in jobs:
        row, where = rows[job.id], f"seed {seed}, job {job.id}, {spec}"
        assert row["starting_time"] == job.start, where
        assert {owners[unit] for unit in ids(row["allocated_resources"])} == set(job.places), where
    return True


def test_starts_and_nodes_are_those_of_the_twin():
    assert sum(check(seed) for seed in range(40)) > 30


@pytest.mark.full
def test_many_more():
    assert sum(check(seed) for seed in range(40, 1000)) > 800
