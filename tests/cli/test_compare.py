"""`forebay compare`: one table, best first, and every number in files."""

import json
from pathlib import Path

import polars as pl
import pytest

from forebay._support.files import file_names
from forebay.errors import InputError
from forebay.experiments.comparison.selection import split_specs
from forebay.policies import COMPARED, load, names
from forebay.workload import read, write
from forebay.workload.operations import first


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("fcfs", ["fcfs"]),
        ("fcfs, filler", ["fcfs", "filler"]),
        ("fcfs,fcfs-bb:depth=3,max_backfill=10,filler", ["fcfs", "fcfs-bb:depth=3,max_backfill=10", "filler"]),
        ("SJF_EASY,Fcfs_BB:depth=3", ["sjf-easy", "fcfs-bb:depth=3"]),
        ("a.py:A:x=1,y=2,b.py:B", ["a.py:A:x=1,y=2", "b.py:B"]),
        ("wide=fcfs-bb:depth=3,max_backfill=10,a b=site:x=1", ["wide=fcfs-bb:depth=3,max_backfill=10", "a b=site:x=1"]),
        ("fcfs-bb:depth=3,order=fairshare,easy=fcfs", ["fcfs-bb:depth=3,order=fairshare", "easy=fcfs"]),
        ("easy=Fcfs_Easy,site,old=site", ["easy=fcfs-easy", "site", "old=site"]),
        ("a:x=1,y=2+limits:u=1,v=2,b+limits:u=1", ["a:x=1,y=2+limits:u=1,v=2", "b+limits:u=1"]),
    ],
)
def test_commas_inside_a_policy(text, specs):
    assert split_specs(text) == specs


@pytest.mark.small
@pytest.mark.parametrize("text", ["", "fcfs,,filler", "depth=3", "fcfs,depth=3", "fcfs,fcfs", "sjf-bb,SJF_BB"])
def test_lists_that_make_no_sense(text):
    with pytest.raises(InputError, match="--policies"):
        split_specs(text)


@pytest.mark.small
def test_folders_are_safe_and_distinct():
    assert file_names(["fcfs-bb:depth=3", "../a b.py:A", "x:y", "x_y"]) == [
        "fcfs-bb_depth=3",
        "_a_b.py_A",
        "x_y",
        "x_y~2",
    ]


def test_every_policy_best_first(forebay, policies, tmp_path):
    """With one of one's own, and one that is named twice."""
    own, jobs = f"{policies}:InOrder", tmp_path / "jobs.parquet.zip"
    write(first(read("default"), 30), jobs)
    options = ("--replicas", 0, "--format", "json", "--no-bounds", "-o", tmp_path / "out")
    compared = ("--platform", "dragonfly-96", "--policies", f"{own},all,sjf-bb")
    code, out, _ = forebay("compare", jobs, *compared, *options)
    assert code == 0
    document = json.loads(out)
    waits = [one["summary"]["mean_waiting_time"] for one in document["policies"]]
    assert waits == sorted(waits)
    assert len(set(waits)) > 5
    # All that are of use here: the machine has no tiers of storage to choose between, and jobs have no applications.
    of_use = [name for name in names() if not load(name).needs_tiers and not load(name).needs_times]
    assert sorted(one["policy"] for one in document["policies"]) == sorted([own, *of_use])
    assert len(of_use) > 20
    assert document["workload"] == "default"
    table = pl.read_csv(tmp_path / "out" / "compare.csv")
    assert table["policy"].to_list() == [one["policy"] for one in document["policies"]]
    assert table["mean_waiting_time"].to_list() == pytest.approx(waits)
    assert table.columns == ["policy", *document["policies"][0]["summary"]]
    for one in document["policies"]:
        files = sorted(path.name for path in Path(one["folder"]).iterdir())
        of_run = ["chunks.parquet", "jobs.csv", "jobs.parquet", "links.csv", "log.parquet"]
        of_run += ["placements.parquet", "run.json"]
        assert [name for name in files if not name.startswith("replicas.")] == of_run


def test_by_default_the_few_that_are_marked(forebay, tmp_path):
    document = json.loads(forebay("compare", "table1", "--no-plots", "--format", "json", "-o", tmp_path / "a").out)
    marked = [one["name"] for one in json.loads(forebay("policies", "--format", "json").out) if one["compared"]]
    assert [one["policy"] for one in document["policies"]] != marked  # best first
    assert sorted(one["policy"] for one in document["policies"]) == sorted(marked) == sorted(COMPARED)
    assert not any(load(name).needs_tiers for name in COMPARED)
    assert len(COMPARED) == 8  # as many as a figure tells apart


def test_easy_with_burst_buffers_beats_easy_without_beats_fcfs(forebay, tmp_path):
    specs = "fcfs,fcfs-easy,fcfs-bb"
    out = forebay("compare", "--no-plots", "--replicas", 0, "--policies", specs, "-o", tmp_path).out
    rows = [line.split()[0] for line in out.splitlines() if line.startswith("fcfs")]
    assert rows == 2 * ["fcfs-bb", "fcfs-easy", "fcfs"]  # a second table tells of staging


