"""What `run` and `compare` say of runs in which nodes fail."""

import pytest

import forebay as fb
from cases.failing import toy
from forebay.cli import run
from forebay.cli._render.comparison import report
from forebay.experiments.comparison.compared import Compared
from forebay.results import document

pytestmark = pytest.mark.small


def told(result, policy):
    about = {"policy": policy, "platform": {"text": "8 nodes"}, "job_model": "alloc-only", "seed": 0, "notes": []}
    beside = document(result, window=None, summary=fb.summary(result))
    return beside | about | {"files": ["run.json"], "schedule": policy}


def test_a_run_shows_what_became_of_the_time(capsys):
    run.report(told(toy(steals=True), "thief"), None, [])
    lines = [line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if "  " in line]
    shown = {words: text.strip() for words, text in lines}
    assert shown["useful work"] == "80.4 %"  # 135 / 168
    assert shown["lost to failures"] == "3.6 %"
    assert shown["lost to the policy"] == "0.6 %"
    assert shown["node failures"] == "1"


def test_a_comparison_has_a_table_of_failures(capsys, tmp_path):
    """Also where one of the runs has met none."""
    documents = [
        told(toy(steals=True), "thief"),
        told(toy(steals=False), "patient"),
        told(fb.simulate("table1"), "safe"),
    ]
    report(Compared(documents, [], "", "", {}, tmp_path, []))
    out = capsys.readouterr().out
    rows = [line.split() for line in out[out.index("lost to") :].splitlines()]
    rows = {row[0]: row[1:] for row in rows if row and row[0] in ("thief", "patient", "safe")}
    assert rows["thief"] == ["80.4", "0.0", "0.0", "3.6", "0.6", "21", "s", "14.7", "s", "1", "1"]
    assert rows["patient"] == ["67.5", "0.0", "0.0", "3.0", "0.0", "25", "s", "17.1", "s", "1", "0"]
    assert rows["safe"] == ["-"] * 9


def test_other_comparisons_have_none(capsys, tmp_path):
    report(Compared([told(fb.simulate("table1"), "safe")], [], "", "", {}, tmp_path, []))
    assert "lost to" not in capsys.readouterr().out
