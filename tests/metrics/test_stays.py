"""Which nodes a job had when, from the log and the placements."""

import numpy as np
import polars as pl
import pytest

import forebay
from cases import pooled, transfers
from forebay.metrics import stays

pytestmark = pytest.mark.small


def run(jobs, legs, phases, nodes=4):
    return forebay.simulate(pooled.workload(jobs, legs, phases), pooled.platform(nodes, 10), "filler")


def test_rigid_jobs():
    jobs = [
        {"id": 1, "submit": 0.0, "walltime": 5.0, "nodes": 3},
        {"id": 2, "submit": 1.0, "walltime": 2.0, "nodes": 1},
    ]
    result = forebay.simulate(pooled.workload(jobs), pooled.platform(4), "filler")
    assert stays(result).rows() == [(1, 0, 2, 0, 5), (2, 3, 3, 1, 3)]


def test_a_leg_without_nodes_between_two_with_some():
    """Nodes 0-1 from 0 to 2; none until 5; then 0-2, since nobody else is there. Drawn as 0 to 5 before."""
    jobs = [{"id": 1, "submit": 0.0, "walltime": 9.0, "nodes": 3}]
    legs = [
        {"job": 1, "leg": k, "walltime": 5.0, "nodes": n, "carry": "", "burst_buffer": 0}
        for k, n in enumerate((2, 0, 3))
    ]
    phases = [{"job": 1, "leg": k, "seconds": s} for k, s in enumerate((2.0, 3.0, 1.0))]
    assert stays(run(jobs, legs, phases)).rows() == [(1, 0, 1, 0, 2), (1, 0, 2, 5, 6)]


def test_nodes_given_back_early_and_nodes_carried_on():
    """4 nodes at 0; 1 back after 2 s, the last taken first; 2 of the 3 carried to the next leg, which ends at 9."""
    jobs = [{"id": 1, "submit": 0.0, "walltime": 9.0, "nodes": 4}]
    legs = [
        {"job": 1, "leg": 0, "walltime": 9.0, "nodes": 4, "carry": "", "burst_buffer": 0},
        {"job": 1, "leg": 1, "walltime": 9.0, "nodes": 2, "carry": "nodes", "burst_buffer": 0},
    ]
    phases = [
        {"job": 1, "leg": 0, "seconds": 2.0, "release": "nodes=1"},
        {"job": 1, "leg": 0, "seconds": 4.0},
        {"job": 1, "leg": 1, "seconds": 3.0},
    ]
    assert stays(run(jobs, legs, phases)).rows() == [(1, 3, 3, 0, 2), (1, 2, 2, 0, 6), (1, 0, 1, 0, 9)]


def usage(rows, times):
    """Nodes in use just after each time."""
    return [sum(last - first + 1 for _, first, last, start, end in rows if start <= t < end) for t in times]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("make", [pooled.make, transfers.make])
def test_they_agree_with_the_log_and_with_one_another(seed, make):
    """As many nodes as the log counts, nobody on another's node, and no other nodes than the job table names."""
    policy = "filler" if seed % 2 else "fcfs-bb:reservations=pinned"
    try:
        result = forebay.simulate(*make(seed), policy)
    except forebay.ForebayError:  # jobs that carry nodes may lock one another out
        pytest.skip("the run stalls")
    rows = stays(result).filter(pl.col("end") > pl.col("start")).rows()
    log = result.log.filter(pl.col("resource") == "nodes", pl.col("kind").is_in(["start", "acquire", "end", "release"]))
    sign = np.where(log["kind"].is_in(["end", "release"]), -1, 1)
    times = np.unique(log["time"].to_numpy())
    held = [int((sign * log["amount"].to_numpy())[log["time"].to_numpy() <= t].sum()) for t in times]
    assert usage(rows, times) == held
    for i, (_, first, last, start, end) in enumerate(rows):
        for _, low, high, since, until in rows[:i]:
            assert last < low or high < first or end <= since or until <= start
    named = dict(result.jobs.select("job_id", "allocated_resources").rows())
    found = {}
    for job, first, last, *_ in stays(result).rows():
        found.setdefault(job, set()).update(range(first, last + 1))
    assert {job: _ids(text) for job, text in named.items() if text} == found


def _ids(text):
    pieces = [piece.partition("-") for piece in text.split()]
    return {node for low, dash, high in pieces for node in range(int(low), int(high if dash else low) + 1)}


class Picks:
    """Starts every leg on the lowest idle nodes, named one by one."""

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job, nodes=view.idle_nodes[: view.demand(job)[0]].tolist())


def test_nodes_picked_beside_those_carried_on():
    """Leg 0 has node 0 and leg 1 keeps it; node 1, picked then, joins the same piece and is told all the same."""
    jobs = [{"id": 1, "submit": 0.0, "walltime": 9.0, "nodes": 2}]
    row = {"job": 1, "walltime": 5.0, "burst_buffer": 0}
    legs = [row | {"leg": 0, "nodes": 1, "carry": ""}, row | {"leg": 1, "nodes": 2, "carry": "nodes"}]
    phases = [{"job": 1, "leg": 0, "seconds": 2.0}, {"job": 1, "leg": 1, "seconds": 3.0}]
    result = forebay.simulate(pooled.workload(jobs, legs, phases), pooled.platform(4, 10), Picks())
    assert stays(result).rows() == [(1, 0, 0, 0, 5), (1, 1, 1, 2, 5)]
    assert result.jobs["allocated_resources"].to_list() == ["0-1"]
