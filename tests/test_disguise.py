"""Names by labels: no name or number of a site is left, one name has one label, and jobs run as they did."""

import re

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay._run.disguise import WHO, Disguise, disguised
from forebay.cli.main import main
from forebay.errors import InputError

pytestmark = pytest.mark.small

SITE = """policy = "slurm:PriorityType=multifactor,PriorityWeightFairshare=1000,charged=association"
[classes.n]
names = "n[1-4]"
nodes = 4
cores = 8
[partitions.std]
classes = ["n"]
default = true
[[limits]]
user = "quill"
MaxJobs = 1
[[limits]]
account = "zephyr"
GrpTRES = "node=3"
[[limits]]
user = "nemo"
MaxJobs = 7
[accounts.zephyr]
shares = 3
users = { quill = 2, "brio:std" = 1 }
[accounts.umber]
parent = "zephyr"
users = { nemo = "parent" }
[[reservations]]
name = "quill_7"
start = "1 d"
duration = "1 h"
nodes = 1
users = ["quill"]
"""
NAMES = ("quill", "brio", "zephyr", "umber", "nemo", "opal", "70017", "70029", "90001")


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.toml").write_text(SITE)
    lines = ["JobID|UID|User|GID|Group|Account|Partition|Submit|Start|ElapsedRaw|Timelimit|NNodes|Reason"]
    users = {"quill": 70017, "brio": 70029}
    for k in range(24):
        user = "quill" if k % 3 else "brio"
        submit, start = 1735689600 + 300 * k, 1735689600 + 300 * k + 200 * (k % 5)
        account = "zephyr" if k % 2 else "umber"
        lines.append(
            f"{k + 1}|{users[user]}|{user}|90001|opal|{account}|std|{submit}|{start}|{900 + 60 * k}|"
            f"01:00:00|{1 + k % 4}|AssocMaxJobsLimit"
        )
    (tmp_path / "site.sacct").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*words):
    with pytest.raises(SystemExit) as left:
        main(list(words))
    assert left.value.code == 0


def everything(folder):
    """All text of a folder, and of its tables."""
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            texts.append(pl.read_parquet(path).write_csv())
        elif path.is_file():
            texts.append(path.read_text(errors="replace"))
    return "\n".join(texts)


def found(text):
    return [
        text[max(at.start() - 60, 0) : at.end() + 20] for name in NAMES for at in re.finditer(rf"(?<!\w){name}", text)
    ]


def test_jobs_run_as_they_did(site):
    w, machine = fb.read(site / "site.sacct"), fb.platform(site / "site.toml")
    other, same = disguised(w, machine)
    before, after = fb.simulate(w, machine), fb.simulate(other, same)
    assert before.facts["log_sha256"] == after.facts["log_sha256"]
    assert (before.jobs["waiting_time"] > 0).sum() > 5  # limits and shares decide here
    names = [name for name in before.jobs.columns if not name.startswith((*WHO, "workload"))]
    assert_frame_equal(before.jobs.select(names), after.jobs.select(names))
    assert found(str(after.facts)) == []


def test_one_name_has_one_label_in_all_parts_of_a_file(site):
    w, machine = fb.read(site / "site.sacct"), fb.platform(site / "site.toml")
    disguise = Disguise.of(w, machine)
    other, there = disguise.workload(w), disguise.platform(machine)
    pairs = set(zip(*(_names(one, "user") for one in (w, other)), strict=True))
    assert len(pairs) == 2
    assert {new for _, new in pairs} == {"user-1", "user-2"}
    label = dict(pairs)
    assert [rule.user for rule in there.limits] == [label["quill"], "", "user-3"]  # nemo has no job
    assert dict(there.accounts[0].users) == {label["quill"]: 2, f"{label['brio']}:std": 1}
    assert there.accounts[1].parent == there.accounts[0].name == there.limits[1].account
    assert there.reservations[0].users == (label["quill"],)
    assert found(there.model_dump_json()) == []
    part = disguise.workload(fb.workload.slice_time(w, 0, 900)) if hasattr(fb.workload, "slice_time") else other
    assert set(_names(part, "user")) <= set(label.values())
    assert Disguise.of(w, machine) == disguise


def _names(w, column):
    return [w.names[column][number] for number in w.jobs[column].to_list()]


def test_numbers_without_names_and_numbers_with_one_name():
    table = {"id": [1, 2, 3, 4], "submit": [0.0] * 4, "walltime": [9.0] * 4, "run_time": [9.0] * 4, "nodes": [1] * 4}
    jobs = fb.workload.job_table({**table, "user": [70017, 70029, 81, -1]})
    w = fb.Workload("some", jobs, names={"user": {70017: "ann", 70029: "ann"}}, notes=("ann's jobs, of annex 81",))
    other, _ = disguised(w, None)
    numbers = other.jobs["user"].to_list()
    assert sorted(numbers[:3]) == [1, 2, 3]  # two numbers stay two users
    assert numbers[3] == -1
    assert other.names["user"][numbers[0]] == other.names["user"][numbers[1]] != other.names["user"][numbers[2]]
    assert other.notes == (f"{other.names['user'][numbers[0]]}'s jobs, of annex 81",)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "-o", "out"),
        ("compare", "--policies", "fcfs,fcfs-easy", "--replicas", "0", "-o", "out", "--no-plots", "--slice", "0:1h"),
        ("fidelity", "-o", "out", "--no-plots"),
        ("capacity", "--vary", "nodes", "--range", "4:6", "--target", "mean_wait <= 1h", "--replicas", "2",
         "--no-plots", "-o", "out", "--jobs", "1"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_no_name_is_left_in_any_answer(site, words, capsys):
    run(words[0], "site.sacct", "--platform", "site.toml", *words[1:], "--anonymise", "-q")
    shown = capsys.readouterr()
    assert found(shown.out + shown.err) == []
    assert found(everything(site / "out")) == []
    assert "user-" in shown.out + everything(site / "out")


def test_explanations_of_such_a_run_have_labels(site, capsys):
    run("run", "site.sacct", "--platform", "site.toml", "-o", "out", "--anonymise", "-q")
    run("explain", "out", "--worst", "3", "-q")
    shown = capsys.readouterr().out
    assert found(shown) == []
    assert "user-" in shown


def test_a_run_with_names_is_not_taken_for_one_without(site, capsys):
    words = (
        "compare",
        "site.sacct",
        "--platform",
        "site.toml",
        "--policies",
        "fcfs",
        "--replicas",
        "0",
        "--no-plots",
        "-q",
    )
    run(*words, "-o", "out")
    assert found(everything(site / "out"))
    run(*words, "-o", "out", "--anonymise")
    assert found(everything(site / "out")) == []


def test_a_policy_that_names_users_is_refused(site, capsys):
    with pytest.raises(SystemExit) as left:
        main(["run", "site.sacct", "--platform", "site.toml", "--policy", "fairshare:shares=quill=2", "--anonymise"])
    assert left.value.code == 2
    assert "fairshare names users or accounts by shares=...; write them into" in " ".join(
        capsys.readouterr().err.split()
    )
    machine = fb.platform(site / "site.toml").model_copy(update={"policy": "fairshare:shares=quill=2"})
    with pytest.raises(InputError, match="names users or accounts"):
        disguised(fb.read(site / "site.sacct"), machine)
