"""The agent on a real Slurm: it orders, and what it leaves behind when it is killed is undone."""

import json
import os
import subprocess
import time

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
    command = ["forebay", "slurm", "agent", str(folder), "--even-as-root", *more]
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
