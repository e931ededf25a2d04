"""What `run` and `compare` say and write of runs that move data.

4 nodes, 10 GB of buffer, a file system of 1 GB/s each way. Job 1 (2 nodes, 8 GB) stages in until 8 s, computes until
108 s, stages out until 116 s. Job 2 (1 node, 4 GB) waits for its buffer and does the same from 116 to 134 s, computing
for 10 s. So stage-in took 8 and 4 s, I/O 16 and 8 s, and 24 GB crossed links that could have carried 2 x 134.
"""

import json

import polars as pl
import pytest

import forebay as fb
from forebay.workload.workload import job_table

MACHINE = "flat:nodes=4,burst_buffer=10GB,pfs=1GB/s"
FILES = ["jobs.csv", "jobs.parquet", "links.csv", "log.parquet", "placements.parquet", "run.json"]
GB = 10**9


@pytest.fixture
def staged(tmp_path):
    jobs = job_table(
        {
            "id": [1, 2],
            "submit": [0, 0],
            "walltime": [200, 100],
            "run_time": [100, 10],
            "nodes": [2, 1],
            "burst_buffer": [8 * GB, 4 * GB],
        }
    )
    path = tmp_path / "staged.json"
    fb.write(fb.Workload("staged", jobs), path)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_run_shows_times_and_use(forebay, staged):
    code, out, _ = forebay("run", staged, "--platform", MACHINE)
    assert code == 0
    assert "job model io-aware" in out
    shown = dict(line.split("  ", 1) for line in out.splitlines() if "  " in line)
    shown = {words: text.strip() for words, text in shown.items()}
    assert shown["mean stage-in time"] == "6 s"
    assert shown["mean I/O time"] == "12 s"
    assert shown["file system in use"] == "9.0 %"  # 24 / 268
    assert shown["burst buffer in use"] == "74.6 %"  # (8 x 116 + 4 x 18) / (10 x 134)


def test_links_are_written_where_there_are_any(forebay, staged, tmp_path):
    out = tmp_path / "out"
    document = json.loads(forebay("run", staged, "--platform", MACHINE, "-o", out, "--format", "json").out)
    assert document["files"] == [str(out / name) for name in FILES]
    assert names(out) == FILES
    assert document["summary"]["bytes_stage_in"] == 12 * GB
    links = pl.read_csv(out / "links.csv")
    assert links.columns == ["link", "capacity", "bytes"]
    assert links.rows() == [("pfs read", 1e9, pytest.approx(12e9)), ("pfs write", 1e9, pytest.approx(12e9))]
    assert "stage_in_time" in pl.read_parquet(out / "jobs.parquet").columns


def test_links_of_an_older_run_do_not_stay(forebay, staged, tmp_path):
    out = tmp_path / "out"
    assert "links.csv" in forebay("run", staged, "--platform", MACHINE, "-o", out).out
    words = forebay("run", staged, "--platform", MACHINE, "--job-model", "alloc-only", "-o", out).out
    assert "links.csv" not in words
    assert "I/O" not in words
    assert names(out) == [name for name in FILES if name != "links.csv"]


def test_a_run_that_fails_leaves_the_links_of_the_one_before(forebay, staged, policies, tmp_path):
    out = tmp_path / "out"
    forebay("run", staged, "--platform", MACHINE, "-o", out)
    before = (out / "links.csv").read_text()
    assert forebay("run", staged, "--platform", MACHINE, "--policy", f"{policies}:Raises", "-o", out).code == 3
    assert (out / "links.csv").read_text() == before
    assert names(out) == FILES


def test_no_use_of_the_file_system_in_a_window(forebay, staged):
    out = forebay("run", staged, "--platform", MACHINE, "--window", "0:10").out
    row = next(line for line in out.splitlines() if line.startswith("file system in use"))
    assert row.split() == ["file", "system", "in", "use", "-"]


@pytest.mark.parametrize("columns", [80, 120])
def test_compare_has_a_table_of_staging(forebay, staged, columns, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(columns))
    policies = ("--policies", "fcfs,conservative-bb")
    code, out, _ = forebay("compare", staged, "--platform", MACHINE, *policies, "--no-plots")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= columns
    ranking, staging = (line for line in lines if line.startswith("conservative-bb"))
    assert ranking.split()[-1] == {80: "74.6", 120: "0"}[columns]  # burst buffer in use; waiting over a day
    assert staging.split() == ["conservative-bb", "6", "s", "12", "s", "9.0"]
    assert "jobs.parquet, links.csv, log.parquet" in out
    found = pl.read_csv(tmp_path / "forebay-results" / "compare.csv")
    assert found["mean_io_time"].to_list() == pytest.approx([12, 12])
    assert found["pfs_utilisation"].to_list() == pytest.approx([24 / 268] * 2)
    assert names(tmp_path / "forebay-results" / "fcfs") == FILES


def test_compare_has_none_where_nothing_is_staged(forebay, tmp_path):
    out = forebay("compare", "table1", "--policies", "fcfs", "-o", tmp_path / "out").out
    assert sum(line.startswith("fcfs") for line in out.splitlines()) == 1
