"""Policies with promises of their own where nodes are not all alike: what they promise is of nodes that will do."""

import pytest

import forebay as fb
from forebay.platforms import Partition
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

NAMES = ("a", "b")
MACHINE = fb.Platform(
    name="site", nodes=4, partitions=(Partition(name="a", nodes="0-1"), Partition(name="b", nodes="2-3"))
)


def run(rows, policy):
    """Starts of jobs of (partition, nodes, walltime), one a second."""
    columns = {"id": range(1, len(rows) + 1), "submit": [float(k) for k in range(len(rows))]}
    columns |= {"queue": [NAMES.index(row[0]) for row in rows], "nodes": [row[1] for row in rows]}
    columns["walltime"] = columns["run_time"] = [float(row[2]) for row in rows]
    workload = fb.Workload("by-hand", job_table(columns), names={"queue": dict(enumerate(NAMES))})
    result = fb.simulate(workload, MACHINE, policy)
    return dict(result.jobs.select("job_id", "starting_time").iter_rows())


@pytest.mark.parametrize("policy", ["mebf", "fcfs-easy", "conservative"])
def test_idle_nodes_elsewhere_promise_nothing(policy):
    """Job 2 needs both nodes of b, of which one is free at 10 s: job 3 would delay it, and job 4 in a would not."""
    assert run([("b", 1, 10), ("b", 2, 10), ("b", 1, 50), ("a", 2, 90)], policy) == {1: 0.0, 2: 10.0, 3: 20.0, 4: 3.0}
