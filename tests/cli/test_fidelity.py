"""`forebay fidelity`, slices with a warm start, and for whom a policy is good."""

import json

import polars as pl
import pytest

HEAD = "JobID|User|Account|Partition|Submit|Start|ElapsedRaw|Timelimit|NNodes\n"
ROWS = (
    "1|ann|phys|cpu|2025-01-01T00:00:00|2025-01-01T00:00:00|7200|02:00:00|2\n"
    "2|bob|chem|gpu|2025-01-01T01:00:00|2025-01-01T02:00:00|3600|02:00:00|2\n"
    "3|cem|chem|gpu|2025-01-01T01:30:00|2025-01-01T03:10:00|1800|02:00:00|1\n"
    "4|ann|phys|cpu|2025-01-01T02:30:00|2025-01-01T03:10:00|1800|02:00:00|1\n"
)


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.sacct"
    path.write_text(HEAD + ROWS)
    return path


def test_all_of_a_trace(forebay, jobs, tmp_path):
    code, out, err = forebay("fidelity", jobs, "--policy", "fcfs", "-o", tmp_path / "out", "-q")
    assert (code, err) == (0, "")
    assert "workload  jobs, 4 jobs scored" in out
    assert "period    2025-01-01 00:00:00 to 2025-01-01 02:30:00 UTC" in out
    assert "cannot match  nothing is known of jobs from before the first one" in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("ann ", "bob ", "cem "))] == [
        *("ann", "bob", "cem")
    ]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("fidelity.json", "fidelity.svg", "fidelity.csv", "fidelity-use.csv", "groups.csv", "waits.csv"),
        *("fidelity-jobs.svg", "fidelity-jobs.csv", "fidelity-moving.svg", "fidelity-moving.csv", "report.html"),
    }
    assert "--policy fcfs" in (tmp_path / "out/report.html").read_text()  # the command that makes it again
    assert forebay("report", tmp_path / "out").code == 0
    told = json.loads(forebay("fidelity", jobs, "--policy", "fcfs", "--format", "json").out)
    # Simulated, all wait as recorded but the last two, which start ten minutes before they did.
    assert told["numbers"]["mean_error"] == -300
    assert told["numbers"]["p05_error"] == -600


def test_without_pictures_and_page(forebay, jobs, tmp_path):
    words = ("fidelity", jobs, "--policy", "fcfs", "-o", tmp_path / "out", "-q", "--no-plots")
    assert forebay(*words).code == 0
    assert (tmp_path / "out/report.html").is_file()
    assert forebay(*words, "--no-report").code == 0  # a page of an earlier answer goes
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"fidelity.json", "groups.csv", "waits.csv"}


def test_a_slice_begins_warm(forebay, jobs):
    period = "2025-01-01T01:15:00:2025-01-01T03:00:00"
    options = ("--policy", "fcfs", "--slice", period, "--format", "json")
    warm = json.loads(forebay("fidelity", jobs, *options).out)
    assert warm["numbers"]["n_jobs"] == 3
    assert warm["period"] == [0, 4500]
    assert warm["numbers"]["recorded_use"] == 1
    cold = json.loads(forebay("fidelity", jobs, *options, "--cold").out)
    assert cold["numbers"]["simulated_mean_wait"] == 0
    assert "before" in cold["cannot_match"]


