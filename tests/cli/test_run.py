"""`forebay run`: what it writes, what it says."""

import csv
import json
import subprocess
import sys

import numba
import polars as pl
import pytest

from forebay.results import JOBS_CSV

FILES = ["jobs.csv", "jobs.parquet", "log.parquet", "placements.parquet", "run.json"]


WARM = """
import sys
from forebay.cli.main import _guarded
code = _guarded(["run", "table1"])
from forebay.core.tables import instant_width
slow = ("numba.np.arrayobj", "numba.cpython.unicode", "numba.core.typing.arraydecl", "matplotlib")
print(code, [name for name in slow if name in sys.modules], "_inner" in vars(instant_width))
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_table_1_under_easy_backfilling(forebay, tmp_path):
    code, out, err = forebay("run", "table1", "--policy", "fcfs-easy", "-o", tmp_path / "new" / "out")
    assert (code, err) == (0, "")
    assert names(tmp_path / "new" / "out") == FILES
    with (tmp_path / "new" / "out" / "jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == JOBS_CSV
    assert [float(row["starting_time"]) for row in rows] == [0, 0, 600, 660, 840, 180, 600, 900]
    for words in ("5 min 45 s ± 3 min 28 s", "nodes in use", "54.2 %", "burst buffer in use", "killed", "rejected"):
        assert words in out
    assert str(tmp_path / "new" / "out") in out


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="the compiler is off")
def test_with_compiled_code_at_hand_nothing_of_the_compiler_is_loaded(forebay):
    """Neither what Numba compiles arrays and text with, nor its part of a kernel: a tenth of a second."""
    forebay("run", "table1")  # compiles what is missing
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 [] False"


def test_files_agree_with_each_other(forebay, tmp_path):
    forebay("run", "table1", "-o", tmp_path)
    jobs, log = pl.read_parquet(tmp_path / "jobs.parquet"), pl.read_parquet(tmp_path / "log.parquet")
    facts = json.loads((tmp_path / "run.json").read_text())
    assert jobs.columns[: len(JOBS_CSV)] == list(JOBS_CSV)
    assert "total_wait" in jobs.columns
    assert "burst_buffer" in jobs.columns
    assert log.filter(kind="start").height == jobs.height == facts["jobs"] == 8
    assert facts["policy"] == "fcfs-bb"
    assert facts["summary"]["mean_waiting_time"] == pytest.approx(jobs["waiting_time"].mean())


def test_without_a_folder_nothing_is_written(shell, tmp_path):
    code, out, _ = shell("run", "table1")
    assert code == 0
    assert "mean wait" in out
    assert names(tmp_path) == []


def test_json_is_all_there_is_on_stdout(forebay, tmp_path, policies):
    code, out, err = forebay("run", "table1", "--policy", f"{policies}:InOrder:patience=4", "--format", "json")
    assert code == 0
    document = json.loads(out)
    assert document["policy"] == f"{policies}:InOrder:patience=4"
    assert document["summary"]["n_jobs"] == 8
    assert document["files"] == []
    assert "deciding" in err  # what the policy prints goes beside the answer
    out = forebay("run", "table1", "-o", tmp_path / "out", "--format", "json").out
    assert json.loads(out)["files"] == [str(tmp_path / "out" / name) for name in FILES]


def test_jobs_too_large_and_records_left_out_are_noted_and_the_run_goes_on(forebay, trace, tmp_path):
    path = trace((0, 60, 2, 60), (5, 60, 9, 60), (9, 0, 1, 60), (3, 60, 4, 60))
    code, out, _ = forebay("run", path, "-o", tmp_path / "out")
    assert code == 0
    whose = "rejected, and in no mean (job 2, of 1 user)"
    assert f"1 job asks for more than the machine or its partition has: {whose}" in out
    assert "1 of 4 records left out: 1 run time not positive" in out
    assert "1 job is listed after one submitted later" in out
    jobs = pl.read_csv(tmp_path / "out" / "jobs.csv")
    rejected = jobs.filter(final_state="REJECTED").row(0, named=True)
    assert rejected["starting_time"] is None
    assert rejected["success"] == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["dropped"] == {"run time not positive": 1}


def test_a_machine_of_another_size_than_the_header_says_is_noted(forebay, trace):
    path = trace((0, 60, 2, 60))
    out = forebay("run", path, "--platform", "flat:nodes=512", "--policy", "FCFS_Easy").out
    assert "the machine has 512 nodes, but trace names one of 4" in out
    assert "fcfs-easy (job model" in out
    assert "names one of" not in forebay("run", path).out


def test_a_window_narrows_the_summary_not_the_files(forebay, tmp_path):
    options = ("--policy", "fcfs-easy", "--format", "json", "-o", tmp_path)
    document = json.loads(forebay("run", "table1", "--window", "1min:4min", *options).out)
    assert document["summary"]["n_jobs"] == 4
    assert document["window"] == [60, 240]
    assert pl.read_csv(tmp_path / "jobs.csv").height == 8
    rest = json.loads(forebay("run", "table1", "--window", "3min:", *options).out)
    assert rest["summary"]["n_jobs"] == 4
    assert 0 < rest["summary"]["utilisation_nodes"] <= 1


def test_late_jobs_may_be_spared(forebay, trace):
    path = trace((0, 100, 1, 50))
    killed = json.loads(forebay("run", path, "--format", "json").out)
    spared = json.loads(forebay("run", path, "--job-model", "alloc-only:kill=false", "--format", "json").out)
    assert killed["summary"]["n_killed"] == 1
    assert spared["summary"]["n_killed"] == 0


def test_a_second_run_takes_the_place_of_the_first(forebay, tmp_path):
    forebay("run", "table1", "--policy", "fcfs", "-o", tmp_path)
    forebay("run", "table1", "--policy", "filler", "-o", tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["policy"] == "filler"
    assert names(tmp_path) == FILES


@pytest.mark.parametrize(
    "name",
    ["KTH-SP2-1996-2.1-cln", "NASA-iPSC-1993-3.1-cln", "ANL-Intrepid-2009-1_first1185", "theta_1000"],
)
def test_real_traces(forebay, data, name):
    path = data / "swf" / f"{name}.swf.gz"
    code, out, err = forebay("run", path, "--policy", "fcfs-easy", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["summary"]["n_started"] >= 1000
