"""Failures: what is refused, by name, and what is told of them."""

import json
import math

import numpy as np
import pytest

from forebay.core.failures import Failures, Outages
from forebay.errors import InputError

pytestmark = pytest.mark.small

TRACE = Outages("trace.csv", "12ab", np.array([0, 3]), np.array([10.0, 20.0]), np.array([15.0, np.inf]))

REFUSED = {
    "mtbf of zero": ({"mtbf": 0}, "mtbf is 0; give a time above 0"),
    "mtbf below zero": ({"mtbf": -3600.0}, "mtbf is -3600"),
    "mtbf that is none": ({"mtbf": math.nan}, "mtbf is nan"),
    "node_mtbf": ({"node_mtbf": 0}, "node_mtbf is 0; give a time above 0"),
    "downtime": ({"mtbf": 60, "downtime": 0}, "downtime is 0; give a time above 0"),
    "shape of zero": ({"mtbf": 60, "shape": 0}, "shape is 0; give a number from 0.1 up"),
    "shape without bound": ({"mtbf": 60, "shape": math.inf}, "shape is inf"),
    "two means": ({"mtbf": 60, "node_mtbf": 60}, "give one of them, not both"),
    "checkpoint": ({"mtbf": 60, "checkpoint": -1}, "checkpoint is -1; give a time from 0 up"),
    "endless checkpoint": ({"mtbf": 60, "checkpoint": math.inf}, "checkpoint is inf"),
    "checkpoint_bytes": ({"mtbf": 60, "checkpoint_bytes": -1}, "checkpoint_bytes is -1; give a size"),
    "two sizes": ({"mtbf": 60, "checkpoint": 1, "checkpoint_bytes": 1}, "a time, checkpoint_bytes a size; give one"),
    "no period": ({"checkpoint": 300}, "give a period, such as period=4h"),
    "no period of bytes": ({"checkpoint_bytes": 300}, "give a period"),
    "no period with a trace": ({"checkpoint": 300, "outages": TRACE}, "give a period"),
    "period": ({"mtbf": 60, "checkpoint": 1, "period": -1}, "period is -1; give a time from 0 up"),
    "period of nothing": ({"mtbf": 60, "period": 60}, "period is of checkpoints, and jobs write none"),
    "recovery": ({"mtbf": 60, "checkpoint": 1, "recovery": -2}, "recovery is -2; give a time from 0 up"),
    "recovery of nothing": ({"mtbf": 60, "recovery": 1}, "recovery is of checkpoints, and jobs write none"),
    "recovery of bytes": ({"mtbf": 60, "checkpoint_bytes": 1, "recovery": 1}, "checkpoint_bytes are read back"),
    "no attempt": ({"mtbf": 60, "max_attempts": 0}, "max_attempts is 0; give a count from 1 up"),
    "seed": ({"mtbf": 60, "seed": -2}, "seed is -2; give a whole number from 0 up"),
    "trace and mtbf": ({"mtbf": 60, "outages": TRACE}, "mtbf is of failures that are drawn, and trace.csv says"),
    "trace and node_mtbf": ({"node_mtbf": 60, "outages": TRACE}, "node_mtbf is of failures that are drawn"),
    "trace and downtime": ({"downtime": 60, "outages": TRACE}, "downtime is of failures that are drawn"),
    "text": ({"mtbf": "1h"}, "mtbf is '1h', of type str; give a number; times are in seconds"),
    "truth for a number": (
        {"mtbf": 60, "max_attempts": True},
        "max_attempts is True, of type bool",
    ),
    "number for truth": ({"mtbf": 60, "known": 1}, "known is 1, of type int; give true or false"),
    "half an attempt": ({"mtbf": 60, "max_attempts": 1.5}, "max_attempts is 1.5, of type float; give a whole number"),
    "a file's name": ({"outages": "trace.csv"}, "outages is 'trace.csv', of type str"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused(case):
    values, words = REFUSED[case]
    with pytest.raises(InputError) as caught:
        Failures(**values)
    assert str(caught.value).startswith("failures: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"mtbf": 3600, "checkpoint": 300},
        {"node_mtbf": 1e8, "shape": 0.7, "downtime": math.inf, "checkpoint_bytes": 10**9},
        {"checkpoint": 300, "period": 3600},  # nothing fails, but a policy may interrupt
        {"outages": TRACE, "checkpoint": 300, "period": 3600, "known": False, "max_attempts": 1, "seed": 0},
        {"mtbf": np.float64(60), "max_attempts": np.int64(3)},
    ],
)
def test_what_makes_sense_is_taken(values):
    made = Failures(**values)
    assert {name: getattr(made, name) for name in values} == values


def test_the_machine_fails_as_often_as_all_its_nodes_together():
    assert Failures(mtbf=3600).machine_mtbf(100) == 3600
    assert Failures(node_mtbf=3600).machine_mtbf(100) == 36
    assert Failures(outages=TRACE).machine_mtbf(100) == math.inf


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"mtbf": 3600, "downtime": 60, "checkpoint": 300},
            {
                "mtbf": 3600,
                "shape": 1,
                "downtime": 60,
                "checkpoint": 300,
                "text": "a failure every 1 h, 1 min down, checkpoints of 5 min",
            },
        ),
        (
            {"node_mtbf": 86400, "downtime": math.inf, "shape": 0.5, "seed": 7},
            {"node_mtbf": 86400, "shape": 0.5, "seed": 7, "text": "a failure of each node every 1 d, down for good"},
        ),
        (
            {"outages": TRACE, "checkpoint_bytes": 10**9, "period": 7200},
            {
                "checkpoint_bytes": 10**9,
                "period": 7200,
                "trace": "trace.csv",
                "trace_sha256": "12ab",
                "text": "2 outages of trace.csv, checkpoints of 1 GB a node every 2 h",
            },
        ),
        (
            {"checkpoint": 30, "period": 60},
            {"checkpoint": 30, "period": 60, "text": "no failures, checkpoints of 30 s every 1 min"},
        ),
    ],
)
def test_what_is_told_of_them(values, told):
    described = Failures(**values).describe()
    assert described == {"known": True, "max_attempts": 100} | told
    assert json.loads(json.dumps(described, allow_nan=False)) == described


def test_numbers_of_numpy_are_told_as_plain_ones():
    described = Failures(mtbf=np.float64(60), max_attempts=np.int64(3)).describe()
    assert {type(value) for value in described.values()} <= {float, int, bool, str}


def test_traces_count_by_their_bytes():
    """So that failures can be compared and hashed, as platforms are."""
    other = Outages("trace.csv", "12ab", np.array([1]), np.array([1.0]), np.array([2.0]))
    assert Failures(outages=TRACE) == Failures(outages=other)
    assert hash(Failures(outages=TRACE)) == hash(Failures(outages=other))
    assert Failures(outages=TRACE) != Failures(outages=Outages("trace.csv", "34cd", TRACE.node, TRACE.down, TRACE.up))
