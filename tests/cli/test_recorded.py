"""What the command line shows of names, dates and recorded waits."""

import json

import pytest

HEAD = "JobID|User|Partition|Submit|Start|ElapsedRaw|Timelimit|NNodes\n"
ROWS = (
    "1|ann|cpu|2025-01-10T08:00:00|2025-01-10T08:01:00|3600|02:00:00|2\n"
    "2|b\x1bb|gpu|2025-01-20T08:00:00|2025-01-20T08:11:00|1800|02:00:00|1\n"
    "3|cem|gpu|2025-01-21T08:00:00|2025-01-21T07:00:00|1800|02:00:00|1\n"
)


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(HEAD + ROWS)
    return path


def test_run_has_a_row_as_recorded(forebay, jobs):
    code, out, _ = forebay("run", jobs, "--policy", "fcfs")
    assert code == 0
    assert "as recorded" in out
    assert "mean wait 6 min" in out
    assert "1 job is recorded to start before it arrives (first: job 3)" in out
    told = json.loads(forebay("run", jobs, "--policy", "fcfs", "--format", "json").out)["recorded"]
    assert (told["mean_waiting_time"], told["n_jobs"]) == (360, 2)


def test_compare_has_it_as_its_last_row(forebay, jobs, tmp_path):
    code, out, _ = forebay("compare", jobs, "--policies", "fcfs,fcfs-easy", "--no-plots", "-o", tmp_path / "out")
    assert code == 0
    rows = [line.split() for line in out.splitlines() if line.startswith(("fcfs ", "fcfs-easy ", "as recorded "))]
    assert rows[-1][:4] == ["as", "recorded", "6", "min"]
    assert len(rows) == 3


def test_a_window_of_dates(forebay, jobs):
    code, out, _ = forebay("run", jobs, "--policy", "fcfs", "--window", "2025-01-20:2025-01-21")
    assert code == 0
    assert "(2025-01-20 00:00:00 to 2025-01-21 00:00:00 UTC)" in out
    assert "mean wait 11 min" in out
    outcome = forebay("run", jobs, "--policy", "fcfs", "--window", "2025-02-01:")
    assert outcome.code == 2
    assert "2025-01-10 08:00:00 to 2025-01-21 08:00:00 UTC" in outcome.err
    outcome = forebay("run", "table1", "--policy", "fcfs", "--window", "2025-02-01:")
    assert outcome.code == 2
    assert "table1 has no dates" in outcome.err


def test_a_trace_without_starts_has_no_such_row(forebay):
    outcome = forebay("run", "table1", "--policy", "fcfs", "--format", "json")
    assert "recorded" not in json.loads(outcome.out)


def test_info_shows_queues_by_name(forebay, jobs):
    out = forebay("workload", "info", jobs).out
    assert "2025-01-10 08:00:00 to 2025-01-21 08:00:00 UTC" in out
    assert [line.split()[:2] for line in out.splitlines() if line.startswith(("gpu", "cpu"))] == [
        ["gpu", "2"],
        ["cpu", "1"],
    ]


def test_a_name_with_an_escape_is_shown_as_one(forebay, jobs, tmp_path):
    outcome = forebay("workload", "convert", jobs, tmp_path / "x.swf", "--filter", "user==bb")
    assert outcome.code == 2
    assert "\x1b" not in outcome.err
    assert r"b\\x1bb" in outcome.err or r"b\x1bb" in outcome.err
    assert not (tmp_path / "x.swf").exists()
    assert forebay("workload", "convert", jobs, tmp_path / "x.swf", "--filter", r"user==b\x1bb").code == 0
