"""Room on shared nodes: each piece of a wait against a slow machine that looks at nodes one by one."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from cases.classes import make
from cases.shared import jobs, machine
from forebay import explain
from forebay.platforms import Partition

GB = 10**9
CASES = [made for made in map(make, range(150)) if made and made[1].sharing]


def places_of(twin, job, text):
    """What a job had of each node, from the ids of its cores."""
    first = np.cumsum([0, *(node.has[0] for node in twin.nodes)])
    had = {}
    for interval in text.split():
        low, _, high = interval.partition("-")
        for core in range(int(low), int(high or low) + 1):
            node = int(np.searchsorted(first, core, side="right")) - 1
            had[node] = had.get(node, 0) + 1
    if job.exclusive:
        return {node: twin.nodes[node].has for node in had}
    return {node: tuple(cores // job.part[0] * want for want in job.part) for node, cores in had.items()}


def check(result, twin, asked):
    """The pieces of all waits: they add up, and name a lack of room exactly where there is none."""
    by_id, why = {job.id: job for job in asked}, explain.reasons(result)
    columns = ("job_id", "starting_time", "finish_time", "allocated_resources")
    ran = [
        (start, end, places_of(twin, by_id[job], text))
        for job, start, end, text in result.jobs.select(columns).iter_rows()
        if start is not None
    ]
    waits = dict(why.group_by("job_id").agg(pl.col("seconds").sum()).rows())
    for job, wait in result.jobs.select("job_id", "total_wait").iter_rows():
        assert waits.get(job, 0.0) == pytest.approx(wait or 0.0)
    for row in why.rows(named=True):
        for time in (row["start"], (row["start"] + row["end"]) / 2):
            free = twin.all_free()
            for start, end, places in ran:
                if start <= time < end:
                    free = twin.without(free, places)
            fits = twin.place(free, by_id[row["job_id"]]) is not None
            assert fits == (row["reason"] != "nodes"), (row, time)
            assert (row["missing"] is None) == fits
    return why


@pytest.mark.small
@pytest.mark.parametrize("policy", ["fcfs", "fcfs-easy", "filler"])
@pytest.mark.parametrize("part", range(4))
def test_what_is_short_is_short_and_what_would_fit_would_fit(policy, part):
    """On random machines with classes, partitions, features, GPUs and memory, at the beginning and in the middle."""
    apart = 0
    for workload, platform, twin, asked in CASES[part::4]:
        why = check(fb.simulate(workload, platform, policy), twin, asked)
        if policy == "filler":  # it starts whatever fits
            assert set(why["reason"]) <= {"nodes"}
        apart += why.filter(pl.col("detail").str.contains(" free: | free \\(|room for tasks|idle nodes")).height
    assert apart > 0


def told(rows, *classes, names=None, **more):
    """Details by job, under a policy that starts whatever fits."""
    result = fb.simulate(jobs(*rows, names=names), machine(*classes, **more), "filler")
    return dict(explain.reasons(result).select("job_id", "detail").iter_rows())


@pytest.mark.small
def test_cores_that_lie_apart():
    """Jobs 1 and 2 have 3 of 4 cores on each node: job 3 lacks cores, and job 4 has 2 that are not on one node."""
    rows = ({"cores": 3}, {"cores": 3}, {"cores": 4}, {"cores": 2})
    assert told(rows, {"nodes": 2, "cores": 4}) == {
        3: "cores: 2 of 4 are free; job 1 holds 3 until 10 s",
        4: "nodes with 2 cores free: 0 of 1; job 1 is there until 10 s",
    }


@pytest.mark.small
def test_memory_that_lies_apart():
    """Each of two nodes has 3 cores and 3 of 8 GB left: 4 GB of one node are not there, though its core is."""
    rows = ({"cores": 1, "memory": 5 * GB}, {"cores": 1, "memory": 5 * GB}, {"cores": 1, "memory": 4 * GB})
    assert told(rows, {"nodes": 2, "cores": 4, "memory": "8 GB"}) == {
        3: "nodes with 1 core and 4 GB free: 0 of 1 (memory is short there); job 1 is there until 10 s"
    }


@pytest.mark.small
def test_memory_in_all():
    rows = ({"cores": 1, "memory": 6 * GB}, {"cores": 1, "memory": 5 * GB})
    assert told(rows, {"nodes": 1, "cores": 4, "memory": "8 GB"}) == {
        2: "memory: 2 GB of 5 GB are free; job 1 holds 6 GB until 10 s"
    }


@pytest.mark.small
def test_gpus_by_type():
    """Of two types, one a node: job 2 wants that of job 1, job 4 any, and 1 and 3 have both. Then 2 is in 4's way."""
    classes = ({"name": "g", "nodes": 1, "cores": 4, "gpus": 1, "gpu": "a"},
               {"name": "h", "nodes": 1, "cores": 4, "gpus": 1, "gpu": "b"})  # fmt: skip
    rows = ({"cores": 1, "gpus": 1, "gpu": 0}, {"cores": 1, "gpus": 1, "gpu": 0, "walltime": 5.0},
            {"cores": 1, "gpus": 1, "gpu": 1, "walltime": 20.0}, {"cores": 1, "gpus": 1, "walltime": 5.0})  # fmt: skip
    assert told(rows, *classes, names={"gpu": {0: "a", 1: "b"}}) == {
        2: "GPUs of type a: 0 of 1 are free; job 1 holds 1 until 10 s",
        4: "GPUs: 0 of 1 are free; job 1 holds 1 until 10 s",
    }


