"""`forebay explain`: why jobs of a saved run waited."""

import json

import pytest

from forebay._compile import WAITING, prepare_parts


@pytest.fixture(scope="session")
def ready():
    """No notice of the compiler among what is said."""
    prepare_parts([WAITING], quiet=True)


@pytest.fixture
def out(forebay, tmp_path, ready):
    """The folder of a run of table1."""
    assert forebay("run", "table1", "--policy", "fcfs-easy", "-o", tmp_path / "out").code == 0
    return tmp_path / "out"


def test_a_job_its_pieces_and_the_chain(forebay, out):
    code, text, errors = forebay("explain", out, "4")
    assert (code, errors) == (0, "")
    lines = text.splitlines()
    assert lines[0] == "job 4 (2 nodes) came at 2 min, waited 9 min, and started at 11 min"
    pieces = [line.split()[4:7] for line in lines[4:8]]
    assert [row[2] for row in pieces] == ["Priority", "Resources", "Priority", "Resources"]
    assert lines[-1] == (
        "In short: job 4 waited for job 3's node reservation; job 3 waited for burst buffer held by job 1."
    )


def test_several_jobs_one_of_which_started_at_once(forebay, out):
    text = forebay("explain", out, "1", "3", "1").out
    assert text.count("job 1 (1 node) came at 0 s and started at once") == 1
    assert "job 3 (3 nodes) came at 1 min, waited 9 min, and started at 10 min" in text


def test_the_longest_waits(forebay, out):
    lines = forebay("explain", out, "--worst", "2").out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["5", "8"]
    assert len(forebay("explain", out).out.splitlines()) == 2 + 5  # without a job, of all that waited


def test_json(forebay, out):
    told = json.loads(forebay("explain", out, "4", "--worst", "1", "--format", "json").out)
    [job], [worst] = told["jobs"], told["worst"]
    assert (told["policy"], job["job_id"], job["waiting_time"], worst["job_id"]) == ("fcfs-easy", 4, 540, 5)
    assert sum(piece["seconds"] for piece in job["pieces"]) == 540
    assert [(row["job_id"], row["blocker"]) for row in job["chain"]] == [(4, 3), (3, 1)]
    assert [(row["reason"], row["seconds"]) for row in job["main"]] == [("reserved", 420), ("nodes", 120)]
    assert told["reasons"]["burst_buffer"] == "BurstBufferResources"


def test_a_job_that_is_not_there(forebay, out):
    code, text, errors = forebay("explain", out, "4", "17")
    assert (code, text) == (2, "")
    assert (
        errors == "forebay: job 17 is not in the run: its 8 jobs have numbers from 1 to 8; see jobs.csv in its folder\n"
    )


def test_a_folder_that_is_no_run(forebay, tmp_path):
    code, _, errors = forebay("explain", tmp_path, "1")
    assert code == 2
    assert "is not the folder of a run" in errors


def test_a_job_that_never_ran(forebay, tmp_path, ready):
    policy = "fcfs+limits:run_time=300"
    assert forebay("run", "table1", "--policy", policy, "-o", tmp_path / "out").code == 0
    text = forebay("explain", tmp_path / "out", "1").out
    assert text == (
        "job 1 (1 node) came at 0 s and never ran: it asks for more than a limit allows, or its user was at one\n"
    )


def test_nobody_waited(forebay, tmp_path, ready):
    machine = "flat:nodes=100,burst_buffer=100TB"
    assert forebay("run", "table1", "--platform", machine, "-o", tmp_path / "out").code == 0
    assert forebay("explain", tmp_path / "out").out == "none of the 8 jobs waited\n"
