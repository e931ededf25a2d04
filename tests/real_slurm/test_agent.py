"""The agent on a real Slurm: it orders, and what it leaves behind when it is killed is undone."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from real_slurm.cluster import Cluster, missing

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}; see scripts/install_slurm.sh"),
]


def _priorities(cluster):
    """By the name of each job that waits, in Slurm's order."""
    rows = cluster.run("squeue", "-h", "-t", "PD", "-S", "-p", "-o", "%j %Q").splitlines()
    return {name: int(priority) for name, priority in map(str.split, rows)}


def _until(true, seconds):
    begun = time.monotonic()
    while not true():
        assert time.monotonic() - begun < seconds
        time.sleep(0.2)
    return time.monotonic() - begun


def _agent(cluster, folder, *more):
    command = [Path(sys.executable).with_name("forebay"), "slurm", "agent", str(folder), "--even-as-root", *more]
    env = dict(os.environ, SLURM_CONF=str(cluster.folder / "slurm.conf"))
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_it_orders_and_is_undone_when_killed(tmp_path):
    folder = tmp_path / "agent"
    with Cluster(tmp_path / "slurm", 2, "bf_interval=2") as cluster:
        cluster.submit("first", 2, 5, 60)
        _until(lambda: not _priorities(cluster), 20)  # it runs
        for name, minutes in (("long", 30), ("middle", 10), ("short", 2)):
            cluster.submit(name, 2, minutes, 1)
        before = _priorities(cluster)
        assert list(before) == ["long", "middle", "short"]
        with _agent(cluster, folder, "--policy", "plan-2", "--go", "--every", "1", "--expiry", "4") as agent:
            _until(lambda: list(_priorities(cluster)) == ["short", "middle", "long"], 120)
            agent.kill()
            took = _until(lambda: _priorities(cluster) == before, 20)
            print(f"restored {took:.1f} s after kill -9")
        with _agent(cluster, folder, "--policy", "plan-2", "--go", "--every", "1", "--expiry", "4") as agent:
            _until(lambda: list(_priorities(cluster)) == ["short", "middle", "long"], 120)
            agent.terminate()
            agent.wait(20)
        assert _priorities(cluster) == before
        _until(lambda: len(cluster.completed()) == 4, 150)
        assert {job["JobState"] for job in cluster.completed().values()} == {"COMPLETED"}
    what = [json.loads(line)["what"] for line in (folder / "audit.jsonl").read_text().splitlines()]
    assert what == ["order", "undo", "order", "undo"]


GO = ("--policy", "plan-2", "--go", "--every", "1", "--expiry", "3")


def test_killed_at_random_moments_and_with_slurmctld_restarted(tmp_path):
    """Whenever it is killed, Slurm has its own order back, and all jobs end well."""
    rng, folder, moments = random.Random(7), tmp_path / "agent", int(os.environ.get("KILLS", "10"))
    with Cluster(tmp_path / "slurm", 2, "bf_interval=2") as cluster:
        cluster.submit("first", 2, 60, 3000)
        _until(lambda: not _priorities(cluster), 60)
        for name, minutes in (("long", 30), ("middle", 10), ("short", 2)):
            cluster.submit(name, 2, minutes, 1)
        before = _priorities(cluster)
        for kill in range(moments):
            with _agent(cluster, folder, *GO) as agent:
                if kill % 4:  # else as it begins
                    _until(lambda: _priorities(cluster) != before, 120)
                time.sleep(rng.uniform(0, 4))
                agent.kill()
            print(f"kill {kill}: ordered {_priorities(cluster) != before}", flush=True)
            took = _until(lambda: _priorities(cluster) == before, 90)
            print(f"restored after {took:.1f} s", flush=True)
            time.sleep(4)  # a guard may still be on its way to find that nothing is left to do
            assert _priorities(cluster) == before
        with _agent(cluster, folder, *GO) as agent:
            _until(lambda: list(_priorities(cluster)) == ["short", "middle", "long"], 120)
            controller = next(process for name, process in cluster._started if name == "slurmctld")
            controller.kill()
            controller.wait()
            time.sleep(5)  # longer than --expiry: the guard finds no slurmctld, and tries again
            cluster._background("slurmctld-again", "slurmctld", "-D")
            _until(lambda: len(_priorities(cluster)) == 3, 60)
            _until(lambda: list(_priorities(cluster)) == ["short", "middle", "long"], 120)
            agent.terminate()
            agent.wait(60)
        _until(lambda: _priorities(cluster) == before, 60)
        cluster.run("scancel", "-n", "first")
        _until(lambda: len(cluster.completed()) == 4, 150)
        states = {name: job["JobState"] for name, job in cluster.completed().items()}
    assert states == {"first": "CANCELLED", "long": "COMPLETED", "middle": "COMPLETED", "short": "COMPLETED"}
