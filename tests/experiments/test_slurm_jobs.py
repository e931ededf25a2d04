"""Jobs of Slurm that end before their workers are there: replaced, and given up where that is no use."""

import os
import sys
from types import SimpleNamespace

import pytest

from forebay.errors import InputError
from forebay.experiments import sweep
from forebay.experiments.execution import cluster, slurm_jobs
from forebay.experiments.execution.slurm_jobs import TRIES, LostJobWarning, Watch
from forebay.experiments.grid import runs_of
from forebay.experiments.store import Store


class Cluster:
    """As one of dask-jobqueue: asks for what is wanted and not there."""

    def __init__(self, *names):
        self.last = 100
        self.wanted = names
        self.workers, self.scheduler_info = {}, {"workers": {}}
        self.loop = SimpleNamespace(add_callback=lambda work: work())
        self._correct_state()

    def _correct_state(self):
        for name in self.wanted:
            if name not in self.workers:
                self.last += 1
                self.workers[name] = SimpleNamespace(job_id=str(self.last))

    def jobs(self):
        return [job.job_id for job in self.workers.values()]

    def connect(self, name):
        self.scheduler_info["workers"][f"tcp://{name}"] = {"name": name}


@pytest.fixture
def queue(monkeypatch):
    """What Slurm's queue holds."""
    found = set()
    monkeypatch.setattr(slurm_jobs, "_queue", lambda: found)
    return found


def test_a_job_that_two_looks_miss_is_replaced(queue):
    made = Cluster("a", "b")
    watch = Watch(made)
    queue.add("101")
    watch.look()
    assert made.jobs() == ["101", "102"]  # it may just not stand in the queue yet
    with pytest.warns(LostJobWarning, match="job 102 ended before its worker was there"):
        watch.look()
    assert sorted(made.jobs()) == ["101", "103"]
    queue.add("103")
    for _ in range(3):
        watch.look()
    assert sorted(made.jobs()) == ["101", "103"]


def test_workers_that_are_there_are_left_to_dask(queue):
    made = Cluster("a")
    made.connect("a")
    for _ in range(3):
        Watch(made).look()
    assert made.jobs() == ["101"]


def test_nothing_is_done_while_slurm_does_not_answer(monkeypatch):
    monkeypatch.setattr(slurm_jobs, "_queue", lambda: None)
    made = Cluster("a")
    watch = Watch(made)
    for _ in range(3):
        watch.look()
    assert made.jobs() == ["101"]


@pytest.mark.filterwarnings("ignore::forebay.experiments.execution.slurm_jobs.LostJobWarning")
def test_jobs_that_all_end_at_once_are_given_up(queue):
    made, given_up = Cluster("a"), []
    watch = Watch(made)
    watch.give_up = lambda: given_up.append(True)
    for _ in range(2 * TRIES):
        watch.check()
        watch.look()
        if watch.hopeless:
            break
    assert given_up == [True]
    assert made.jobs() == [str(100 + TRIES)]
    with pytest.raises(InputError, match=rf"slurm-{100 + TRIES}\.out"):
        watch.check()


def test_a_queue_that_cannot_be_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert slurm_jobs._queue() is None
    (tmp_path / "squeue").write_text("#!/bin/sh\necho 7\necho 12\n")
    (tmp_path / "squeue").chmod(0o755)
    assert slurm_jobs._queue() == {"7", "12"}
    (tmp_path / "squeue").write_text("#!/bin/sh\nexit 1\n")
    assert slurm_jobs._queue() is None


SBATCH = """#!/bin/sh
number=$(($(ls {here}/jobs | wc -l) + 1))
cp "$1" {here}/jobs/$number
[ $number -gt 1 ] && PATH={path} setsid bash {here}/jobs/$number > {here}/out-$number 2>&1 < /dev/null &
echo "Submitted batch job $number"
"""
SQUEUE = """#!/bin/sh
ls {here}/jobs | grep -v '^1$'
exit 0
"""
SCANCEL = """#!/bin/sh
exit 0
"""


@pytest.mark.full
def test_a_sweep_outlives_a_job_that_was_cancelled(tmp_path, monkeypatch):
    """Dask itself, with commands in Slurm's place: the first job is cancelled before it begins, the second works."""
    pytest.importorskip("dask_jobqueue")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "bin").mkdir()
    for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)):
        path = tmp_path / "bin" / name
        path.write_text(text.format(here=tmp_path, path=os.environ["PATH"]))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setattr(slurm_jobs, "EVERY", 0.5)
    monkeypatch.chdir(tmp_path)
    runs = runs_of({"workloads": ["table1"], "policies": ["fcfs", "fcfs-bb"]})
    with (
        pytest.warns(LostJobWarning, match="job 1 ended"),
        cluster.executing(runs, None, slurm="memory=2GB,walltime=10min") as execute,
    ):
        sweep.carry_out(runs, Store(tmp_path / "out"), execute)
    assert all(run in Store(tmp_path / "out") for run in runs)
    assert len(list((tmp_path / "jobs").iterdir())) == 2
