"""Machines with classes, partitions and shared nodes against a slow twin that was written from the rules alone."""

import pytest

import forebay
from cases import classes
from twins.classes import Whole, simulate
from twins.compare import ids

pytestmark = pytest.mark.small

POLICIES = {"fcfs": "fcfs", "filler": "filler", "easy": "fcfs-easy"}


def _nodes_held(platform, text):
    """How many units a job has of each node, by the ids of its units."""
    owner = []
    for one in platform.classes:
        first = owner[-1] + 1 if owner else 0
        owner += (
            [first + k // one.cores for k in range(one.nodes * one.cores)]
            if platform.sharing
            else range(first, first + one.nodes)
        )
    held = {}
    for unit in ids(text):
        held[owner[unit]] = held.get(owner[unit], 0) + 1
    return held


def _check(seed):
    made = classes.make(seed)
    if made is None:
        return
    workload, platform, machine, jobs = made
    for policy, name in POLICIES.items():
        simulate(machine, jobs, policy)
        rows = {row["job_id"]: row for row in forebay.simulate(workload, platform, name).jobs.to_dicts()}
        for job in jobs:
            row = rows[job.id]
            where = f"seed {seed}, {name}, job {job.id}"
            assert row["starting_time"] == job.start, where
            held = _nodes_held(platform, row["allocated_resources"])
            if isinstance(machine, Whole):
                atoms = [node.atom for node in machine.nodes]
                found = {a: sum(atoms[n] == a for n in held) for a in {atoms[n] for n in held}}
                assert found == job.places, where
            else:
                assert held == {n: taken[0] for n, taken in job.places.items()}, where


@pytest.mark.parametrize("seed", range(60))
def test_starts_and_places_are_those_of_the_twin(seed):
    _check(seed)


@pytest.mark.full
def test_many_more():
    for seed in range(60, 1000):
        _check(seed)
