"""Numbers and JSON as they are shown."""

import json
import math

import pytest

from forebay._support.text import as_json, together
from forebay.cli._render.number_text import number, percent, seconds, short_seconds, shortest_seconds
from forebay.core.units import parse_period
from forebay.experiments.comparison.compared import notes
from forebay.metrics._numbers import killed_unlike

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("value", "long", "short", "shortest"),
    [
        (None, "-", "-", "-"),
        (0.0, "0 s", "0s", "0s"),
        (12.5, "12.5 s", "12.5s", "12.5s"),
        (345.0, "5 min 45 s", "5m 45s", "5.8m"),
        (13920.0, "3 h 52 min", "3h 52m", "3.9h"),
        (100800.0, "1 d 4 h", "1d 4h", "1.2d"),
        (86400.0 * 365, "365 d", "365d", "365d"),
        (math.nan, "nan", "nan", "nan"),
    ],
)
def test_durations(value, long, short, shortest):
    assert (seconds(value), short_seconds(value), shortest_seconds(value)) == (long, short, shortest)


def test_plain_numbers():
    assert [number(value) for value in (None, 1.1125, 99.999, 150.46, 1160.49)] == [
        "-",
        "1.11",
        "100.0",
        "150.5",
        "1,160",
    ]
    assert [percent(value) for value in (None, 0.5417)] == ["-", "54.2 %"]


def test_json_has_only_what_json_has():
    assert json.loads(as_json({"a": math.inf, "b": [math.nan, 1.5], "c": "ą"})) == {
        "a": None,
        "b": [None, 1.5],
        "c": "ą",
    }


@pytest.mark.parametrize(
    ("text", "period"),
    [
        (None, None),
        ("1d:8d", (86400, 691200)),
        ("3600:7200", (3600, 7200)),
        (":1 h 30 min", (0, 5400)),
        ("12h:", (43200, math.inf)),
    ],
)
def test_periods(text, period):
    assert parse_period(text, "--window") == period


def test_notes_that_are_alike_stand_in_one_line():
    alike = [f"partition 'p{k}': not heeded: AllowQos=q{k}" for k in range(50)]
    assert together(["one", *alike, "two"]) == [
        "one",
        "partition 'p0': not heeded: AllowQos=q0 (49 notes more like this: 'p1', 'p2', 'p3', 'p4', 'p5' and 44 more)",
        "two",
    ]


def test_a_few_notes_and_notes_that_differ_in_words_stay_apart():
    notes = ["3 jobs are killed", "4 jobs are killed", "5 jobs are killed", "3 jobs are rejected", "no jobs are killed"]
    assert together(notes) == notes
    assert together(["same", "same"]) == ["same"]


def test_what_differs_first_is_what_the_line_names():
    notes = [f"line 7 of 'trace': job {k} has {k + 1} nodes" for k in range(4)]
    assert together(notes) == ["line 7 of 'trace': job 0 has 1 nodes (3 notes more like this: 1, 2, 3)"]


def test_kills_are_remarked_on_where_policies_differ_in_them():
    killed = {"fcfs": {"n_killed": 65, "n_jobs": 100}, "held": {"n_killed": 25.0, "n_jobs": 100}}
    said = killed_unlike(killed)
    assert said.startswith("fcfs kills 65 of 100 jobs at their walltimes, and held 25: jobs that are cut off")
    documents = [{"policy": policy, "summary": numbers, "notes": []} for policy, numbers in killed.items()]
    assert notes([one | {"log_sha256": one["policy"], "schedule": one["policy"]} for one in documents]) == [said]
    alike = {"fcfs": {"n_killed": 31, "n_jobs": 3000}, "held": {"n_killed": 1, "n_jobs": 3000}}
    assert killed_unlike(alike) == killed_unlike({"fcfs": {"n_killed": None}}) == killed_unlike({}) == ""
