"""Shared nodes under policies: as a slow twin has it, never oversubscribed, and with promises that are kept."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from cases.shared import failing, jobs, machine, random_case, random_outages, starts
from twins import inside as naive
from twins.watched import attempts

pytestmark = pytest.mark.small

QUEUE = ("fcfs", "filler", "fcfs-easy")
WINDOWS = ("bbsched", "cerberus-fcfs")


def atoms_of(platform):
    """Runs of nodes that are alike: how many, their class, and what a node has."""
    ssd, found = (platform.tiers or (None,))[0], []
    for node, one in enumerate(cls for cls in platform.classes for _ in range(cls.nodes)):
        local = 0 if ssd is None else ssd.large if node >= platform.nodes - (ssd.large_nodes or 0) else ssd.capacity
        full = (one.cores, 1 << 60 if one.memory is None else one.memory, one.gpus, local)
        if not found or found[-1][1:] != [one, full]:
            found.append([0, one, full])
        found[-1][0] += 1
    return found


def as_twins(platform, workload):
    """Nodes and jobs for the twin, worked out from the tables once more."""
    atoms = atoms_of(platform)
    nodes = naive.make_nodes((count, full) for count, _, full in atoms)
    jobs, names = [], workload.names.get("gpu", {})
    for row in workload.jobs.iter_rows(named=True):
        parts = row["nodes"] or row["tasks"]
        each = tuple(-(-row.get(name, 0) // parts) for name in ("cores", "memory", "gpus", "ssd"))
        allowed = {
            k
            for k, (_, one, full) in enumerate(atoms)
            if all(a <= b for a, b in zip(each, full, strict=True))
            and (not each[2] or row.get("gpu", -1) < 0 or one.gpu == names[row["gpu"]])
        }
        jobs.append(
            {name: row[name] for name in ("id", "submit", "walltime", "run_time")}
            | {"parts": parts, "each": each, "allowed": allowed}
            | {"spread": row["nodes"] > 0, "exclusive": row["exclusive"] == 1}
        )
    return nodes, jobs


def outages_of(seed, platform, fails):
    return random_outages(seed, platform.nodes) if fails else []


@pytest.mark.parametrize("policy", QUEUE)
@pytest.mark.parametrize(("local", "fails"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("seed", range(12))
def test_runs_are_those_of_the_twin(policy, local, fails, seed):
    platform, workload = random_case(seed, local=local)
    outages = outages_of(seed, platform, fails)
    nodes, jobs = as_twins(platform, workload)
    feasible = [job for job in jobs if naive.fits(nodes, job)]
    twin = naive.Run(nodes, platform.placement, policy, outages)
    twin.go(feasible)
    result = fb.simulate(workload, platform, policy, failures=failing(outages) if fails else None)
    assert starts(result) == {job["id"]: job.get("first") for job in jobs}
    last = {job: (start, set(had)) for job, start, _, had in attempts(platform, result)}
    assert last == {job["id"]: (job["start"], set(job["places"])) for job in feasible}
    started = {job["id"]: job["start"] for job in feasible}
    if not fails:
        assert [promise for promise in twin.promises if started[promise[0]] > promise[1]] == []


@pytest.mark.parametrize("policy", [*QUEUE, "conservative", "fcfs-bb:depth=3", "sjf-easy", "plan-2", *WINDOWS])
@pytest.mark.parametrize(("seed", "fails"), [(100, False), (101, False), (102, True), (103, True)])
def test_no_node_is_ever_oversubscribed(policy, seed, fails):
    """From placements and the job table alone: in no dimension, at no time, and who is alone is alone.

    Nobody runs on a node that is down.
    """
    platform, workload = random_case(seed, 40, local=True)
    outages = outages_of(seed, platform, fails)
    twins, jobs = as_twins(platform, workload)
    by_id = {job["id"]: job for job in jobs}
    result = fb.simulate(workload, platform, policy, failures=failing(outages) if fails else None)
    assert set(result.jobs["final_state"]) <= {"COMPLETED_SUCCESSFULLY", "REJECTED"}
    full = np.array([node["full"] for node in twins], object)
    ran = []
    for number, start, end, had in attempts(platform, result):
        job = by_id[number]
        parts = {node: cores // job["each"][0] for node, cores in had.items()}
        assert {twins[node]["atom"] for node in parts} <= job["allowed"]
        if job["exclusive"]:
            assert had == {node: full[node][0] for node in parts}
        else:
            assert sum(parts.values()) == job["parts"]
            assert not job["spread"] or set(parts.values()) == {1}
        ran.append((start, end, {node: _amounts(job, full[node], count) for node, count in parts.items()}))
        for node, down, up in outages:
            assert node not in parts or not (start < up and end > down)
    assert ran
    for time in {start for start, _, _ in ran}:
        used = np.zeros_like(full)
        for start, end, had in ran:
            if start <= time < end:
                for node, amounts in had.items():
                    used[node] += amounts
        assert (used <= full).all()


def _amounts(job, full, count):
    return full if job["exclusive"] else count * np.array(job["each"], object)


@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "sjf-easy"])
@pytest.mark.parametrize("seed", range(200, 212))
def test_what_is_noted_between_decisions_changes_nothing(policy, seed):
    """A number of jobs that may pass, as large as can be, has each decision look at everything anew.

    Nodes fail in every other case.
    """
    platform, workload = random_case(seed, 80, local=seed % 3 == 0)
    fails = failing(random_outages(seed, platform.nodes)) if seed % 2 else None
    hashes = {
        fb.simulate(workload, platform, name, failures=fails).facts["log_sha256"]
        for name in (policy, f"{policy}:max_backfill=999")
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


def test_a_head_that_is_back_has_its_reservation_again():
    """In another order than that of arrival, one that comes and goes takes its place for a while.

    Job 1 runs until 100 on six of eight cores. Job 2 wants all; job 3 passes it. Job 4 is shorter than job 2, wants all
    too and is withdrawn. Then job 2 is the head again, and job 5, which runs for long, may not pass it.
    """
    workload = jobs(
        {"cores": 6, "walltime": 100.0, "submit": 0.0},
        {"cores": 8, "walltime": 50.0, "submit": 1.0},
        {"cores": 1, "walltime": 60.0, "submit": 1.0},
        {"cores": 8, "walltime": 40.0, "submit": 2.0},
        {"cores": 1, "walltime": 500.0, "submit": 4.0},
    )
    table = workload.jobs.with_columns(cancel=pl.Series([np.inf, np.inf, np.inf, 1.0, np.inf]))
    result = fb.simulate(fb.Workload("by-hand", table), machine({"nodes": 1, "cores": 8}), "fcfs-easy:order=walltime")
    assert starts(result) == {1: 0.0, 2: 100.0, 3: 1.0, 4: None, 5: 150.0}


def test_pinned_reservations_are_refused():
    """They would pin whole nodes."""
    platform, workload = random_case(0, 5)
    with pytest.raises(fb.errors.InputError, match="reservations is 'pinned', but this machine shares its nodes"):
        fb.simulate(workload, platform, "fcfs-bb:reservations=pinned")


def test_an_idle_machine_of_one_node():
    """The smallest of all."""
    workload = random_case(0, 1)[1]
    result = fb.simulate(workload, machine({"nodes": 9, "cores": 64, "gpus": 8, "gpu": "a"}), "fcfs-easy")
    assert starts(result) == {1: workload.jobs["submit"][0]}
