"""Shared nodes under policies: as a slow twin has it, never oversubscribed, and with promises that are kept."""

import numpy as np
import pytest

import forebay as fb
from cases.shared import jobs, machine, random_case, starts
from twins import inside as naive

pytestmark = pytest.mark.small

QUEUE = ("fcfs", "filler", "fcfs-easy")
WINDOWS = ("bbsched", "cerberus-fcfs")


def as_twins(platform, workload):
    """Nodes and jobs for the twin, worked out from the tables once more."""
    classes = platform.classes
    full = [(one.cores, 1 << 60 if one.memory is None else one.memory, one.gpus) for one in classes]
    nodes = naive.make_nodes(zip((one.nodes for one in classes), full, strict=True))
    jobs, names = [], workload.names.get("gpu", {})
    for row in workload.jobs.iter_rows(named=True):
        parts = row["nodes"] or row["tasks"]
        each = tuple(-(-row.get(name, 0) // parts) for name in ("cores", "memory", "gpus"))
        allowed = {
            k
            for k, one in enumerate(classes)
            if all(a <= b for a, b in zip(each, full[k], strict=True))
            and (not each[2] or row.get("gpu", -1) < 0 or one.gpu == names[row["gpu"]])
        }
        jobs.append(
            {name: row[name] for name in ("id", "submit", "walltime", "run_time")}
            | {"parts": parts, "each": each, "allowed": allowed}
            | {"spread": row["nodes"] > 0, "exclusive": row["exclusive"] == 1}
        )
    return nodes, jobs


def nodes_of(platform, result):
    """The nodes that each job had, by its cores."""
    first = np.cumsum([0, *(one.cores for one in platform.classes for _ in range(one.nodes))])
    found = {}
    for job, text in result.jobs.select("job_id", "allocated_resources").iter_rows():
        ranges = [[int(end) for end in part.split("-")] for part in (text or "").split()]
        units = [unit for ends in ranges for unit in range(ends[0], ends[-1] + 1)]
        node, count = np.unique(np.searchsorted(first, units, side="right") - 1, return_counts=True)
        found[job] = dict(zip(node.tolist(), count.tolist(), strict=True))
    return found


@pytest.mark.parametrize("policy", QUEUE)
@pytest.mark.parametrize("seed", range(12))
def test_runs_are_those_of_the_twin(policy, seed):
    platform, workload = random_case(seed)
    nodes, jobs = as_twins(platform, workload)
    feasible = [job for job in jobs if naive.fits(nodes, job)]
    twin = naive.Run(nodes, platform.placement, policy)
    twin.go(feasible)
    result = fb.simulate(workload, platform, policy)
    assert starts(result) == {job["id"]: job.get("start") for job in jobs}
    had = nodes_of(platform, result)
    assert [set(had[job["id"]]) for job in feasible] == [set(job["places"]) for job in feasible]
    started = {job["id"]: job["start"] for job in feasible}
    assert [promise for promise in twin.promises if started[promise[0]] > promise[1]] == []


@pytest.mark.parametrize("policy", [*QUEUE, "conservative", "fcfs-bb:depth=3", "sjf-easy", "plan-2", *WINDOWS])
@pytest.mark.parametrize("seed", [100, 101])
def test_no_node_is_ever_oversubscribed(policy, seed):
    """From placements and the job table alone: in no dimension, at no time, and who is alone is alone."""
    platform, workload = random_case(seed, 40)
    _, jobs = as_twins(platform, workload)
    result = fb.simulate(workload, platform, policy)
    full = [(one.cores, one.memory or 1 << 60, one.gpus) for one in platform.classes for _ in range(one.nodes)]
    atom = [k for k, one in enumerate(platform.classes) for _ in range(one.nodes)]
    had, ends = nodes_of(platform, result), dict(result.jobs.select("job_id", "finish_time").iter_rows())
    began = starts(result)
    ran = [job for job in jobs if began[job["id"]] is not None]
    assert ran
    for job in ran:
        parts = {node: cores // job["each"][0] for node, cores in had[job["id"]].items()}
        assert set(map(atom.__getitem__, parts)) <= job["allowed"]
        if job["exclusive"]:
            assert had[job["id"]] == {node: full[node][0] for node in parts}
        else:
            assert sum(parts.values()) == job["parts"]
            assert not job["spread"] or set(parts.values()) == {1}
        job["had"] = {
            node: full[node] if job["exclusive"] else tuple(count * need for need in job["each"])
            for node, count in parts.items()
        }
    for time in sorted({began[job["id"]] for job in ran}):
        used = np.zeros((len(full), 3), object)
        for job in ran:
            if began[job["id"]] <= time < ends[job["id"]]:
                for node, amounts in job["had"].items():
                    used[node] += np.array(amounts, object)
        assert (used <= np.array(full, object)).all()


@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "sjf-easy"])
@pytest.mark.parametrize("seed", range(200, 206))
def test_what_is_noted_between_decisions_changes_nothing(policy, seed):
    """A number of jobs that may pass, as large as can be, has each decision look at everything anew."""
    platform, workload = random_case(seed, 80)
    hashes = {
        fb.simulate(workload, platform, name).facts["log_sha256"] for name in (policy, f"{policy}:max_backfill=999")
    }
    assert len(hashes) == 1


@pytest.mark.parametrize("policy", ["fcfs-easy", "conservative", "fcfs-bb:depth=3", "slurm:bf_interval=1s"])
def test_the_first_that_waits_is_not_delayed(policy):
    """Job 3 needs a whole node, and job 1 leaves one at 10 s.

    Job 4 needs a core for long. Best fit would put it beside job 1, where it would keep job 3 waiting until 20 s,
    though enough cores are free in all.
    """
    rows = ({"cores": 3}, {"cores": 2, "walltime": 20.0}, {"cores": 4}, {"cores": 1, "walltime": 100.0})
    result = fb.simulate(jobs(*rows), machine({"nodes": 2, "cores": 4}), policy)
    assert starts(result) == {1: 0.0, 2: 0.0, 3: 10.0, 4: 0.0}


def test_pinned_reservations_are_refused():
    """They would pin whole nodes."""
    platform, workload = random_case(0, 5)
    with pytest.raises(fb.errors.InputError, match="reservations is 'pinned', but this machine shares its nodes"):
        fb.simulate(workload, platform, "fcfs-bb:reservations=pinned")


def test_failures_are_refused():
    platform, workload = random_case(0, 5)
    with pytest.raises(fb.errors.InputError, match="shares its nodes, whose failures are not modelled"):
        fb.simulate(workload, platform, "fcfs", failures="mtbf=1h,downtime=1h")


def test_an_idle_machine_of_one_node():
    """The smallest of all."""
    workload = random_case(0, 1)[1]
    result = fb.simulate(workload, machine({"nodes": 9, "cores": 64, "gpus": 8, "gpu": "a"}), "fcfs-easy")
    assert starts(result) == {1: workload.jobs["submit"][0]}
