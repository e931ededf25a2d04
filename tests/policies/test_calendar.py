"""Several reservations on shared nodes: as the slow twin has them, node by node."""

import dataclasses
import math

import numpy as np
import polars as pl
import pytest

import forebay as fb
from cases.shared import failing, jobs, machine, random_outages, starts, with_windows
from forebay.platforms import Partition
from forebay.platforms.tiers import pool
from twins import inside as naive
from twins import watched
from twins.calendar import Calendar, atoms_of

POLICIES = ("conservative", "conservative-bb", "fcfs-bb:depth=2", "fcfs-bb:depth=5")


def with_buffer(platform, workload, seed):
    """The same with a burst buffer that some jobs ask for."""
    rng, n = np.random.default_rng([seed, 5]), len(workload.jobs)
    asked = np.where(rng.random(n) < 0.5, 0, rng.integers(1, 8, n))
    buffer = pool.Tier(name="burst_buffer", capacity=10)
    table = workload.jobs.with_columns(burst_buffer=pl.Series(asked))
    return (
        platform.model_copy(update={"tiers": (buffer, *platform.tiers)}),
        dataclasses.replace(workload, jobs=table),
    )


def as_twins(platform, workload, result, windows):
    """Nodes and jobs for the twin."""
    local = platform.model_copy(update={"tiers": tuple(one for one in platform.tiers if one.name == "ssd")})
    full = watched.inside(local)
    members = [watched._ids(one.nodes, platform.nodes) for one in platform.partitions]
    classes = [one.name for one in platform.classes for _ in range(one.nodes)]
    atoms = atoms_of(classes, full, [*members, *(one.nodes for one in windows)])
    nodes = [
        {"id": k, "atom": atom, "full": some, "free": some, "up": True}
        for k, (atom, some) in enumerate(zip(atoms, full, strict=True))
    ]
    rows = {row["id"]: row for row in workload.jobs.iter_rows(named=True)}
    found = []
    for one in watched.jobs_of(local, workload, result):
        row = rows[one.id]
        job = {"id": one.id, "submit": one.submit, "walltime": one.walltime, "run_time": row["run_time"]}
        job |= {"parts": one.parts, "each": one.each, "spread": one.spread, "exclusive": one.exclusive}
        job |= {"user": one.user, "allowed": {atoms[node] for node in one.nodes}, "pool": row.get("burst_buffer", 0)}
        found.append(job)
    return nodes, found


def check(seed, policy, n_jobs, windows, fails, buffer, local=False):
    """The twin's run has the same starts, on the same nodes."""
    platform, workload = with_windows(seed, n_jobs, local=local and not buffer)
    if not windows:
        platform = platform.model_copy(update={"reservations": ()})
    if buffer:
        platform, workload = with_buffer(platform, workload, seed)
    outages = random_outages(seed, platform.nodes) if fails else []
    result = fb.simulate(workload, platform, policy, failures=failing(outages) if fails else None)
    planned = watched.windows(platform)
    nodes, mine = as_twins(platform, workload, result, planned)
    feasible = [job for job in mine if naive.fits(nodes, job) and job["pool"] <= 10]
    depth = int(policy.split("=")[1]) if "=" in policy else math.inf
    reserves = policy != "conservative"
    twin = Calendar(nodes, platform.placement, depth, outages, planned, 10 if buffer else 0, reserves)
    twin.go(feasible)
    assert starts(result) == {job["id"]: job.get("first") for job in mine}
    last = {job: (start, set(had)) for job, start, _, had in watched.attempts(platform, result)}
    assert last == {job["id"]: (job["start"], set(job["places"])) for job in feasible}


@pytest.mark.small
@pytest.mark.parametrize("seed", range(32))
def test_runs_are_those_of_the_twin(seed):
    check(seed, POLICIES[seed % 4], 25, seed % 3 == 0, seed % 5 == 0, seed % 2 == 1, seed % 7 == 0)


@pytest.mark.full
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_more_runs_are_those_of_the_twin(seed, policy):
    check(seed, policy, 60, seed % 2 == 0, seed % 5 == 0, seed % 3 == 0, seed % 7 == 0)


def two_partitions():
    """60 jobs of whole nodes wait for partition `a`, and 400 of six cores for `n`."""
    classes = {"name": "a", "nodes": 4, "cores": 40}, {"name": "n", "nodes": 4, "cores": 32}
    parts = (Partition(name="pa", nodes="0-3"), Partition(name="pn", nodes="4-7"))
    wide = {"nodes": 1, "exclusive": 1, "walltime": 90_000.0, "queue": 0}
    small = {"nodes": 1, "cores": 6, "walltime": 1800.0, "queue": 1}
    rows = [wide] * 60 + [small | {"run_time": 100.0 + 7 * k % 199} for k in range(400)]
    return machine(*classes, partitions=parts), jobs(*rows, names={"queue": {0: "pa", 1: "pn"}})


@pytest.mark.parametrize("policy", [*POLICIES, "plan-2", "bbsched", "bbsched:bound=1,backfill=conservative"])
def test_jobs_of_one_partition_leave_no_node_of_another_idle(policy):
    platform, workload = two_partitions()
    waits = {}
    for name in ("fcfs-easy", policy):
        frame = fb.simulate(workload, platform, name).jobs
        waits[name] = frame.filter(frame["requested_time"] < 9000)["waiting_time"].mean()
    assert waits[policy] <= 1.1 * waits["fcfs-easy"]
