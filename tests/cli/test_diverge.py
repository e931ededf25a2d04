"""`forebay diverge`: where two saved runs part."""

import json

import pytest

pytestmark = pytest.mark.small


def test_two_runs(forebay, tmp_path):
    for policy in ("fcfs-easy", "fcfs-bb"):
        forebay("run", "table1", "--policy", policy, "-o", tmp_path / policy)
    code, text, _ = forebay("diverge", tmp_path / "fcfs-easy", tmp_path / "fcfs-bb")
    assert code == 0
    assert text.splitlines()[0] == "The runs part at 2 min (t = 120 s)."
    told = json.loads(forebay("diverge", tmp_path / "fcfs-easy", tmp_path / "fcfs-bb", "--format", "json").out)
    assert told["divergence"]["time"] == 120
    assert [one["policy"] for one in told["divergence"]["runs"]] == ["fcfs-easy", "fcfs-bb"]
    assert told["divergence"]["waiting"][0]["job_id"] == 3
    same = forebay("diverge", tmp_path / "fcfs-bb", tmp_path / "fcfs-bb")
    assert same.out == "The runs did the same all along.\n"


def test_a_folder_without_a_run(forebay, tmp_path):
    code, _, errors = forebay("diverge", tmp_path, tmp_path)
    assert code == 2
    assert str(tmp_path) in errors
