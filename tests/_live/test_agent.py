"""The agent against a Slurm that is a table: it orders, holds nothing, and leaves things as they were."""

import json
import os
import re
import subprocess
import time
from types import SimpleNamespace

import pytest

from forebay._live.agent import guard
from forebay._live.agent.ledger import Ledger
from forebay._live.agent.running import Agent, Bounds
from forebay._live.commands import Slurm, SlurmError
from forebay.errors import InputError

CONFIG = "ClusterName = brook\nSelectType = select/linear\nPriorityType = priority/{kind}\n"
NODE = "NodeName=n0 CPUTot=1 CPUEfctv=1 RealMemory=1000 State=ALLOCATED Partitions=main\n"
PARTITION = "PartitionName=main Default=YES MaxTime=UNLIMITED Nodes=n0 State=UP TotalCPUs=1 TotalNodes=1\n"
FIRST = 4_294_901_759


class Pretended(Slurm):
    """Answers from `jobs`, and obeys `update`."""

    def __init__(self, kind="basic"):
        super().__init__()
        now = time.time()
        object.__setattr__(self, "jobs", {})
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "up", True)
        self.add(1, 100, now, user="ann", job_state="RUNNING", start_time=now - 60)
        for job, minutes in ((2, 60), (3, 30), (4, 10)):
            self.add(job, minutes, now, user="ann")

    def add(self, job, minutes, now, user, name="", **more):
        row = {"job_id": job, "job_state": "PENDING", "time_limit": minutes, "user_name": user, "node_count": 1}
        row |= {"submit_time": int(now) - 100 + job, "priority": FIRST - job, "partition": "main", "name": name}
        self.jobs[job] = row | {"site": 0} | more

    def ask(self, program, *arguments, send=None):
        if not self.up:
            raise SlurmError("slurmctld does not answer")
        if program == "squeue":
            return json.dumps({"jobs": list(self.jobs.values())})
        return {"config": CONFIG.format(kind=self.kind), "node": NODE, "partition": PARTITION}.get(arguments[-1], "")

    def tried(self, command, send=None):
        assert list(command) == ["scontrol", "-Q"]
        for line in send.splitlines():
            job, field, value = re.fullmatch(r"update jobid=(\d+) (priority|sitefactor)=(-?\d+)", line).groups()
            row = self.jobs[int(job)]
            if field == "priority":
                row["priority"] = int(value)
            else:
                row["priority"] += int(value) - row["site"]
                row["site"] = int(value)
        return subprocess.CompletedProcess(command, 0, "", "")

    def order(self):
        waiting = [row for row in self.jobs.values() if row["job_state"] == "PENDING"]
        return [row["job_id"] for row in sorted(waiting, key=lambda row: -row["priority"])]


def _agent(slurm, folder, **more):
    agent = Agent(folder, "plan-2", go=True, bounds=Bounds(**more), slurm=slurm)
    agent._guard = SimpleNamespace(poll=lambda: None, wait=lambda *_: None)  # none is started here
    return agent


@pytest.mark.parametrize("kind", ["basic", "multifactor"])
def test_it_orders_and_restores(kind, tmp_path):
    slurm = Pretended(kind)
    before = {job: row["priority"] for job, row in slurm.jobs.items()}
    agent = _agent(slurm, tmp_path)
    assert agent.round().changed == 2  # the last stands right by itself
    assert slurm.order() == [4, 3, 2]
    assert agent.round().changed == 0
    slurm.add(5, 20, time.time(), "ann")
    assert agent.round().changed == 1  # there is room between the others
    assert slurm.order() == [4, 5, 3, 2]
    said = []
    agent.end(said.append)
    assert {job: slurm.jobs[job]["priority"] for job in before} == before
    assert (said, Ledger(tmp_path).heard()) == (["restored 3"], guard.OVER)
    words = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [word["what"] for word in words] == ["order", "order", "undo"]


def test_a_dry_run_writes_nothing(tmp_path):
    slurm = Pretended()
    agent = Agent(tmp_path, "plan-2", slurm=slurm)
    assert agent.round().changed == 2
    assert slurm.order() == [2, 3, 4]
    assert not (tmp_path / "changed.json").exists()


def test_jobs_that_are_held_stay_so_and_names_mean_nothing(tmp_path):
    slurm = Pretended()
    slurm.add(
        6, 5, time.time(), "bob", name="x\nupdate jobid=2 priority=0 Priority=9", state_reason="JobHeldUser", priority=0
    )
    agent = _agent(slurm, tmp_path)
    agent.round()
    assert slurm.jobs[6]["priority"] == 0
    slurm.jobs[4] |= {"priority": 0, "state_reason": "JobHeldUser"}  # held by its user after it was moved
    agent.end(lambda text: None)
    assert [slurm.jobs[job]["priority"] for job in (2, 3, 4, 6)] == [FIRST - 2, FIRST - 3, 0, 0]


def test_no_user_loses_more_than_allowed(tmp_path):
    slurm = Pretended()
    slurm.jobs[2]["user_name"] = "bob"  # first in Slurm's order, last by walltime
    agent = _agent(slurm, tmp_path, harm=0.1)
    assert "mean wait of 'bob'" in agent.round().why_not
    assert slurm.order() == [2, 3, 4]


def test_a_full_disk_or_a_silent_slurm_changes_nothing(tmp_path, monkeypatch):
    slurm = Pretended()
    agent = _agent(slurm, tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(agent.ledger, "keep", full)
    said = []
    agent.run(0, 1, said.append)
    assert slurm.order() == [2, 3, 4]
    assert "No space left" in said[0]
    object.__setattr__(slurm, "up", False)
    agent.run(0, 1, said.append)
    assert "the guard restores" in said[-1]


def test_the_guard_restores_what_a_silent_agent_left(tmp_path, monkeypatch):
    slurm = Pretended()
    _agent(slurm, tmp_path).round()
    monkeypatch.setattr(guard, "Slurm", lambda: slurm)
    guard.watch(tmp_path, 0.1, 0.02)
    assert slurm.order() == [2, 3, 4]
    Ledger(tmp_path).beat(guard.OVER)


def test_one_agent_at_a_time(tmp_path):
    first = Ledger(tmp_path)
    first.lock()
    with pytest.raises(InputError, match="another agent runs"):
        Ledger(tmp_path).lock()
    assert os.stat(tmp_path).st_mode & 0o777
