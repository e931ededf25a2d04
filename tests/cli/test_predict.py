"""`forebay predict`."""

import json

import pytest

ASK = ("predict", "table1", "--policy", "fcfs-bb", "--futures", "4", "-q")


def test_when(forebay):
    code, out, err = forebay(*ASK, "--at", "120")
    assert (code, err) == (0, "")
    assert "At 120 s 3 jobs run on 4 of 4 nodes, and 1 job waits." in out
    assert "burst buffer: 4 TB of 8 TB are free; job 1 holds 4 TB" in out
    assert "note  less than a day is known" in out


def test_a_request_and_another(forebay, tmp_path):
    words = ("--at", "120", "3", "--what-if", "nodes=1", "--submit", "nodes=1,walltime=1min,burst_buffer=1TB")
    told = json.loads(forebay(*ASK, *words, "--format", "json", "-o", tmp_path / "out").out)
    assert [job["asked"] for job in told["jobs"]] == [None, "nodes=1,walltime=1min,burst_buffer=1TB"]
    assert [one["job_id"] for one in told["what_ifs"]] == [job["job_id"] for job in told["jobs"]]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("prediction.json", "starts.csv", "starts.svg", "ahead.svg", "ahead.csv"),
    }


def test_scores(forebay):
    words = ("predict", "table1", "--score", "--moments", "3", "--policy", "fcfs", "--futures", "4", "-q")
    told = json.loads(forebay(*words, "--format", "json").out)
    assert told["moments"] == 3
    assert "Slurm's way" in forebay(*words).out
    assert r"\toprule" in forebay(*words, "--format", "latex").out


def test_a_moment_as_a_file(forebay, tmp_path):
    path = tmp_path / "moment.json"
    ask = ("--policy", "fcfs-bb", "--futures", "4", "-q")
    assert forebay("predict", "table1", "--at", "120", "--snapshot", path, *ask).code == 0
    code, out, err = forebay("predict", path, *ask)
    assert (code, err) == (0, "")
    assert "At 120 s 3 jobs run on 4 of 4 nodes, and 1 job waits." in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "at which moment"),
        (("--at", "yesterday"), "--at 'yesterday'"),
        (("--at", "2025-03-01"), "has no dates"),
        (("--at", "120", "--score"), "leave out --at"),
        (("--at", "120", "--what-if", "nodes=1"), "--what-if asks about a job"),
        (("--at", "120", "1"), "job 1 runs already"),
        (("--at", "120", "--submit", "nodes=1"), "no walltime"),
    ],
)
def test_bad_questions(forebay, words, said):
    code, out, err = forebay(*ASK, *words)
    assert (code, out) == (2, "")
    assert said in err