@pytest.mark.small
def test_a_constraint_and_a_partition():
    """Class x has the feature, partition p class y alone: cores elsewhere are of no use."""
    classes = ({"name": "x", "nodes": 1, "cores": 4, "features": ("ib",)}, {"name": "y", "nodes": 1, "cores": 4})
    parts = (Partition(name="all", nodes="all", default=True), Partition(name="p", classes=("y",)))
    usual = {"features": -1, "queue": -1}
    rows = [usual | row for row in ({"cores": 3, "features": 0}, {"cores": 2, "features": 0}, {"cores": 4, "queue": 0},
                                    {"cores": 1, "queue": 0, "walltime": 30.0})]  # fmt: skip
    found = told(rows, *classes, names={"features": {0: "ib"}, "queue": {0: "p"}}, partitions=parts)
    assert found == {
        2: "cores on nodes with ib (--constraint=ib): 1 of 2 are free; job 1 holds 3 until 10 s",
        4: "cores on nodes of partition p: 0 of 1 are free; job 3 holds 4 until 10 s",
    }


@pytest.mark.small
def test_whole_nodes_and_tasks():
    """Job 1 has a core of each node: job 2 wants both nodes alone, job 3 nine cores; 2 starts first."""
    rows = ({"cores": 2, "nodes": 2}, {"nodes": 2, "exclusive": 1},
            {"cores": 9, "nodes": 0, "tasks": 9, "submit": 1.0})  # fmt: skip
    found = told(rows, {"nodes": 2, "cores": 5})
    assert found[2] == "idle nodes: 0 of 2; job 1 is there until 10 s"
    assert found[3] == "cores: 0 of 9 are free; job 2 holds 10 until 20 s"


@pytest.mark.small
def test_tasks_that_find_no_room():
    """Each of two nodes has 4 of 5 cores left, then 3: a task of 4 finds room in the first case alone."""
    assert told(({"cores": 2, "nodes": 2}, {"cores": 8, "nodes": 0, "tasks": 2}), {"nodes": 2, "cores": 5}) == {}
    assert told(({"cores": 4, "nodes": 2}, {"cores": 4, "nodes": 0, "tasks": 1}), {"nodes": 2, "cores": 5}) == {
        2: "room for tasks of 4 cores: 0 of 1; job 1 is there until 10 s"
    }


@pytest.mark.small
def test_nodes_large_enough():
    """Two classes: 10 GB a node is only in b, which job 1 has."""
    classes = (
        {"name": "a", "nodes": 2, "cores": 4, "memory": "8 GB"},
        {"name": "b", "nodes": 1, "cores": 4, "memory": "16 GB"},
    )
    rows = ({"cores": 1, "memory": 9 * GB}, {"cores": 1, "memory": 10 * GB})
    assert told(rows, *classes) == {
        2: "memory on nodes with 10 GB or more: 7 GB of 10 GB are free; job 1 holds 9 GB until 10 s"
    }
