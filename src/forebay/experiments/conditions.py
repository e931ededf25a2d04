"""Conditions on which a comparison fails: "p95_wait > +5%" against the reference, "mean_wait > 2h" by itself.

A condition on a change holds where the whole 95 % interval lies beyond the limit: noise alone seldom fails a check.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.core.units import format_seconds, parse_seconds
from forebay.errors import ForebayError, InputError
from forebay.experiments.targets import ALIASES, as_counted
from forebay.experiments.verdicts import Verdict

_FORM = re.compile(r"\s*([A-Za-z]\w*)\s*([<>])\s*(.+?)\s*", re.ASCII)
_CHANGE = re.compile(r"([+-]\d+(?:\.\d+)?)\s*%", re.ASCII)
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*(%?)", re.ASCII)
_EXAMPLES = 'write one such as "p95_wait > +5%" (against the reference) or "mean_wait > 2h"'


class ConditionHoldsError(ForebayError):
    """A condition that the user set has come true."""

    exit_code = 1


@dataclass(frozen=True)
class Condition:
    """A metric, beyond which limit it fails, and whether the limit is a change against the reference."""

    text: str
    metric: str
    above: bool
    limit: float  # a share of the reference's value, or seconds or what else the metric is in
    relative: bool


def parse_condition(text: str) -> Condition:
    """The condition in "p95_wait > +5%"; a per cent with its sign is a change against the reference."""
    form = _FORM.fullmatch(text)
    if not form:
        raise InputError(f"--fail-if {text!r} is no condition; {_EXAMPLES}")
    name, sign, limit = form.groups()
    metric = ALIASES.get(name, name)
    unit = _unit(metric, text)
    change = _CHANGE.fullmatch(limit)
    if change:
        return Condition(text.strip(), metric, sign == ">", float(change[1]) / 100, True)
    return Condition(text.strip(), metric, sign == ">", _absolute(limit, unit, text), False)


def _unit(metric: str, text: str) -> str:
    from forebay.metrics._listing import about

    try:
        return about(metric).unit_of(metric)
    except InputError as error:
        short = ", ".join(ALIASES)
        raise InputError(f"--fail-if {text!r}: {error}; short names are {short}") from None


def _absolute(limit: str, unit: str, text: str) -> float:
    if unit == "s":
        if "%" in limit:
            raise InputError(f"--fail-if {text!r}: a change has a sign; write +{limit} or -{limit}, or a time: 2h")
        try:
            return parse_seconds(limit)
        except InputError as error:
            raise InputError(f"--fail-if {text!r}: {error}") from None
    number = _NUMBER.fullmatch(limit)
    if not number or (number[2] and unit != "share"):
        raise InputError(f"--fail-if {text!r}: {limit!r} is no number of this metric; {_EXAMPLES}")
    return float(number[1]) / (100 if number[2] else 1)


def failing(condition: Condition, verdict: Verdict) -> str:
    """Why a condition on a change holds, in words; empty where it does not, or where it is not known."""
    end = verdict.low if condition.above else verdict.high
    if end is None or verdict.change is None or not _beyond(condition, end):
        return ""
    low, high = verdict.low or 0.0, verdict.high or 0.0
    interval = f"{100 * verdict.change:+.1f} % ({100 * low:+.1f} to {100 * high:+.1f}) against {verdict.reference}"
    return f"{condition.text}: {verdict.policy} has {interval}"


def failing_alone(condition: Condition, policy: str, summary: Mapping[str, Any]) -> str:
    """The same for a condition on a number of the run itself."""
    value = summary.get(as_counted(condition.metric, summary))
    if value is None or not _beyond(condition, float(value)):
        return ""
    is_time = _unit(condition.metric, condition.text) == "s"
    return f"{condition.text}: {policy} has {format_seconds(value) if is_time else f'{value:.4g}'}"


def _beyond(condition: Condition, value: float) -> bool:
    return math.isfinite(value) and (value > condition.limit if condition.above else value < condition.limit)


def refuse(held: Sequence[str]) -> None:
    """One error for all conditions that hold."""
    if held:
        raise ConditionHoldsError("\n".join(["a condition of --fail-if holds", *(f"  {line}" for line in held)]))
