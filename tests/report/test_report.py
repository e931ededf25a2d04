"""Reports of folders: what they show is what the runs say."""

import dataclasses
import json
import re

import numpy as np
import polars as pl
import pytest

from forebay import load, simulate
from forebay.errors import InputError
from forebay.report import _jobs, _waits, write
from forebay.report._columns import unpack
from report.test_page import HOSTILE, Reader

pytestmark = pytest.mark.small


def parts(path):
    """Text outside scripts, and what stands in those that hold data, by id."""
    read = Reader(path.read_text(encoding="utf-8"))
    return " ".join(read.words), {name: code for name, _, code in read.scripts if name}


def test_a_comparison(small, tmp_path):
    words, data = parts(write(small, tmp_path / "report.html"))
    titles = re.findall("Answer|Verdicts|Ranking|Changes|Waiting times|Schedule|Inputs", words)
    wanted = ["Answer", "Verdicts", "Ranking", "Changes", "Waiting times", "Schedule", "Inputs"]
    assert list(dict.fromkeys(titles)) == wanted
    assert "table1 under 3 policies" in words
    assert "worse +142\N{NO-BREAK SPACE}%" in words
    assert "forebay compare table1 --policies fcfs-bb,fcfs-easy,fcfs --platform table1" in words
    assert json.loads(data["data-schedule"])["labels"] == ["fcfs-bb", "fcfs-easy", "fcfs"]


def test_without_verdicts_policies_are_ranked(default, tmp_path):
    words, _ = parts(write(default, tmp_path / "report.html"))
    assert "Verdicts" not in words
    assert words.index("fcfs-bb") < words.index("fcfs-easy")


def test_a_run(small, tmp_path):
    words, data = parts(write(small / "fcfs", tmp_path / "report.html"))
    assert "table1 under fcfs" in words
    assert "forebay run table1 --policy fcfs" in words
    assert [name for name in data if name.startswith("packed-run")] == ["packed-run-0"]


def test_the_page_stands_in_the_folder_by_default(small):
    path = write(small / "fcfs")
    assert path == small / "fcfs" / "report.html"
    path.unlink()


def test_the_report_of_the_default_is_small(default, tmp_path):
    assert write(default, tmp_path / "report.html").stat().st_size < 5_000_000


def test_schedules_are_those_of_the_runs(default, tmp_path):
    _, data = parts(write(default, tmp_path / "report.html"))
    jobs = unpack(data["packed-jobs"])
    for place, policy in enumerate(json.loads(data["data-schedule"])["labels"]):
        table, run = load(default / policy).jobs, unpack(data[f"packed-run-{place}"])
        assert jobs["id"].tolist() == table["job_id"].to_list()
        for name, column in (("start", "starting_time"), ("end", "finish_time")):
            assert run[name] == pytest.approx(table[column].to_numpy(), abs=6e-4, rel=0)
        height = run["box-high"].astype(int) - run["box-low"] + 1
        nodes = np.bincount(run["box-job"], height, minlength=table.height)
        assert nodes.tolist() == table["requested_number_of_resources"].to_list()


def test_the_queue_is_as_long_as_jobs_wait():
    result = simulate("table1", policy="fcfs")
    times, lengths = _jobs._steps_of(result, _jobs.Lane("queue", "jobs", 0.0))
    jobs = result.jobs
    for time, length in zip(times, lengths, strict=True):
        waiting = jobs.filter((pl.col("submission_time") <= time) & (pl.col("starting_time") > time))
        assert length == waiting.height


def test_many_jobs_are_thinned_to_the_largest(default, tmp_path, monkeypatch):
    monkeypatch.setattr(_jobs, "SHOWN", 100)
    words, data = parts(write(default / "fcfs-bb", tmp_path / "report.html"))
    assert "100 of 3,000 jobs are drawn" in words
    jobs = load(default / "fcfs-bb").jobs
    area = jobs["requested_number_of_resources"] * jobs["execution_time"]
    shown = set(unpack(data["packed-jobs"])["id"].tolist())
    assert shown == set(jobs["job_id"].gather(area.arg_sort(descending=True)[:100]).to_list())


def test_a_tail_is_the_share_that_waited_longer():
    waits = np.array([0.0, 0.0, 5.0, 10.0])
    x, y = _waits.tail(waits)
    for at, share in zip(x, y, strict=True):
        assert share == np.mean(waits > at) or at == 1e-3
    assert list(y) == [1.0, 0.5, 0.25]


def test_a_long_tail_keeps_its_ends():
    waits = np.random.default_rng(2).exponential(1000, 20_000)
    x, y = _waits.tail(waits)
    assert x.size <= _waits.MOST
    assert y[-1] == pytest.approx(1 / waits.size)
    shares = [np.mean(waits > at) for at in x[1:]]
    assert y[1:] == pytest.approx(shares)


def test_names_of_others_are_shown_and_never_run(tmp_path):
    result = simulate("table1", policy="fcfs")
    told = {"workload": HOSTILE, "policy": "</script><b>", "notes": [HOSTILE], "provenance": [HOSTILE]}
    dataclasses.replace(result, facts=dict(result.facts) | told).save(tmp_path / "out")
    read = Reader(write(tmp_path / "out").read_text(encoding="utf-8"))
    assert "b" not in read.tags
    assert not [kind for _, kind, code in read.scripts if "alert(1)" in code and kind != "application/json"]
    assert "".join(read.words).count(HOSTILE) >= 4


@pytest.mark.parametrize("kind", ["missing", "file", "empty", "broken verdicts"])
def test_a_wrong_folder_is_refused(tmp_path, small, kind):
    folder = tmp_path / "there"
    if kind == "file":
        folder.write_text("x")
    elif kind != "missing":
        folder.mkdir()
    if kind == "broken verdicts":
        (folder / "fcfs").symlink_to(small / "fcfs")
        (folder / "verdicts.csv").write_text("policy,change\nfcfs,much\n")
    with pytest.raises(InputError, match="there"):
        write(folder)
    assert not (tmp_path / "there" / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("verdicts.csv", "table of verdicts"),
        ("ranking.csv", "ranking"),
        ("bounds.csv", "table of bounds"),
        ("not-run.csv", "table of jobs"),
    ],
)
@pytest.mark.parametrize("text", ["policy,change\nfcfs,much\n", "", "\xff,\n"])
def test_a_broken_table_is_refused(tmp_path, small, name, what, text):
    (tmp_path / "fcfs").symlink_to(small / "fcfs")
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=f"{name}: not a {what}; make the comparison again"):
        write(tmp_path)


def test_runs_of_two_workloads_are_refused(tmp_path, small):
    for name, workload in (("a", "one"), ("b", "two")):
        result = simulate("table1", policy="fcfs")
        dataclasses.replace(result, facts={**result.facts, "workload": workload}).save(tmp_path / name)
    with pytest.raises(InputError, match="one workload"):
        write(tmp_path)


def test_files_of_another_comparison_do_not_count(tmp_path, small):
    """Only runs that the comparison lists belong to it."""
    for policy in ("fcfs", "fcfs-bb"):
        (tmp_path / policy).symlink_to(small / policy)
    (tmp_path / "compare.json").write_text(json.dumps({"format": 1, "files": ["fcfs/run.json"]}))
    _, data = parts(write(tmp_path))
    assert json.loads(data["data-schedule"])["labels"] == ["fcfs"]
