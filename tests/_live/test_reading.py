"""What Slurm prints of jobs and machines, in the shapes of several releases, as a snapshot."""

import json
import math

import pytest

import forebay as fb
from forebay._live.commands import Slurm, SlurmError
from forebay._live.jobs import from_json, from_text, tasks_of
from forebay._live.site import site_of
from forebay._live.snapshot import moment_of
from forebay.slurm.sources import scontrol

NOW = 1_800_000_000
CONFIG = """Configuration data as of 2027-01-15T08:00:00
ClusterName = brook
SelectType = select/cons_tres
SelectTypeParameters = CR_CPU
Licenses = bb:10
SchedulerParameters = bf_interval=5,bf_licenses
PriorityType = priority/basic
"""
NODES = "".join(
    f"NodeName=n{i} CPUAlloc=0 CPUEfctv=1 CPUTot=1 RealMemory=1000 Sockets=1 CoresPerSocket=1 ThreadsPerCore=1 "
    f"State={state} Partitions=main\n"
    for i, state in enumerate(("ALLOCATED", "ALLOCATED", "IDLE", "IDLE+DRAIN"))
)
PARTITIONS = "PartitionName=main Default=YES MaxTime=UNLIMITED Nodes=n[0-3] State=UP TotalCPUs=4 TotalNodes=4\n"
RESERVED = (
    "ReservationName=serv StartTime=2027-01-15T09:00:00 EndTime=2027-01-15T10:00:00 Nodes=n0 Flags=MAINT Users=root\n"
)
JOB = {"user_name": "ann", "partition": "main", "cpus": 1, "node_count": 1, "submit_time": NOW - 100, "time_limit": 10}


def _site(nodes=NODES):
    from pathlib import Path

    shown = [scontrol.read(text, Path("x")) for text in (nodes, PARTITIONS, RESERVED)]
    return site_of([scontrol.read_config(CONFIG, Path("config")), *shown])


def _set(value):
    """As releases from 23.11 on have numbers."""
    return {"set": True, "infinite": False, "number": value}


JOBS = [
    {"job_id": 1, "job_state": "RUNNING", "start_time": NOW - 90, "licenses": "bb:4", "priority": 9},
    {"job_id": 2, "job_state": "PENDING", "priority": 8, "licenses": "bb:8", "state_reason": "Licenses"},
    {"job_id": 3, "job_state": "PENDING", "priority": 0, "state_reason": "JobHeldUser"},
    {"job_id": 4, "job_state": "PENDING", "priority": 7, "eligible_time": NOW + 3600, "state_reason": "BeginTime"},
    {"job_id": 5, "job_state": "PENDING", "priority": 6, "dependency": "afterok:1(unfulfilled),afterany:77"},
    {"job_id": 6, "job_state": "PENDING", "priority": 5, "array_job_id": 6, "array_task_string": "2-4:2,9%2"},
    {"job_id": 7, "job_state": "COMPLETED", "start_time": NOW - 90, "end_time": NOW - 50, "priority": 4},
    {"job_id": 8, "job_state": "PENDING", "priority": 3, "node_count": 4},
    {"job_id": 10, "job_state": "PENDING", "priority": 2, "dependency": "afterany:8(unfulfilled)"},
]


def _newer(job):
    """The same as a newer release prints it."""
    numbers = {key: _set(value) for key, value in job.items() if isinstance(value, int) and key != "job_id"}
    return job | numbers | {"job_state": [job["job_state"]]}


def test_all_releases_say_the_same():
    older = from_json(json.dumps({"jobs": [JOB | job for job in JOBS]}))
    assert from_json(json.dumps({"jobs": [_newer(JOB | job) for job in JOBS]})) == older
    text = from_text(
        "JobId=2 JobName=a UserId=ann(7) Priority=8 JobState=PENDING Reason=Licenses Partition=main "
        "NumNodes=1-1 NumCPUs=1 TimeLimit=00:10:00 SubmitTime=2027-01-15T07:58:20 Licenses=bb:8 OverSubscribe=OK\n"
        "JobId=3 JobName=b TimeLimit=UNLIMITED NumNodes=2 ArrayJobId=3 ArrayTaskId=1-2%1 JobState=PENDING\n"
    )
    assert (text[0].licences, text[0].submit, text[0].walltime) == ({"bb": 8}, NOW - 100, 600)
    assert (text[1].walltime, text[1].tasks, text[1].nodes) == (math.inf, "1-2%1", 2)


def test_a_snapshot_of_all_that_waits():
    found = moment_of(_site(), from_json(json.dumps({"jobs": [JOB | job for job in JOBS]})), NOW)
    rows = {name: next(row for row in found.document["jobs"] if row["id"] == n) for name, n in found.ids.items()}
    assert list(rows) == ["1", "2", "3", "4", "5", "6_2", "6_4", "6_9", "7", "8", "10"]
    assert rows["2"]["bb"] == 8
    assert [name for name, row in rows.items() if row.get("held")] == [
        "3",
        "8",  # needs all four nodes, and one is down
        "10",  # waits for it
    ]
    assert rows["4"]["begin"] == NOW + 3600
    assert rows["7"]["end"] == NOW - 50
    assert found.document["after"] == [
        {"job": 5, "parent": 1, "kind": "afterok"},
        {"job": 10, "parent": 8, "kind": "afterany"},
    ]
    assert found.document["down"] == [{"nodes": "n3"}]
    assert found.document["reservations"][0]["start"] == NOW + 3600
    assert any("needs nodes that are down" in note for note in found.notes)
    answer = fb.predict(found.document, policy="fcfs-bb", futures=4, calibration=0)
    # Job 2 needs 8 of 10 licences, of which job 1 holds 4 until its limit, 510 s from now.
    assert answer.table.filter(job_id=2)["slurm"].to_list() == [510.0]


@pytest.mark.parametrize("text", ['{"jobs": [{"job_id"', "[]", '{"jobs": 5}', "", '{"jobs": [7]}'])
def test_json_that_is_broken_off(text):
    with pytest.raises(fb.ForebayError, match="squeue --json"):
        from_json(text)


def test_tasks_of_arrays():
    assert list(tasks_of("1-3,7,10-20:5%4", 100)) == [1, 2, 3, 7, 10, 15, 20]
    assert list(tasks_of("0-4000000000", 3)) == [0, 1, 2]
    assert list(tasks_of("x-y", 3)) == []


def test_a_slurm_that_is_absent_late_or_refuses(tmp_path):
    def program(name, text):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
        return str(tmp_path / name)

    with pytest.raises(SlurmError, match="there is no command squeue-that-is-not"):
        Slurm().ask("squeue-that-is-not")
    with pytest.raises(SlurmError, match="did not answer in"):
        Slurm(limit=0.2).ask(program("late", "exec sleep 5"))
    with pytest.raises(SlurmError, match="AdminLevel=Operator"):
        Slurm().ask(program("no", "echo 'update_job error: Access/permission denied' >&2; exit 1"))
    with pytest.raises(SlurmError, match="slurmctld does not answer"):
        Slurm().ask(program("down", "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1"))
    assert Slurm(more={"X": "1"}).ask(program("env", "echo $TZ $LC_ALL $X")).split() == ["UTC", "C", "1"]
