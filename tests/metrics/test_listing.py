"""Metrics are found by looking, say what they are, and stand in the documentation; nothing else stands there."""

import dataclasses
import re
import sys
from pathlib import Path

import pytest

import forebay as fb
from cases.failing import guarded
from cases.tiered_by_hand import job, run, steps
from forebay import metrics
from forebay.cli._render.number_text import shown
from forebay.errors import InputError
from forebay.metrics import _listing
from forebay.metrics._metric import GROUPS, UNITS
from forebay.workload import models
from forebay.workload.operations import first

pytestmark = pytest.mark.small

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = "\n".join((REFERENCE / name).read_text(encoding="utf-8") for name in ("metrics.md", "metrics/in-python.md"))
GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "extend" / "answers.md").read_text(encoding="utf-8")
EVERY = _listing.metrics()


def documented():
    """The first column of every table of names and definitions."""
    tables = re.findall(r"^\| name \| definition \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return {
        name for table in tables for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }


@pytest.fixture(scope="module")
def runs():
    """Runs with all there is: plain, staged, on tiers, that change size, failing, with servers, reserved, powered."""
    tiers = run([job(1, 18, fast=10)], steps(1, read=8, compute=10))
    staged = fb.simulate(first(fb.read("default"), 9), "dragonfly-96")
    malleable = fb.simulate(models.generate("admire-mebf:jobs=3,longest=1h", 1), policy="fcfs-malleable")
    served = fb.simulate("table1", "flat:nodes=4,pfs=1GB/s", job_model="adhoc")
    kept = fb.platforms.Reservation(name="service", start="1 h", duration="1 h")
    serviced = fb.simulate(fb.read("table1"), fb.platform("table1").model_copy(update={"reservations": (kept,)}))
    after = fb.workload.dependency_table({"job": [2], "parent": [1]})
    waiting = fb.simulate(dataclasses.replace(fb.read("table1"), dependencies=after))
    powered = fb.simulate("table1", fb.Platform(name="m", nodes=4, power={"idle": "100 W", "busy": "300 W"}))
    one = {"id": [1], "submit": [0], "walltime": [9], "run_time": [9], "nodes": [1], "deadline": [5]}
    due = fb.simulate(fb.Workload("due", fb.workload.job_table(one)), "flat:nodes=1")
    plain = fb.simulate(fb.read("table1"))
    shared = fb.simulate("table1", "flat:nodes=40,burst_buffer=100TB,pfs=1GB/s", "fcfs-bb+io:fair")
    return [plain, shared, staged, tiers, malleable, guarded(), served, serviced, waiting, powered, due]


def test_the_documentation_names_every_metric_and_no_other():
    assert {name for one in EVERY for name in one.names} <= documented()
    for name in documented():
        _listing.about(name)


def test_every_public_function_is_documented():
    told = documented() | set(re.findall(r"`(\w+)\(", PAGE)) | set(re.findall(r"`(\w+)`", PAGE))
    assert set(metrics.__all__) <= told


def test_what_they_say_of_themselves():
    assert [one.group for one in EVERY] == sorted((one.group for one in EVERY), key=GROUPS.index)
    names = [name for one in EVERY for name in one.names]
    assert len(names) == len(set(names))


def test_summaries_hold_what_was_announced_and_nothing_else(runs):
    seen = set()
    for result in runs:
        for one in EVERY:
            for name, value in one.numbers(result).items():
                assert one.gives(name), name
                assert _listing.about(name) is one
                assert one.unit_of(name) in UNITS
                assert one.unit_of(name) != "share" or value is None or 0 <= value <= 1
                assert shown(name, value)
                seen |= {known for known in one.names if re.fullmatch(re.sub("[A-Z]+", ".+", known), name)}
    assert seen == {name for one in EVERY for name in one.names}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("mean_waiting_time", 90.0, "1 min 30 s"),
        ("mean_bounded_slowdown_10s", 2.5, "2.50"),
        ("utilisation_burst_buffer", 0.5, "50.0 %"),
        ("n_on_fast", 1062, "1,062"),
        ("n_failures", 1062, "1,062"),
        ("down_node_hours", 2.5, "2.50 node-hours"),
        ("bytes_stage_in", None, "-"),
    ],
)
def test_numbers_are_shown_by_their_unit(name, value, text):
    assert shown(name, value) == text


def test_an_unknown_name():
    with pytest.raises(InputError, match="unknown metric 'makspan': did you mean 'makespan'"):
        _listing.about("makspan")


@pytest.fixture
def dropped_in(tmp_path, monkeypatch):
    """A function that puts a file into the folder of metrics, as it were."""
    monkeypatch.setattr(metrics, "__path__", [*metrics.__path__, str(tmp_path)])

    def drop(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        forget()

    def forget():
        _listing.built_in.cache_clear()
        _listing._names.cache_clear()

    yield drop
    forget()
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(f"forebay.metrics.{path.stem}", None)
        if getattr(metrics, path.stem, None) is not None:
            delattr(metrics, path.stem)


def test_a_metric_is_one_file(dropped_in):
    [example] = re.findall(
        r"`src/forebay/metrics/patience.py`:\n\n```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL
    )
    dropped_in("patience", example)
    result = fb.simulate(fb.read("table1"))
    whole = fb.summary(result)
    assert whole["longest_wait"] == 540
    assert list(whole).index("longest_wait") > list(whole).index("utilisation_nodes")
    assert shown("longest_wait", 540.0) == "9 min"
    assert "longest_wait" in _listing.public("forebay.metrics", metrics.__path__)
    assert _listing.own_among([whole]) == []


def test_two_metrics_of_one_name_are_refused(dropped_in):
    dropped_in(
        "twin",
        "from forebay.metrics import metric\n\n"
        '@metric("makespan", unit="s", group="machine")\ndef other(result):\n    return 1.0\n',
    )
    with pytest.raises(InputError, match=r"two metrics are called makespan; rename that of forebay\.metrics\.twin"):
        fb.summary(fb.simulate(fb.read("table1")))
