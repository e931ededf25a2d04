"""Why jobs wait where nodes are not all alike: of the nodes where they may run, not of all."""

import polars as pl
import pytest

import forebay as fb
from cases.classes import make
from forebay import explain
from forebay.platforms import NodeClass, Partition
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

MACHINE = fb.Platform(
    name="site",
    classes=tuple(NodeClass(name=name, nodes=2) for name in "abc"),
    partitions=(
        Partition(name="wide", classes=("a", "b"), default=True),
        Partition(name="one", classes=("c",)),
        Partition(name="all", nodes="all"),
    ),
)


def told(rows, policy="fcfs"):
    """Reasons of jobs of (nodes, partition), that come one after the other and run for 10 s."""
    columns = {"id": range(1, len(rows) + 1), "submit": range(len(rows)), "nodes": [nodes for nodes, _ in rows]}
    columns |= {"walltime": [10.0] * len(rows), "run_time": [10.0] * len(rows)}
    columns["queue"] = [("wide", "one", "all").index(name) for _, name in rows]
    names = {"queue": dict(enumerate(("wide", "one", "all")))}
    result = fb.simulate(fb.Workload("by-hand", job_table(columns), names=names), MACHINE, policy)
    why = explain.reasons(result)
    waits = why.group_by("job_id").agg(pl.col("seconds").sum()).sort("job_id").rows()
    expected = result.jobs.filter(pl.col("total_wait") > 0).select("job_id", "total_wait").sort("job_id").rows()
    assert waits == expected
    return why.select("job_id", "reason", "slurm", "detail").rows()


def test_nodes_of_its_partition_are_short():
    """Nodes of c are idle, and of no use to job 2; job 3 needs one of c, which job 1 does not have."""
    assert told([(4, "wide"), (1, "wide"), (2, "one")], "filler") == [
        (2, "nodes", "Resources", "nodes of partition wide: 0 of 1 are free; job 1 holds 4 until 10 s")
    ]


def test_nodes_of_one_class_are_short():
    """Of one class, by the partition for which the job has to have it."""
    assert told([(2, "one"), (1, "one")]) == [
        (2, "nodes", "Resources", "nodes of partition one: 0 of 1 are free; job 1 holds 2 until 10 s")
    ]


def test_nodes_anywhere_are_short():
    """Who may run anywhere lacks nodes."""
    assert told([(4, "wide"), (3, "all")]) == [
        (2, "nodes", "Resources", "nodes: 2 of 3 are free; job 1 holds 4 until 10 s")
    ]


def test_pieces_add_up_and_say_what_is_short():
    """On machines of several classes and partitions: all pieces of a wait together are the wait.

    Under EASY the first that waits lacks something: never would it fit, and nobody goes before it.
    """
    cases, places = [made[:2] for made in map(make, range(120)) if made and not made[1].sharing], 0
    for workload, platform in cases:
        result = fb.simulate(workload, platform, "fcfs-easy")
        why = explain.reasons(result)
        waits = dict(why.group_by("job_id").agg(pl.col("seconds").sum()).rows())
        for job, wait in result.jobs.select("job_id", "total_wait").iter_rows():
            assert waits.get(job, 0.0) == pytest.approx(wait or 0.0)
        assert not why.filter(reason="policy").height
        places += why.filter(pl.col("detail").str.starts_with("nodes of ")).height
    assert len(cases) > 20
    assert places > 0
