"""`forebay sweep`: tables of every run, and the same ones however often it was stopped, or shared."""

import json
import signal
import subprocess
import time

import polars as pl
import pytest

from cli.conftest import SHELL

SPEC = """
policies = ["fcfs", "mine.py:Mine:most={most}"]
platforms = ["flat:nodes=16"]
generators = ["mygen.py:make:jobs=40"]
seeds = SEEDS
[parameters]
most = [1, 2, 3]
"""
GENERATOR = """
import forebay as fb
def make(seed, jobs: int = 5):
    return fb.workload.models.generate(f"lublin99:jobs={jobs},nodes=16,load=1.2", seed)
"""
POLICY = """
import os
class Mine:
    def __init__(self, most: int = 1):
        self.most, self.told = most, False
    def decide(self, view, act):
        if not self.told:  # a line a run
            self.told = True
            with open(os.environ["TOLD"], "a") as file:
                file.write("run\\n")
        for job in view.queue[: self.most]:
            if not act.fits(job):
                return
            act.start(job)
"""


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """A sweep of so many seeds, four runs each, with policies and jobs of one's own."""
    monkeypatch.setenv("TOLD", str(tmp_path / "told.txt"))
    (tmp_path / "mygen.py").write_text(GENERATOR)
    (tmp_path / "mine.py").write_text(POLICY)

    def write(seeds):
        (tmp_path / "s.toml").write_text(SPEC.replace("SEEDS", str(seeds)))
        return tmp_path / "s.toml"

    return write


def started(spec, folder):
    words = [*SHELL, "sweep", str(spec), "-o", str(folder), "--jobs", "1", "-q"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kept(folder):
    return len(list((folder / "runs").glob("*.json"))) if folder.exists() else 0


def killed_after(spec, folder, runs):
    """Kill it once it has kept so many more runs."""
    before = kept(folder)
    with started(spec, folder) as process:
        while kept(folder) < before + runs:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)


def same(folder, other):
    return all((folder / name).read_bytes() == (other / name).read_bytes() for name in ("sweep.csv", "sweep.parquet"))


