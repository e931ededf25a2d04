"""`forebay check-policy`: ticks, crosses, and the smallest workload that shows a breach."""

import json
import sys
from functools import partial

import pytest

from forebay import testing


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Cases enough to find what these policies break: what is looked at here is how it is reported."""
    monkeypatch.setattr(testing, "check_policy", partial(testing.check_policy, n_cases=12))


def test_a_policy_that_keeps_the_rules(forebay, policies):
    code, out, err = forebay("check-policy", f"{policies}:InOrder")
    assert (code, err) == (0, "")
    assert "✓" in out
    assert "✗" not in out
    assert "keeps every rule" in out
    assert "deciding" not in out
    assert "used: start" in out
    assert "lines ran" in out or "never ran" in out


def test_a_policy_that_breaks_one(forebay, policies):
    code, out, err = forebay("check-policy", f"{policies}:Twice")
    assert code == 3
    assert "✗" in out
    assert "smallest workload" in out
    assert "breaks a rule: legal" in err


def test_as_json(forebay, policies):
    code, out, _ = forebay("check-policy", f"{policies}:Twice", "--format", "json")
    report = json.loads(out)
    assert code == 3
    assert not report["passed"]
    assert [check["name"] for check in report["checks"] if not check["ok"]] == ["legal"]
    assert "smallest workload" in report["explanation"]
    assert report["tried"]["verbs"]["start"] > 0
    assert "submit" in report["tried"]["triggers"]
    assert set(report["tried"]["lines"]) == {"file", "all", "never"}
    assert report["verdict"].endswith("breaks a rule: legal")


def test_a_policy_that_is_not_there(forebay, tmp_path):
    assert forebay("check-policy", tmp_path / "nowhere.py:Mine").code == 2
    assert forebay("check-policy", "fcfss").code == 2


def test_the_head_is_checked_where_that_is_asked_for(forebay, monkeypatch):
    monkeypatch.setattr(sys.modules["forebay.testing.shrink"], "MAX_TRIES", 20)
    code, out, err = forebay("check-policy", "filler", "--head-never-delayed")
    assert code == 3
    assert "which has waited longest" in out
    assert "breaks a rule: head" in err