def test_runs_of_a_slice(forebay, jobs, tmp_path):
    part = ("--slice", "2025-01-01T01:15:00:")
    cold = json.loads(forebay("run", jobs, "--policy", "fcfs", *part, "--format", "json").out)
    assert cold["summary"]["n_jobs"] == 2
    warm = forebay("run", jobs, "--policy", "fcfs", *part, "--warm", "-o", tmp_path / "out")
    assert warm.code == 0
    assert "the period begins with 1 job that runs already, on 2 nodes, and 1 job that waits" in warm.out
    again = json.loads((tmp_path / "out/run.json").read_text())["command"]
    assert again[-3:] == ["--slice", "2025-01-01T01:15:00:", "--warm"]
    assert forebay("plot", tmp_path / "out", "-o", tmp_path / "figures").code == 0
    assert forebay("explain", tmp_path / "out").code == 0
    code, out, _ = forebay(
        *("compare", jobs, "--policies", "fcfs,filler", *part, "--warm", "--no-plots", "--no-report"),
        *("-o", tmp_path / "both"),
    )
    assert code == 0
    assert "as recorded" in out
    waits = pl.read_csv(tmp_path / "both/compare.csv")["mean_waiting_time"]
    assert waits.to_list() == [(3600 + 5400 + 1800) / 3] * 2


def test_warm_without_a_slice(forebay, jobs):
    outcome = forebay("run", jobs, "--warm")
    assert outcome.code == 2
    assert "give it with --slice" in outcome.err
    outcome = forebay("run", "table1", "--warm", "--slice", "60:")
    assert outcome.code == 2
    assert "a warm start needs the times at which jobs started" in outcome.err


def test_what_cannot_be_scored(forebay, tmp_path):
    outcome = forebay("fidelity", "table1", "-o", tmp_path / "out")
    assert outcome.code == 2
    assert "table1 does not tell when its jobs started" in outcome.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_other_results_is_refused(forebay, jobs, tmp_path):
    assert forebay("run", jobs, "--policy", "fcfs", "-o", tmp_path / "out").code == 0
    outcome = forebay("fidelity", jobs, "--policy", "fcfs", "-o", tmp_path / "out")
    assert outcome.code == 2
    assert "holds a run" in outcome.err


def test_for_whom(forebay, jobs, tmp_path):
    options = ("--policies", "fcfs,filler", "--reference", "fcfs", "--no-plots", "--no-report", "-o", tmp_path / "out")
    code, out, _ = forebay("compare", jobs, *options)
    assert code == 0
    assert "groups.csv: who gains and who loses, under every policy" in out
    rows = pl.read_csv(tmp_path / "out/groups.csv", infer_schema_length=None)
    assert rows["by"].unique(maintain_order=True).to_list() == ["queue", "user", "account"]
    users = rows.filter(pl.col("by") == "user")
    assert users["name"].unique(maintain_order=True).to_list() == ["ann", "bob", "cem"]  # most node-hours first
    ann = {row["policy"]: row for row in users.filter(pl.col("name") == "ann").iter_rows(named=True)}
    assert ann["fcfs"]["mean_wait"] == (0 + 1800) / 2
    assert ann["fcfs"]["change"] == 0
    assert ann["as recorded"]["mean_wait"] == (0 + 2400) / 2
    assert ann["as recorded"]["change"] == pytest.approx(1 / 3)
    assert ann["fcfs"]["node_hours"] == pytest.approx(4.5)
    # As recorded her second job began 40 minutes after it came; under fcfs 30.
    assert ann["as recorded"]["lost_hours"] == ann["as recorded"]["net_hours"] == pytest.approx(1 / 6)
    assert (ann["as recorded"]["gained_hours"], ann["as recorded"]["verdict"]) == (0, "undecided")
    assert (ann["fcfs"]["net_hours"], ann["fcfs"]["low_hours"], ann["fcfs"]["verdict"]) == (0, 0, None)
    told = json.loads(forebay("compare", jobs, *options, "--format", "json").out)
    assert len(told["groups"]) == len(rows)
    assert "ann" not in forebay("compare", jobs, *options, "--top", "0").out


def test_groups_of_one_say_nothing(forebay, tmp_path):
    code, out, _ = forebay(
        "compare", "table1", "--policies", "fcfs,filler", "--no-plots", "--no-report", "-o", tmp_path / "out"
    )
    assert code == 0
    assert "groups.csv" not in out
    assert not (tmp_path / "out/groups.csv").exists()
