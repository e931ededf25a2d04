"""Workflows in WfFormat: tasks as jobs, who waits for whom, files as reads and writes, and what cannot be read."""

import copy
import json
import random

import pytest

import forebay as fb
from forebay.errors import InputError
from fuzz.seeds import WFFORMAT, WFFORMAT_OLD

small = pytest.mark.small


def read(document, folder):
    path = folder / "workflow.json"
    path.write_text(json.dumps(document))
    return fb.read(path)


@small
def test_both_layouts_are_read(tmp_path):
    new = read(WFFORMAT, tmp_path)
    assert new.name == "every field that is read"
    assert new.platform == "flat:nodes=2,cores=4,sharing=true"
    assert new.jobs.select("id", "submit", "run_time", "nodes", "cores", "memory").rows() == [
        (1, 0.0, 10.5, 1, 2, 2048),
        (2, 0.0, 0.0, 1, 1, 0),
        (3, 0.0, 7.0, 1, 1, 0),
    ]
    assert sorted(new.dependencies.select("job", "parent", "kind").rows()) == [
        (2, 1, "afterok"),
        (3, 1, "afterok"),
        (3, 2, "afterok"),
    ]
    assert new.phases.select("job", "kind", "seconds", "bytes").rows() == [
        (1, "compute", 10.5, 0.0),
        (1, "write", 0.0, 4096.0),
        (2, "read", 0.0, 4096.0),
        (2, "compute", 0.0, 0.0),
        (3, "read", 0.0, 4096.0),
        (3, "compute", 7.0, 0.0),
    ]
    old = read(WFFORMAT_OLD, tmp_path)
    assert old.dependencies.select("job", "parent").rows() == [(2, 1)]
    assert old.platform == "flat:nodes=1,cores=4,sharing=true"
    assert old.phases["bytes"].sum() == 5


def changed(path, value):
    """The document with another value at a path; ... takes it away."""
    document = copy.deepcopy(WFFORMAT)
    at = document
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


SPECIFICATION, EXECUTION = ("workflow", "specification"), ("workflow", "execution")


@small
@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ((*SPECIFICATION, "tasks", 1, "parents"), ["z"], "task 'b': 'parents' names 'z', which is no task"),
        (
            (*SPECIFICATION, "tasks", 0, "parents"),
            ["c"],
            "tasks wait for one another in a circle of 3: a after c after b",
        ),
        ((*SPECIFICATION, "tasks", 1, "id"), "a", "task 1 has the id 'a'; give each task an id of its own"),
        ((*SPECIFICATION, "tasks", 1, "inputFiles"), ["h"], "'inputFiles' names 'h', of which nothing is said"),
        ((*SPECIFICATION, "files", 0, "sizeInBytes"), -1, "file 0: 'sizeInBytes' is -1"),
        ((*EXECUTION, "tasks", 0, "runtimeInSeconds"), -3, "task 'a': 'runtimeInSeconds' is -3"),
        ((*EXECUTION, "tasks", 0, "runtimeInSeconds"), "long", "'runtimeInSeconds' is 'long'"),
        ((*EXECUTION, "tasks", 0), {"id": "x", "runtimeInSeconds": 1}, "task 'a' has no run time"),
        (EXECUTION, ..., "has no run time"),
        ((*SPECIFICATION, "tasks"), [], "has no tasks"),
        (("workflow",), [], "must be an object"),
    ],
)
def test_what_cannot_be_read_is_named(path, value, says, tmp_path):
    with pytest.raises(InputError, match=says):
        read(changed(path, value), tmp_path)


def workflow(n, seed):
    """A workflow of n tasks, each after up to three of the twenty before it."""
    rng = random.Random(seed)
    parents = [sorted(rng.sample(range(max(0, i - 20), i), min(i, rng.randint(0, 3)))) for i in range(n)]
    tasks = [
        {"name": f"t{i}", "id": f"t{i}", "parents": [f"t{p}" for p in parents[i]], "children": []} for i in range(n)
    ]
    runs = [
        {"id": f"t{i}", "runtimeInSeconds": rng.randint(1, 50), "coreCount": rng.choice([1, 1, 2, 4])} for i in range(n)
    ]
    machines = [{"nodeName": f"n{k}", "cpu": {"coreCount": 8}} for k in range(16)]
    execution = {"makespanInSeconds": 1, "executedAt": "2025", "tasks": runs, "machines": machines}
    shape = {"specification": {"tasks": tasks, "files": []}, "execution": execution}
    return {"name": "made", "schemaVersion": "1.5", "workflow": shape}


@pytest.mark.parametrize("n", [pytest.param(40, marks=small), 1000])
def test_no_task_starts_before_its_parents_ended(n, tmp_path):
    made = read(workflow(n, n), tmp_path)
    result = fb.simulate(made, policy="fcfs-easy")
    times = {job: ends for job, *ends in result.jobs.select("job_id", "starting_time", "finish_time").iter_rows()}
    edges = made.dependencies.select("job", "parent").rows()
    assert len(edges) > n
    assert all(times[job][0] >= times[parent][1] - 1e-9 for job, parent in edges)
    assert result.jobs["success"].sum() == n
    # Who waits for one task alone, and for no cores, starts as it ends.
    assert (result.jobs["planned_time"] >= 0).all()


@small
def test_tasks_that_tell_no_cores_share_a_node(tmp_path):
    """As those of the published instances of Pegasus do: three at once on a node of four cores, not one by one."""
    document = workflow(3, 1)
    execution = document["workflow"]["execution"]
    execution["machines"] = [{"nodeName": "n", "cpu": {"coreCount": 4}}]
    for task in document["workflow"]["specification"]["tasks"]:
        task["parents"], task["children"] = [], []
    for task in execution["tasks"]:
        del task["coreCount"]
    made = read(document, tmp_path)
    assert "3 tasks tell no cores: one each, where nodes are shared" in made.notes
    assert fb.simulate(made, policy="fcfs").jobs["starting_time"].to_list() == [0.0, 0.0, 0.0]
