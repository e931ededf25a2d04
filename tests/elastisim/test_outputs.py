"""ElastiSim's tables: their rows, and which can be had."""

from dataclasses import replace

import pytest

from cases.elastisim import malleable, read_project, rigid, run
from forebay.elastisim import outputs
from forebay.elastisim.interface import JobState, NodeState
from forebay.errors import InputError

pytestmark = pytest.mark.small

TABLES = ("job_statistics", "node_utilization", "pfs_utilization", "task_times", "cpu_utilization")


def in_order(jobs, nodes, system):
    free = [node for node in nodes if node.state is NodeState.FREE]
    for job in jobs:
        if job.state is JobState.PENDING and len(free) >= job.num_nodes:
            job.assign(free[: job.num_nodes])
            del free[: job.num_nodes]


def lines(table, made, schedule, senses=False):
    result, policy = run(made, schedule, senses)
    return outputs.table(table, outputs.Run(made, result, policy.samples)).splitlines()


def test_statistics_of_jobs(tmp_path):
    jobs = rigid(nodes=4), rigid(nodes=1, seconds=1234567.5), rigid(submit=1 / 3, nodes=4, walltime=5)

    def schedule(jobs, nodes, system):
        in_order(jobs[:1], nodes, system)
        if system["time"] == 10:
            jobs[1].kill()
            in_order(jobs[2:], nodes, system)

    assert lines("job_statistics", read_project(tmp_path, *jobs), schedule) == [
        "ID,Type,Submit Time,Start Time,End Time,Wait Time,Makespan,Turnaround Time,Status",
        "0,rigid,0,0,10,0,10,10,completed",
        "1,rigid,0,-1,-1,-1,-1,-1,killed",  # while it waited
        "2,rigid,0.333333,10,15,9.66667,5,14.6667,killed",
    ]


def test_nodes_named_like_formulas(tmp_path):
    made = read_project(tmp_path, rigid(nodes=4))
    names = ("=1+1", "@x", "a,b", "n")
    named = replace(made, machine=replace(made.machine, names=names))
    found = lines("node_utilization", named, in_order)
    assert found[1:5] == [
        "0,'=1+1,free,none,none",
        "0,'@x,free,none,none",
        '0,"a,b",free,none,none',
        "0,n,free,none,none",
    ]


def test_nodes_that_come_and_go(tmp_path):
    """Nodes of a job that was resized expect it, to its end: so ElastiSim writes it."""

    def schedule(jobs, nodes, system):
        if system["time"] == 0:
            jobs[0].assign(nodes[:2])
        elif system["time"] == 10:
            jobs[0].assign(nodes[3])
        elif system["time"] == 20:
            jobs[0].remove(nodes[:2])

    assert lines("node_utilization", read_project(tmp_path, malleable(rounds=3)), schedule) == [
        "Time,Node,State,Running jobs,Expected jobs",
        *[f"0,n_{k},free,none,none" for k in range(4)],
        "0,n_0,allocated,0,none",
        "0,n_1,allocated,0,none",
        "10,n_3,allocated,0,0",
        "20,n_0,free,none,none",
        "20,n_1,free,none,none",
        "30,n_3,free,none,0",
    ]


def test_the_load_of_the_file_system(tmp_path):
    made = read_project(tmp_path, rigid(amount=20_000_000_000), sensing=True, sensing_interval=8)
    assert lines("pfs_utilization", made, in_order, senses=True) == [
        "Time,Read,Write,Read (rel.),Write (rel.)",
        "0,0,0,0,0",
        "8,0,0,0,0",
        "16,0,2e+09,0,1",
    ]


@pytest.fixture
def asking(tmp_path):
    """A project that asks for all these tables, and senses."""

    def asking(**more):
        told = {name: f"{name}.csv" for name in TABLES} | {"sensing": True, "sensing_interval": 1} | more
        return read_project(tmp_path, rigid(), **told)

    return asking


def test_what_the_configuration_asks_for_and_is_not_written_is_noted(asking):
    chosen, notes = outputs.choose(None, asking(), senses=True)
    assert chosen == ["job_statistics", "node_utilization", "pfs_utilization"]
    assert notes == [
        "not written: cpu_utilization, task_times (tables that are: job_statistics, node_utilization, pfs_utilization)"
    ]
    chosen, notes = outputs.choose(None, asking(), senses=False)
    assert chosen == ["job_statistics", "node_utilization"]
    assert "not written: pfs_utilization (it is sensed where an algorithm schedules, not under a policy)" in notes
    chosen, notes = outputs.choose(None, asking(sensing=False), senses=True)
    assert "not written: pfs_utilization (the configuration has no sensing, or no sensing_interval)" in notes


def test_tables_are_chosen_by_name(asking):
    assert outputs.choose("node_utilization, job_statistics", asking(), True) == (
        ["node_utilization", "job_statistics"],
        [],
    )


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ("task_times", r"--elastisim-output: not written: task_times \(tables that are: job_statistics, "),
        ("job_statistics,gpu_utilization", r"not written: gpu_utilization \(tables that are: job_statistics, "),
        ("job_statistic", "--elastisim-output: unknown table 'job_statistic'; did you mean 'job_statistics'"),
        ("pfs_utilization", r"not written: pfs_utilization \(it is sensed where an algorithm schedules"),
    ],
)
def test_tables_that_cannot_be_had_by_name(asking, asked, complaint):
    with pytest.raises(InputError, match=complaint):
        outputs.choose(asked, asking(), senses=False)
