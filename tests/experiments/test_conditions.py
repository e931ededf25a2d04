"""Conditions on which a comparison fails: how they are written, and when they hold."""

import pytest

from forebay.errors import InputError
from forebay.experiments.conditions import failing, failing_alone, parse_condition
from forebay.experiments.verdicts import Verdict

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("text", "metric", "above", "limit", "relative"),
    [
        ("p95_wait > +5%", "p95_wait", True, 0.05, True),
        ("mean_wait>-2.5 %", "mean_wait", True, -0.025, True),
        ("mean_waiting_time > 2h", "mean_waiting_time", True, 7200.0, False),
        ("max_wait > 1 d 2 h", "max_wait", True, 93600.0, False),
        ("bounded_slowdown > 12.5", "mean_bounded_slowdown_10min", True, 12.5, False),
        ("utilisation < 80%", "utilisation_nodes", False, 0.8, False),
        ("utilisation < -3%", "utilisation_nodes", False, -0.03, True),
        ("utilisation_burst_buffer < 0.5", "utilisation_burst_buffer", False, 0.5, False),
        ("n_killed > 0", "n_killed", True, 0.0, False),
    ],
)
def test_conditions(text, metric, above, limit, relative):
    found = parse_condition(text)
    assert (found.metric, found.above, found.relative) == (metric, above, relative)
    assert found.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "is no condition"),
        ("p95_wait", "is no condition"),
        ("p95_wait = 3", "is no condition"),
        ("wait > 3 h", "unknown metric"),
        ("p95_wait > 5%", "a change has a sign"),
        ("p95_wait > 3 parsecs", "not a unit of time"),
        ("bounded_slowdown > 3h", "is no number"),
        ("n_killed > 5%", "is no number"),
    ],
)
def test_what_is_no_condition(text, hint):
    with pytest.raises(InputError, match=hint):
        parse_condition(text)


def _verdict(low, high):
    change = None if low is None else (low + high) / 2
    return Verdict("mine", "fcfs-easy", "p95_wait", 110.0, 100.0, change, low, high, "worse", 10, "replicas")


@pytest.mark.parametrize(
    ("low", "high", "text", "fails"),
    [
        (0.06, 0.2, "p95_wait > +5%", True),
        (0.04, 0.9, "p95_wait > +5%", False),  # it may be less
        (-0.2, -0.06, "p95_wait < -5%", True),
        (-0.9, -0.04, "p95_wait < -5%", False),
        (None, None, "p95_wait > +5%", False),
    ],
)
def test_a_change_fails_where_all_of_its_interval_does(low, high, text, fails):
    told = failing(parse_condition(text), _verdict(low, high))
    assert bool(told) == fails
    if fails:
        assert told.startswith(f"{text}: mine has {100 * (low + high) / 2:+.1f} % (")
        assert told.endswith("against fcfs-easy")


def test_a_number_by_itself():
    slow = parse_condition("mean_wait > 2h")
    assert failing_alone(slow, "mine", {"mean_wait": 9000.0}) == "mean_wait > 2h: mine has 2 h 30 min"
    assert failing_alone(slow, "mine", {"mean_wait": 7200.0}) == ""
    assert failing_alone(slow, "mine", {"mean_wait": None}) == ""
    idle = parse_condition("utilisation < 80%")
    assert failing_alone(idle, "mine", {"utilisation_nodes": 0.75}) == "utilisation < 80%: mine has 0.75"


def test_the_use_of_cores_is_that_of_the_machine_where_jobs_share_nodes():
    condition = parse_condition("utilisation < 80%")
    assert failing_alone(condition, "fcfs", {"utilisation_cores": 0.7}) == "utilisation < 80%: fcfs has 0.7"
    assert failing_alone(condition, "fcfs", {"utilisation_cores": 0.9}) == ""
