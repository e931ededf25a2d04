"""Numbers and JSON as they are shown."""

import json
import math

import pytest

from forebay._support.text import as_json
from forebay.cli._render.number_text import number, percent, seconds, short_seconds, shortest_seconds
from forebay.core.units import parse_period

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
