"""A comparison from Python: what the command does, without a terminal."""

import json

import pytest

import forebay as fb
from forebay.errors import ForebayError, InputError
from forebay.experiments.comparison import Plan, compare
from forebay.experiments.comparison.selection import select
from forebay.experiments.setting import Setting


@pytest.fixture
def setting():
    workload = fb.read("table1")
    return Setting(workload, fb.platform(workload.platform), None, 0, None)


def test_a_comparison_is_an_object(setting, tmp_path, capfd):
    """The same numbers as those of single runs, ranked, and nothing said."""
    policies, reference = select("fcfs,fcfs-easy", None).on(setting)
    found = compare(Plan(setting, policies, reference), tmp_path / "out", figures=False, page=False)
    waits = {name: fb.summary(fb.simulate("table1", policy=name))["mean_wait"] for name in ("fcfs", "fcfs-easy")}
    assert reference == found.reference == "fcfs-easy"
    assert {one["policy"]: one["summary"]["mean_wait"] for one in found.documents} == waits
    assert [one["policy"] for one in found.documents] == sorted(waits, key=waits.get)
    assert [verdict.policy for verdict in found.verdicts if verdict.metric == "mean_wait"] == ["fcfs"]
    assert capfd.readouterr() == ("", "")


def test_its_files_are_those_of_its_tables(setting, tmp_path):
    found = compare(Plan(setting, *select("fcfs,fcfs-easy", None).on(setting)), tmp_path, figures=False, page=False)
    assert {path.name for path in tmp_path.glob("*.csv")} == set(found.tables())
    assert json.loads((tmp_path / "compare.json").read_text())["policies"] == ["fcfs", "fcfs-easy"]
    assert found.document()["files"] == [str(tmp_path / name) for name in found.tables()]


def test_a_comparison_in_which_every_policy_fails_says_why(setting, tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("class Broken:\n    def decide(self, view, act):\n        raise RuntimeError('no idea')\n")
    plan = Plan(setting, *select(f"{file}:Broken", None).on(setting))
    with pytest.raises(ForebayError, match="no idea"):
        compare(plan, tmp_path / "out", figures=False, page=False)
    assert not (tmp_path / "out").exists()


def test_a_machine_without_tiers_has_no_use_for_their_policies(setting):
    with pytest.raises(InputError, match="none of these is of use"):
        select("tiers", None).on(setting)
