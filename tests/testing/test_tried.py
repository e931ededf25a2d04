"""What a check says of what it tried: lines that never ran, numbers that a policy has, verbs and triggers."""

import sys
import types

import pytest

import forebay as fb
from forebay.testing import Lines, Scale, check_policy
from forebay.testing.lines import Monitor, Watch, lines_of
from forebay.testing.scale import scales_of
from forebay.testing.source import file_of, numbers_of, own_code

pytestmark = pytest.mark.small

SOURCE = """
import forebay as fb

MOST = 500


def helper(view):
    if view.now < 0:
        return 1
    return 2


class Mine(fb.Policy):
    hours = 24

    def __init__(self, patience: float = 7.5):
        self.patience = patience

    def decide(self, view, act):
        for job in view.queue:
            if act.fits(job):
                act.start(job)
        if helper(view) == 1:
            act.wake(view.now + 60)
            act.wake(view.now + MOST)

    def never(self):
        return [
            1
        ]


class Other(fb.Policy):
    def decide(self, view, act):
        return 12345
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    return f"{tmp_path / 'mine.py'}:Mine"


def test_lines_that_never_ran_are_told(mine):
    report = check_policy(mine, n_cases=3)
    lines = report.tried.lines
    assert lines.file == mine.rpartition(":")[0]
    assert lines.never == (9, 24, 25, 28, 29)
    assert lines.text() == "5 of 11 lines never ran: 9, 24-29"
    assert report.passed
    assert report.verdict == f"{mine} keeps every rule in what was tried"
    assert not report.tried.complete


def test_a_policy_whose_every_line_ran_keeps_every_rule(mine, tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE.replace("view.now < 0", "view.now < 1").partition("    def never")[0])
    report = check_policy(f"{mine}:patience=3", n_cases=3)
    assert report.tried.lines.text() == "all lines ran (9)"
    assert report.verdict == f"{mine}:patience=3 keeps every rule"
    report = check_policy("fcfs", n_cases=2)
    assert report.tried.lines is None
    assert report.verdict == "fcfs keeps every rule"


def test_verbs_and_triggers():
    class Wakes(fb.Policy):
        def decide(self, view, act):
            for job in view.queue:
                if act.fits(job):
                    act.start(job)
            if view.because(fb.Trigger.SUBMIT):
                act.wake(view.now + 0.5)

    tried = check_policy(Wakes, n_cases=4).tried
    assert [*tried.verbs] == ["start", "wake"]
    assert "wake" in tried.triggers
    assert "request" not in tried.triggers
    assert "called for: submit" in tried.text()
    told = tried.as_json()
    assert told["verbs"] == dict(tried.verbs)
    assert told["lines"]["never"] == []


def test_the_numbers_of_a_policy(mine):
    found = numbers_of(fb.policies.load(mine))
    assert {7.5, 24.0, 60.0, 500.0} <= set(found)
    assert 12345.0 not in found
    assert numbers_of(fb.policies.load("fcfs-bb:depth=77"))[-1] >= 77


def test_what_numbers_lead_to():
    found = scales_of([7.5, 24.0, 3600.0], 100)
    assert {one.of for one in found if one.value == 24} == {"nodes", "seconds", "jobs", "bytes", "rate"}
    assert Scale("seconds", 24 * 3600.0) in found
    assert Scale("seconds", 7.5 * 3600) in found
    assert not any(one.value == 7.5 for one in found)
    assert Scale("bytes", 50e9) in scales_of([50.0, 1e9], 100)
    assert len(scales_of([float(v) for v in range(12, 60)], 20)) == 20


def run_by(watch, code, name):
    space = {}
    exec(compile(code, "somewhere", "exec"), space)
    function = space[name]
    with watch([function.__code__]) as seen:
        function(1)
    return seen.ran, lines_of([function.__code__])


CODE = "def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y\n"


@pytest.mark.parametrize(
    "watch",
    [Watch, pytest.param(Monitor, marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="no sys.monitoring"))],
)
def test_both_ways_to_watch_lines(watch):
    before = sys.gettrace()
    ran, lines = run_by(watch, CODE, "f")
    assert (ran, lines) == ({2, 3, 6}, {2, 3, 5, 6})
    assert sys.gettrace() is before


def test_ranges_join_over_lines_without_code():
    assert Lines("f", (1, 2, 5, 9, 10), (2, 5, 10)).text() == "3 of 5 lines never ran: 2-5, 10"
    assert Lines("f", (1,), ()).text() == "all lines ran (1)"


def test_policies_of_forebay_have_no_file_of_their_own():
    assert file_of(fb.policies.load("fcfs-bb")) is None
    assert own_code(fb.policies.load("fcfs-bb")) == []
    assert isinstance(own_code(types.SimpleNamespace()), list)


SPIES = """
import forebay as fb

class Knowing(fb.Policy):
    known = "{known}"

    def decide(self, view, act):
        for job in view.queue:
            if view.io_bytes(job) > 0 and view.io_period(job) < float("inf"):
                act.say(job, "moves")
        act.backfill()


class Careless(fb.Policy):
    resizes = True

    def decide(self, view, act):
        act.backfill()
        for job in view.points:
            if len(view.queue) == 0:
                act.resize(job, view.sizes(job)[-1])  # whether or not as many nodes are free
            elif view.size(job) > view.sizes(job)[0]:
                act.resize(job, view.sizes(job)[0])
"""


@pytest.mark.parametrize("known", ["exact", "stated", "learned"])
def test_a_policy_that_knows_of_io_is_tried_where_there_is_some(tmp_path, known):
    (tmp_path / "spies.py").write_text(SPIES.replace("{known}", known))
    report = check_policy(f"{tmp_path / 'spies.py'}:Knowing", n_cases=8)
    assert report.passed
    assert report.tried.lines.never == ()


def test_a_policy_that_resizes_is_tried_where_nodes_are_short(tmp_path):
    (tmp_path / "spies.py").write_text(SPIES)
    report = check_policy(f"{tmp_path / 'spies.py'}:Careless", n_cases=25)
    assert {check.name for check in report.checks if not check.ok} == {"legal"}
    assert "resized job" in report.explanation
    assert report.tried.lines.never == ()
