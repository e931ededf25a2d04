"""A long queue: thousands of jobs at once, taken out from the middle, in whatever order the policy likes."""

import random

import pytest

import forebay
from cases import pooled

N = 5_000


def crowd(nodes, priorities):
    """N jobs of one second, all submitted at time 0."""
    jobs = [
        {"id": i, "submit": 0.0, "walltime": 1.0, "nodes": nodes, "priority": float(priorities[i])} for i in range(N)
    ]
    return pooled.workload(jobs)


def test_drains_in_order():
    """Ten a second, in order of arrival."""
    result = forebay.simulate(crowd(1, range(N)), pooled.platform(10), "fcfs")
    assert result.jobs["starting_time"].to_list() == [float(i // 10) for i in range(N)]


def test_drains_in_any_order():
    """Every start leaves a hole somewhere else: priorities are shuffled, so job i starts at its rank."""
    priorities = random.Random(0).sample(range(N), N)
    result = forebay.simulate(crowd(1, priorities), pooled.platform(10), "priority")
    assert result.jobs["starting_time"].to_list() == [float((N - 1 - rank) // 10) for rank in priorities]


@pytest.mark.small
def test_legs_pass_through_the_queue():
    """Jobs that come back for a second leg: the queue's table is written past its length many times over.

    One node, 30 jobs at time 0, each of two legs of 1 s that carry nothing. A job that has begun goes first, so job i
    runs from 2i to 2i + 2 without a gap.
    """
    ids = range(30)
    jobs = [{"id": i, "submit": 0.0, "walltime": 2.0, "nodes": 1} for i in ids]
    legs = [{"job": i, "leg": k, "walltime": 1.0, "nodes": 1, "carry": ""} for i in ids for k in (0, 1)]
    phases = [{"job": i, "leg": k, "seconds": 1.0} for i in ids for k in (0, 1)]
    result = forebay.simulate(pooled.workload(jobs, legs, phases), pooled.platform(1), "fcfs")
    assert result.jobs["starting_time"].to_list() == [2.0 * i for i in ids]
    assert result.jobs["finish_time"].to_list() == [2.0 * i + 2 for i in ids]
    assert result.jobs["total_wait"].to_list() == [2.0 * i for i in ids]