@pytest.mark.usefixtures("runs_here")
def test_tables_hold_every_run_and_the_verdict(forebay, spec, tmp_path):
    done = forebay("sweep", spec(2), "-o", tmp_path / "out", "--jobs", 1, "--format", "json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["runs"] == {"total": 8, "found": 0, "made": 8}
    table = pl.read_parquet(tmp_path / "out" / "sweep.parquet")
    assert table.shape[0] == 8
    assert table.columns[:7] == ["workload", "platform", "job_model", "failures", "policy", "seed", "most"]
    assert pl.read_csv(tmp_path / "out" / "sweep.csv")["mean_wait"].to_list() == pytest.approx(
        table["mean_wait"].to_list()
    )
    first, second = told["combinations"][:2]
    rows = table.filter(pl.col("policy") == "mine.py:Mine:most=1").sort("seed")["mean_wait"]
    others = table.filter(pl.col("policy") == "fcfs").sort("seed")["mean_wait"]
    assert second["mean_wait"] == pytest.approx(rows.mean())
    assert second["change"] == pytest.approx(rows.mean() / others.mean() - 1)
    assert second["low"] < second["change"] < second["high"]
    assert second["verdict"] in ("better", "worse", "undecided")
    assert (first["reference"], first["verdict"], first["change"]) == ("fcfs", None, None)
    verdicts = pl.read_csv(tmp_path / "out" / "verdicts.csv")
    row = verdicts.row(0, named=True)
    assert (row["policy"], row["metric"], row["most"]) == ("mine.py:Mine:most=1", "mean_wait", 1)
    assert [row[key] for key in ("change", "low", "high")] == pytest.approx(
        [second[key] for key in ("change", "low", "high")]
    )
    assert verdicts["reference"].unique().to_list() == ["fcfs"]
    again = forebay("sweep", tmp_path / "s.toml", "-o", tmp_path / "out")
    assert "8 runs, 8 of them found there" in again.out
    assert "fcfs; change of the mean wait against it, 95 % interval over 2 seeds" in again.out
    other = forebay(
        *("sweep", tmp_path / "s.toml", "-o", tmp_path / "out", "--reference", "mine.py:Mine:most=2"),
        *("--fail-if", "mean_wait > 1s", "--fail-if", "mean_wait < -99%"),
    )
    assert other.code == 1
    assert "mean_wait > 1s: mygen.py:make:jobs=40 | flat:nodes=16 | fcfs has " in other.err
    assert "-99%" not in other.err
    assert "mine.py:Mine:most=2; change" in other.out
    wrong = forebay("sweep", tmp_path / "s.toml", "-o", tmp_path / "out", "--reference", "mine.py:Mine:most=4")
    assert wrong.code == 2
    assert "reference: 'mine.py:Mine:most=4' is none of the policies: did you mean" in wrong.err


@pytest.mark.usefixtures("runs_here")
def test_what_fails_is_told_and_the_others_stand(forebay, spec, tmp_path):
    path = spec(1)
    (tmp_path / "mine.py").write_text(POLICY.replace("if not self.told:", "if self.most == 2: 1 / 0\n        if True:"))
    done = forebay("sweep", path, "-o", tmp_path / "out", "--jobs", 1)
    assert done.code == 3
    assert "1 of 4 runs failed; the other 3 are kept" in done.err
    assert "mine.py:Mine:most=2 | seed 0" in done.err
    assert pl.read_csv(tmp_path / "out" / "sweep.csv").shape[0] == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--dask", "tcp://127.0.0.1:9", "--slurm", "jobs=1"], "name two clusters"),
        (["--slurm", "cores=x"], "cores=x is not a whole number"),
        (["--slurm", "quue=a"], "unknown key 'quue': did you mean 'queue'"),
        (["--slurm", "walltime=soon"], "walltime: "),
    ],
)
def test_bad_options_write_nothing(forebay, spec, tmp_path, words, says):
    done = forebay("sweep", spec(1), "-o", tmp_path / "out", *words)
    assert done.code == 2
    assert says in done.err
    assert (tmp_path / "out").exists() == ("--dask" in words)


def test_killed_and_resumed_is_the_same_to_the_byte(forebay, spec, tmp_path):
    path = spec(5)
    killed_after(path, tmp_path / "broken", 3)
    assert not (tmp_path / "broken" / "sweep.csv").exists()
    assert forebay("sweep", path, "-o", tmp_path / "broken", "--jobs", 1).code == 0
    assert forebay("sweep", path, "-o", tmp_path / "whole", "--jobs", 1).code == 0
    assert same(tmp_path / "broken", tmp_path / "whole")
    assert kept(tmp_path / "whole") == 20
    assert not list((tmp_path / "broken" / "runs").glob("*.claim"))


@pytest.mark.full
def test_two_hundred_runs_killed_three_times(forebay, spec, tmp_path):
    path = spec(50)
    for runs in (5, 60, 30):
        killed_after(path, tmp_path / "broken", runs)
    assert forebay("sweep", path, "-o", tmp_path / "broken").code == 0
    assert forebay("sweep", path, "-o", tmp_path / "whole").code == 0
    assert same(tmp_path / "broken", tmp_path / "whole")
    assert kept(tmp_path / "whole") == 200


def test_two_at_once_carry_out_each_run_once(spec, tmp_path):
    """The policy leaves a line for every run it is in."""
    path = spec(4)
    with started(path, tmp_path / "out") as one, started(path, tmp_path / "out") as two:
        for process in (one, two):
            _, error = process.communicate(timeout=120)
            assert process.returncode == 0, error
    lines = (tmp_path / "told.txt").read_text().splitlines()
    assert len(lines) == 4 * 3
    assert kept(tmp_path / "out") == 16
