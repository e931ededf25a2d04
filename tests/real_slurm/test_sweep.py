"""A sweep whose workers are jobs of a real Slurm: two of them are cancelled, and its rows are the same as ever."""

import threading
import time

import pytest

from forebay.experiments import sweep, tidy
from forebay.experiments.execution import cluster, slurm_jobs
from forebay.experiments.execution.executor import in_processes
from forebay.experiments.execution.slurm_jobs import LostJobWarning
from forebay.experiments.grid import runs_of
from forebay.experiments.store import Store
from real_slurm.cluster import Cluster, missing

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}; see scripts/install_slurm.sh"),
]
POLICY = """
import time

class Slow:
    def decide(self, view, act):
        time.sleep(0.01)
        act.backfill()
"""


def jobs_of(slurm, state):
    """Numbers of jobs in a state, the first first."""
    return slurm.run("squeue", "-h", "-t", state, "-S", "i", "-o", "%i").split()


def cancel_two(slurm, there, cancelled):
    """Cancel a job that waits, and when some runs are done, one that runs."""
    until = time.monotonic() + 300
    while time.monotonic() < until and "PD" not in cancelled:
        if jobs_of(slurm, "PD") and jobs_of(slurm, "R"):
            cancelled["PD"] = jobs_of(slurm, "PD")[-1]
            slurm.run("scancel", cancelled["PD"])
        time.sleep(0.1)
    while time.monotonic() < until and "R" not in cancelled:
        running = jobs_of(slurm, "R")
        if running and len(there) >= 2:
            cancelled["R"] = running[0]
            slurm.run("scancel", cancelled["R"])
        time.sleep(0.1)


def test_a_sweep_outlives_jobs_that_are_cancelled(tmp_path, monkeypatch):
    pytest.importorskip("dask_jobqueue")
    pytest.importorskip("cryptography")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(slurm_jobs, "EVERY", 1.0)
    (tmp_path / "slow.py").write_text(POLICY)
    keys = {"generators": ["lublin99:jobs=100"], "platforms": ["flat:nodes=64"], "seeds": 6}
    runs = runs_of(keys | {"policies": ["fcfs-easy", "slow.py:Slow"]})
    assert len(runs) == 12
    here, there, done, cancelled = Store(tmp_path / "here"), Store(tmp_path / "there"), [], {}
    sweep.warm_up(["fcfs-easy"])
    sweep.carry_out(runs, here, in_processes(1))
    with Cluster(tmp_path / "slurm", 1, "bf_interval=1") as slurm:
        monkeypatch.setenv("SLURM_CONF", str(slurm.folder / "slurm.conf"))
        watcher = threading.Thread(target=cancel_two, args=(slurm, done, cancelled), daemon=True)
        watcher.start()
        with (
            pytest.warns(LostJobWarning, match="another is asked for"),
            cluster.executing(runs, None, slurm="memory=500MB,walltime=10min,jobs=2") as execute,
        ):
            sweep.carry_out(runs, there, execute, lambda run, *_: done.append(run))
        watcher.join()
        left = slurm.run("squeue", "-h", "-t", "PD,R").strip()  # without those that are completing
    assert set(cancelled) == {"PD", "R"}
    assert not left
    assert tidy.frame(sweep.records(runs, there)).equals(tidy.frame(sweep.records(runs, here)))