def test_the_table_fits_the_screen(forebay, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    specs = "fcfs,conservative-bb,fcfs-bb:depth=3,max_backfill=10"
    for columns in (80, 120):  # the second time all is there already
        monkeypatch.setenv("COLUMNS", str(columns))
        words = ("--no-plots", "--replicas", 0, "--policies", specs, "-o", "out")
        lines = forebay("compare", *words).out.splitlines()
        assert max(map(len, lines)) <= columns
        assert any(line.split()[:1] == ["policy"] and "wait" in line for line in lines)
        for policy, used in (("fcfs ", "43.7"), ("conservative-bb ", "55.3")):  # no number is cut off
            assert used in next(line for line in lines if line.startswith(policy)).split()


def test_policies_that_agree_are_named(forebay, tmp_path):
    """Without burst buffers it makes no difference whether they are reserved, nor to Slurm's way with them."""
    policies = ("--platform", "flat:nodes=4", "--policies", "fcfs-easy,fcfs-bb,fcfs")
    out = forebay("compare", "table1", *policies, "--no-plots", "-o", tmp_path / "out").out
    assert "fcfs-bb and fcfs-easy gave the same schedule" in out or "fcfs-easy and fcfs-bb gave the same" in out
    assert "fcfs and" not in out
    assert " and fcfs " not in out


def test_a_comparison_that_takes_the_place_of_another_says_of_which(forebay, trace, tmp_path):
    options = ("--no-plots", "-o", tmp_path / "out", "--policies")
    assert "replaces" not in forebay("compare", "table1", *options, "fcfs,SJF_EASY").err
    assert (tmp_path / "out" / "sjf-easy").is_dir()
    assert "replaces" not in forebay("compare", "table1", *options, "fcfs,sjf-easy,filler").err  # nothing is lost
    lost = f"replaces the comparison of table1 on table1 in {tmp_path / 'out'}\n"
    assert lost in forebay("compare", "table1", *options, "fcfs").err
    assert lost in forebay("compare", trace((0, 60, 2, 60)), *options, "fcfs").err
    (tmp_path / "out" / "fcfs" / "run.json").unlink()
    assert "replaces an earlier comparison in" in forebay("compare", "table1", *options, "fcfs").err


def test_notes_are_told_once(forebay, trace, tmp_path):
    path = trace((0, 60, 2, 60), (5, 60, 9, 60))
    out = forebay("compare", path, "--no-plots", "--policies", "fcfs,filler", "-o", tmp_path / "out").out
    assert out.count("asks for more than the machine or its partition has") == 1


def test_where_every_job_is_rejected_there_is_no_mean(forebay, trace, tmp_path):
    code, out, _ = forebay("compare", trace((0, 60, 9, 60)), "--policies", "fcfs,filler", "-o", tmp_path / "out")
    assert code == 0
    assert "1 job asks for more" in out


def test_one_bad_policy_loses_nothing_of_the_others(forebay, policies, tmp_path):
    out, specs = tmp_path / "out", f"fcfs,{policies}:Raises,filler,{policies}:TooMuch"
    code, said, err = forebay("compare", "table1", "--no-plots", "--policies", specs, "-o", out)
    assert code == 3
    assert [line.split()[0] for line in said.splitlines() if line.startswith("f")] == ["filler", "fcfs"]
    assert pl.read_csv(out / "compare.csv")["policy"].to_list() == ["filler", "fcfs"]
    assert "forebay: 2 of 4 policies failed; the results of the others stand" in err
    assert f"{policies}:Raises: the policy raised KeyError" in err
    assert f"{policies}:TooMuch: at t = " in err
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["fcfs", "filler"]
    code, said, _ = forebay("compare", "table1", "--no-plots", "--policies", specs, "-o", out, "--format", "json")
    assert code == 3
    failed = json.loads(said)["failed"]
    assert [one["policy"] for one in failed] == [f"{policies}:Raises", f"{policies}:TooMuch"]
    assert "KeyError" in failed[0]["message"]


def test_a_policy_that_is_refused_is_one_that_fails(forebay, tmp_path):
    specs = "fcfs,window-weighted:objectives=ssd"
    code, said, err = forebay("compare", "table1", "--no-plots", "--policies", specs, "-o", tmp_path / "out")
    assert code == 2
    assert "\nfcfs " in said
    assert "window-weighted:objectives=ssd: " in err


def test_without_memory(forebay, policies, tmp_path):
    policies.write_text(
        policies.read_text()
        + """
class Large:
    def setup(self, view):
        raise MemoryError("no 7 TB left")
    def decide(self, view, act):
        pass
"""
    )
    specs = f"fcfs,{policies}:Large"
    code, said, err = forebay("compare", "table1", "--no-plots", "--policies", specs, "-o", tmp_path / "out")
    assert code == 1
    assert "\nfcfs " in said
    assert "it ran out of memory (no 7 TB left)" in err


def test_where_all_fail_nothing_is_written(forebay, policies, tmp_path):
    out = tmp_path / "out"
    code, said, err = forebay("compare", "table1", "--policies", f"{policies}:Raises", "-o", out)
    assert (code, said) == (3, "")
    assert err.startswith("forebay: the policy raised KeyError")
    assert not out.exists()
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    forebay("compare", "table1", "--policies", f"{policies}:Raises,{policies}:TooMuch", "-o", out)
    assert [path.name for path in out.rglob("*")] == ["mine.txt"]


def test_what_a_policy_prints_is_not_in_the_answer(forebay, policies, tmp_path):
    specs = f"{policies}:InOrder"
    _, said, err = forebay("compare", "table1", "--no-plots", "--policies", specs, "-o", tmp_path / "out")
    assert "deciding" not in said
    assert "deciding" in err
