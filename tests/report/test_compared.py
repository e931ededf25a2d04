"""The page of a comparison says first what was found, and shows who gains and who loses."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from forebay.errors import InputError
from forebay.figures import _look
from forebay.report import _models, write
from forebay.report._compared import answer, matrix
from forebay.report._folder import Runs
from report.conftest import comparison
from report.test_page import Reader

pytestmark = pytest.mark.small

GROUPS = {
    "by": ["user"] * 6,
    "name": ["ann", "bob", "eve"] * 2,
    "policy": ["plan"] * 3 + ["fcfs"] * 3,
    "jobs": [7, 20, 5] * 2,
    "mean_wait": [3600.0, 60.0, 120.0, 1800.0, 7200.0, 120.0],
    "gained_hours": [0.0, 40.0, 0.0, None, None, None],
    "lost_hours": [3.5, 0.0, 0.0, None, None, None],
    "net_hours": [3.5, -39.7, 0.0, None, None, None],
    "low_hours": [1.0, -50.0, 0.0, None, None, None],
    "high_hours": [6.0, -30.0, 0.0, None, None, None],
    "verdict": ["loses", "gains", "same", None, None, None],
}


def row(policy, word, change, low=None, high=None, metric="mean_wait", n=11, over="replicas"):
    value = None if change is None else 7200.0 * (1 + change)
    return {
        "policy": policy,
        "reference": "fcfs",
        "metric": metric,
        "value": value,
        "reference_value": 7200.0,
        "change": change,
        "low": low,
        "high": high,
        "verdict": word,
        "n": n,
        "over": over,
    }


def runs(*rows, longest=None, groups=None):
    labels = list(dict.fromkeys([*(one["policy"] for one in rows), "fcfs"]))
    documents = [{"policy": label, "summary": {"max_wait": (longest or {}).get(label)}} for label in labels]
    verdicts = pl.DataFrame(list(rows), infer_schema_length=None) if rows else None
    return Runs(documents, [Path(label) for label in labels], verdicts, groups=groups)


def test_the_first_sentence_says_who_is_better_and_by_how_much():
    found = runs(
        row("plan", "better", -0.8, -0.85, -0.73),
        row("sjf", "better", -0.1, -0.2, -0.01),
        row("lcfs", "worse", 2.0, 1, 3),
    )
    first, others = answer.sentences(found)
    assert first == "plan cuts the mean wait by 80 % (73 to 85) against fcfs, from 2 h to 24 min."
    assert others == "Also better: sjf (\N{MINUS SIGN}10 %). Worse: lcfs (+200 %)."


def test_the_order_of_rows_does_not_matter():
    rows = [row("sjf", "better", -0.1, -0.2, -0.01), row("plan", "better", -0.8, -0.85, -0.73)]
    assert answer.sentences(runs(*rows)) == answer.sentences(runs(*rows[::-1]))


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            [row("a", "same", 0.0, 0.0, 0.0), row("b", "same", 0.0, 0.0, 0.0)],
            "Every policy gives the schedule of fcfs.",
        ),
        (
            [row("a", "undecided", 0.3, n=0)],
            "Nothing can be decided against fcfs: there are too few jobs for an interval.",
        ),
        ([row("a", "undecided", 0.3, -0.1, 0.9)], "every interval of the mean wait's change has 0 in it."),
        (
            [row("a", "worse", 0.3, 0.1, 0.9), row("b", "undecided", -0.3, -0.9, 0.1)],
            "No policy has a shorter mean wait than fcfs, as far as this can be decided; "
            "a raises it by 30 % (10 to 90), from 2 h to 2 h 36 min.",
        ),
    ],
)
def test_without_a_better_policy_the_first_sentence_says_so(rows, text):
    assert answer.sentences(runs(*rows))[0].endswith(text)


def test_the_longest_wait_is_said_whatever_the_mean_does():
    found = runs(row("plan", "better", -0.8, -0.85, -0.73), longest={"plan": 7200.0, "fcfs": 3600.0})
    assert answer.sentences(found)[-1] == "Under plan, the longest wait is 2 h; under fcfs, 1 h."


def test_users_who_lose_are_named():
    found = runs(row("plan", "better", -0.8, -0.85, -0.73), groups=pl.DataFrame(GROUPS))
    text = "Of 3 users, 1 gain and 1 lose under plan; most hours lost: ann, +3.50 h (+1.00 to +6.00)."
    assert answer.sentences(found)[-1] == text


def test_the_matrix_has_a_cell_for_each_policy_and_metric():
    found = runs(
        row("plan", "better", -0.8, -0.85, -0.73),
        row("plan", "undecided", 0.04, -0.1, 0.2, "p95_wait"),
        row("lcfs", "worse", 2.0, 1.0, 3.0),
        row("lcfs", "undecided", None, metric="p95_wait"),
    )
    read = Reader(matrix.sections(found)[0].html)
    plain = str.maketrans({"\N{MINUS SIGN}": "-", "\N{NO-BREAK SPACE}": " "})  # a number and its % stay together
    words = [word.strip().translate(plain) for word in read.words if word.strip()]
    assert words[1:] == [
        *("policy", "mean wait", "p95 wait"),
        *("plan", "better -80 %", "-85 to -73 %", "undecided +4.0 %", "-10 to +20 %"),
        *("lcfs", "worse +200 %", "+100 to +300 %", "undecided"),
        *("fcfs", "reference", "reference"),
    ]
    assert "over 11 runs" in words[0]


def test_dots_have_the_colour_of_their_verdict():
    found = runs(
        row("plan", "better", -0.8, -0.85, -0.73), row("lcfs", "worse", 2.0, 1.0, 3.0), row("x", "undecided", 0.1)
    )
    [section] = matrix.changes(found)
    [figure] = section.plots.values()
    text = json.dumps(_models.items([("plot", figure)]))
    assert json.dumps([_look.GREEN, _look.ORANGE, _look.GREY]) in text


def options(path, name):
    """Labels of a choice, and the one that is chosen."""
    text = re.search(f'<select id="{name}">(.*?)</select>', path.read_text(encoding="utf-8"))[1]
    found = re.findall(r'<option value="\d*"( selected)?>(.*?)</option>', text)
    return [label for _, label in found], [label for chosen, label in found if chosen]


def test_the_best_policy_is_shown_above_the_reference(small, tmp_path):
    """fcfs-bb is the reference and the best; of the others, fcfs-easy is."""
    page = write(small, tmp_path / "report.html")
    assert options(page, "first") == (["fcfs-bb", "fcfs-easy", "fcfs"], ["fcfs-easy"])
    assert options(page, "second")[1] == ["fcfs-bb"]


def test_who_gains_and_who_loses(tmp_path):
    folder = comparison(tmp_path / "out", ("fcfs", "fcfs-bb"))
    verdicts = [row("fcfs-bb", "better", -0.8, -0.85, -0.73)]
    pl.DataFrame(verdicts).write_csv(folder / "verdicts.csv")
    plan = pl.col("policy").replace("plan", "fcfs-bb")
    pl.DataFrame(GROUPS).with_columns(plan).write_csv(folder / "groups.csv")
    words = " ".join(" ".join(Reader(write(folder).read_text(encoding="utf-8")).words).split())
    assert "1 lose, 1 gain, 1 unchanged most lost: ann, +3.50 h (+1.00 to +6.00)" in words
    assert "ann 7 0.0 3.5 30 min 1 h +3.50 h (+1.00 to +6.00) loses" in words
    assert "bob 20 40.0 0.0 2 h 1 min \N{MINUS SIGN}39.7 h" in words


def test_a_broken_table_of_groups_is_refused(small, tmp_path):
    (tmp_path / "fcfs").symlink_to(small / "fcfs")
    (tmp_path / "groups.csv").write_text("by,name\nuser,ann\n")
    with pytest.raises(InputError, match=r"groups\.csv: not a table of groups; make the comparison again"):
        write(tmp_path)


def test_numbers_over_copies_say_so(tmp_path):
    folder = comparison(tmp_path / "out", ("fcfs", "fcfs-bb"))
    ranking = {"policy": ["fcfs-bb", "fcfs"], "runs": [11, 11], "mean_wait": [100.0, 200.0]}
    pl.DataFrame(ranking).write_csv(folder / "ranking.csv")
    (folder / "compare.json").write_text(json.dumps({"format": 1, "files": ["fcfs/run.json", "fcfs-bb/run.json"]}))
    words = " ".join(" ".join(Reader(write(folder).read_text(encoding="utf-8")).words).split())
    assert "means over the trace and 10 shaken copies of it" in words
    assert " runs " not in words
    assert "Under fcfs-bb, the mean wait is 1 min 40 s; under fcfs, 3 min 20 s." in words
