"""`forebay explain`: why jobs of a saved run waited."""

import json
import re

import pytest

import forebay as fb
from forebay._run.compilation import WAITING, prepare_parts


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
    """Of five jobs that wait, four are behind job 3, which lacks burst buffer: two causes."""
    lines = forebay("explain", out, "--worst", "1").out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["5"]
    lines = forebay("explain", out).out.splitlines()  # without a job, of all that waited
    assert [(line.split()[0], line.split()[3]) for line in lines[2:]] == [("5", "3"), ("3", "-")]


def test_json(forebay, out):
    told = json.loads(forebay("explain", out, "4", "--worst", "1", "--format", "json").out)
    [job], [worst] = told["jobs"], told["worst"]
    assert (told["policy"], job["job_id"], job["waiting_time"], worst["job_id"]) == ("fcfs-easy", 4, 540, 5)
    assert sum(piece["seconds"] for piece in job["pieces"]) == 540
    assert [(row["job_id"], row["blocker"]) for row in job["chain"]] == [(4, 3), (3, 1)]
    assert [(row["reason"], row["seconds"]) for row in job["main"]] == [("reserved", 420), ("nodes", 120)]
    assert told["reasons"]["burst_buffer"] == "BurstBufferResources"


@pytest.mark.parametrize(("jobs", "worst"), [((), None), ((4,), None), ((3, 5), 2)])
def test_python_says_the_same(forebay, out, jobs, worst):
    options = [] if worst is None else ["--worst", str(worst)]
    said = json.loads(forebay("explain", out, *map(str, jobs), *options, "--format", "json").out)
    found = fb.load(out).explain(*jobs, worst=worst).document()
    assert said == {"run": str(out), **json.loads(json.dumps(found))}


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


MACHINE = """
name = "site"
sharing = true
[classes.n]
nodes = 2
cores = 4
memory = "8 GB"
[classes.g]
nodes = 1
cores = 4
memory = "8 GB"
gpus = 2
gpu = "a100"
features = ["ib"]
[partitions.work]
nodes = "all"
default = true
"""
TRACE = """JobID|User|Account|Partition|Submit|Start|End|Timelimit|State|NNodes|NCPUS|ReqTRES|Constraints
1|ann|phys|work|2024-03-01T00:00:00|2024-03-01T00:00:00|2024-03-01T01:00:00|01:00:00|COMPLETED|1|2|cpu=2,mem=1G,node=1,gres/gpu:a100=2|
2|bob|chem|work|2024-03-01T00:10:00|2024-03-01T01:00:00|2024-03-01T01:30:00|00:30:00|COMPLETED|1|1|cpu=1,mem=1G,node=1,gres/gpu:a100=1|
3|ann|phys|work|2024-03-01T00:20:00|2024-03-01T01:00:00|2024-03-01T01:30:00|00:30:00|COMPLETED|1|1|cpu=1,mem=1G,node=1,gres/gpu:a100=1|
4|bob|chem|work|2024-03-01T00:30:00|2024-03-01T01:30:00|2024-03-01T02:00:00|00:30:00|COMPLETED|1|3|cpu=3,mem=1G,node=1|ib
"""


@pytest.fixture
def site(forebay, tmp_path, ready):
    """A run on nodes that are shared: job 1 has both GPUs up to 1:00, and half of the cores of the node with ib."""
    (tmp_path / "site.toml").write_text(MACHINE)
    (tmp_path / "trace.sacct").write_text(TRACE)
    machine = ("--platform", tmp_path / "site.toml", "--policy", "filler")
    assert forebay("run", tmp_path / "trace.sacct", *machine, "-o", tmp_path / "out").code == 0
    return tmp_path / "out"


def test_cores_users_and_dates(forebay, site):
    text = forebay("explain", site, "2", "4").out
    assert (
        "job 2 (1 node, 1 core, 1 GiB, 1 GPU of type a100, partition work, user bob) came at 2024-03-01 00:10:00, "
        "waited 50 min, and started at 2024-03-01 01:00:00"
    ) in text
    assert "GPUs of type a100: 0 of 1 are free; job 1 holds 2 until 2024-03-01 01:00:00" in text
    assert (
        "In short: job 2 waited for GPUs of type a100, held by 1 job of ann of account phys (100 %).\n\n"
        "job 4 (1 node, 3 cores, 1 GiB, --constraint=ib, partition work, user bob) came at 2024-03-01 00:30:00"
    ) in text
    assert "cores on nodes with ib (--constraint=ib): 2 of 3 are free; job 1 holds 2 until 2024-03-01 01:00:00" in text
    who = "2 jobs of ann of account phys (75 %) and 1 job of the same user, bob of account chem (25 %)"
    assert f"In short: job 4 waited for cores on nodes with ib (--constraint=ib), held by {who}.\n" in text


def test_jobs_that_wait_for_the_same_are_one_row(forebay, site):
    lines = forebay("explain", site, "--worst", "5").out.splitlines()
    rows = [re.split(" {2,}", line.strip())[:4] for line in lines[2:]]
    assert rows == [["4", "1 h", "-", "cores are busy"], ["2", "50 min", "1", "GPUs are busy"]]
    told = json.loads(forebay("explain", site, "--worst", "5", "--format", "json").out)
    assert [(job["job_id"], job["alike"]) for job in told["worst"]] == [(4, []), (2, [3])]
    assert told["worst"][1]["holders"][0]["user"] == "ann"
    assert told["epoch"] == 1709251200
