"""Projects that ElastiSim has run, run again with their own algorithms: every call and every time."""

import csv
import gzip
import io
import shutil
from pathlib import Path

import pytest

import forebay as fb
from cases.elastisim import leaving_files_open
from forebay.elastisim import outputs, project
from forebay.elastisim.algorithm import Algorithm
from forebay.elastisim.script import run_script

MICRO = [
    *("adaptive", "disk", "evolve", "expand", "latency", "messages", "order", "patterns", "read_write", "reconfigure"),
    *("reserve", "share", "shrink", "striped", "ties", "unequal", "walltime"),
]


@pytest.fixture
def again(cases, tmp_path, monkeypatch):
    """Run a case in an empty folder, where its algorithm writes exact.csv and events.csv; returns the run."""
    monkeypatch.chdir(tmp_path)

    def again(name):
        folder = cases / name
        monkeypatch.setenv("ELASTISIM_COMMON", str(folder.parent))
        made, found = project.read(folder / "configuration.json"), []

        def run(schedule):
            found.append(fb.simulate(made.workload, made.machine.platform, Algorithm(schedule, made), progress=False))

        with leaving_files_open():
            run_script(folder / "algorithm.py", run)
        return outputs.Run(made, found[0])

    return again


def exact(folder):
    with open(folder / "exact.csv", newline="") as file:
        return {int(row.pop("job")): row for row in csv.DictReader(file)}


def events(folder):
    path = folder / "events.csv"
    text = path.read_text() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes()).decode()
    return [(float(row.pop("time")), row) for row in csv.DictReader(io.StringIO(text))]


def same(folder, ours, seconds):
    """That two records are equal, times to within so many seconds."""
    theirs, mine = exact(folder), exact(ours)
    assert mine.keys() == theirs.keys()
    for job, row in mine.items():
        for key, value in row.items():
            if key in ("submit", "start", "end"):
                assert float(value) == pytest.approx(float(theirs[job][key]), abs=seconds), (job, key)
            else:
                assert value == theirs[job][key], (job, key)
    calls, recorded = events(ours), events(folder)
    assert [row for _, row in calls] == [row for _, row in recorded]
    for (mine_at, _), (theirs_at, row) in zip(calls, recorded, strict=True):
        assert mine_at == pytest.approx(theirs_at, abs=seconds), row


@pytest.mark.small
@pytest.mark.parametrize("name", MICRO)
def test_small_projects_run_as_in_elastisim(again, cases, tmp_path, name):
    """And its statistics are written digit for digit."""
    written = outputs.table("job_statistics", again(f"micro/{name}")).splitlines()
    same(cases / "micro" / name, tmp_path, 1e-6)
    theirs = (cases / "micro" / name / "job_statistics.csv").read_text().splitlines()
    assert written[0] == theirs[0]
    assert len(written) == len(theirs)
    for mine, row in zip(written, theirs, strict=True):
        cells = row.split(",")
        if "e-1" in cells[5]:  # ElastiSim's clock: a job without a wait has one of 1e-14 s, or of -1e-14 s
            cells[5] = "0"
        assert mine == ",".join(cells)


@pytest.mark.small
def test_a_job_that_ends_at_its_walltime_has_ended(again, tmp_path):
    """ElastiSim counts it twice, as killed and as completed, and stops before job 2 has run."""
    result = again("micro/walltime_tie").result
    assert result.jobs.sort("job_id")["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY"] * 3
    assert [(row["why"], row["job"]) for _, row in events(tmp_path) if row["job"] in ("0", "2")] == [
        ("job_submit", "0"),
        ("job_completed", "0"),
        ("job_submit", "2"),
        ("job_completed", "2"),
    ]


def test_resizes_of_200_jobs_where_nothing_contends(again, cases, tmp_path):
    again("shrink-exact-9")
    same(cases / "shrink-exact-9", tmp_path, 1e-6)


def test_200_jobs_that_contend(again, cases, tmp_path):
    """SimGrid shares links out to within 1e-5, so times are close. All calls are the same."""
    again("malleable-shrink-9")
    mine, theirs = events(tmp_path), events(cases / "malleable-shrink-9")
    assert [row for _, row in mine] == [row for _, row in theirs]
    assert max(abs(a - b) for (a, _), (b, _) in zip(mine, theirs, strict=True)) < 0.01


@pytest.fixture
def example(cases, tmp_path):
    """ElastiSim's example, where paths are those of its root."""
    data = tmp_path / "data" / "input"
    data.mkdir(parents=True)
    for name in ("application_model.json", "jobs.json", "crossbar.xml"):
        shutil.copyfile(cases / f"example_{name}", data / name)
    shutil.copyfile(cases / "example_configuration.json", tmp_path / "configuration.json")
    return project.read(tmp_path / "configuration.json")


@pytest.mark.parametrize("policy", ["fcfs-malleable:when=idle", "fcfs-easy"])
def test_the_example_runs_to_its_end_under_our_policies(example, policy):
    result = fb.simulate(example.workload, example.machine.platform, policy, job_model="application", progress=False)
    assert result.jobs["success"].sum() == 500
