"""What a comparison found, in sentences to be read first: which policy waits less, by how much, and at whose cost."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from forebay.errors import listed
from forebay.metrics._numbers import change_percent
from forebay.report import _losers
from forebay.report._folder import Runs
from forebay.report._ranking import value

_WAIT = "mean_wait"
Row = Mapping[str, Any]


def sentences(runs: Runs) -> list[str]:
    """The answer; of runs that nothing judges, what their waits are."""
    if runs.verdicts is None or runs.verdicts.is_empty():
        return _waits(runs)
    rows = runs.verdicts.filter(pl.col("metric") == _WAIT).sort("change", nulls_last=True).to_dicts()
    if not rows:
        return _waits(runs)
    subject = next((row["policy"] for row in rows if row["verdict"] == "better"), None)
    found = [_lead(rows, runs.reference), _others(rows, subject)]
    shown = subject or runs.other
    if shown is not None:
        found += [_longest(runs, shown), *_groups(runs, shown)]
    return [text for text in found if text]


def _waits(runs: Runs) -> list[str]:
    waits = [
        (numbers.get(_WAIT), label)
        for label, numbers in zip(runs.labels, runs.numbers, strict=True)
        if numbers.get(_WAIT) is not None
    ]
    if not waits:
        return []
    (least, best), (most, worst) = waits[0], waits[-1]
    text = f"Under {best}, the mean wait is {value(_WAIT, least)}"
    if len(waits) > 1 and most != least:
        text += f"; under {worst}, {value(_WAIT, most)}"
    return [f"{text}."]


def _lead(rows: Sequence[Row], reference: str) -> str:
    """The first sentence: "plan cuts the mean wait by 80 % (73 to 85) against fcfs, from 2 h to 24 min"."""
    words = {str(row["verdict"]) for row in rows}
    if "better" in words:
        one = next(row for row in rows if row["verdict"] == "better")
        return f"{one['policy']} cuts the mean wait by {_by(one)} against {reference}, {_from(one)}."
    if words == {"same"}:
        return f"Every policy gives the schedule of {reference}."
    if "worse" in words:
        one = next(row for row in reversed(rows) if row["verdict"] == "worse")
        most = f"; {one['policy']} raises it by {_by(one)}, {_from(one)}" if one["change"] is not None else ""
        return f"No policy has a shorter mean wait than {reference}, as far as this can be decided{most}."
    if all(row["low"] is None for row in rows if row["verdict"] != "same"):
        return f"Nothing can be decided against {reference}: there are too few jobs for an interval."
    return f"Nothing is decided against {reference}: every interval of the mean wait's change has 0 in it."


def _by(row: Row) -> str:
    """An amount with its interval, without a sign: "80 % (73 to 85)"."""
    text = f"{change_percent(row['change']).lstrip('+-')} %"
    if row["low"] is None or row["high"] is None:
        return text
    ends = sorted((abs(row[end]), change_percent(row[end], decided=True).lstrip("+-")) for end in ("low", "high"))
    return f"{text} ({ends[0][1]} to {ends[1][1]})"


def _from(row: Row) -> str:
    return f"from {value(_WAIT, row['reference_value'])} to {value(_WAIT, row['value'])}"


def _others(rows: Sequence[Row], subject: str | None) -> str:
    """The other policies by verdict."""
    found = []
    for word, text in (("better", "Also better"), ("worse", "Worse"), ("undecided", "Undecided"), ("same", "The same")):
        mine = [row for row in rows if row["verdict"] == word and row["policy"] != subject]
        names = [row["policy"] if word == "same" else f"{row['policy']}{_change(row)}" for row in mine]
        if names:
            found.append(f"{text}: {listed(names)}.")
    return " ".join(found)


def _change(row: Row) -> str:
    return "" if row["change"] is None else f" ({change_percent(row['change'])} %)".replace("-", "\N{MINUS SIGN}")


def _longest(runs: Runs, policy: str) -> str:
    """What becomes of the longest wait."""
    of = dict(zip(runs.labels, runs.numbers, strict=True))
    mine, theirs = ((of.get(label) or {}).get("max_wait") for label in (policy, runs.reference))
    if mine is None or theirs is None:
        return ""
    after, before = value("max_wait", mine), value("max_wait", theirs)
    if after == before:
        return f"The longest wait is {after} under both {policy} and {runs.reference}."
    return f"Under {policy}, the longest wait is {after}; under {runs.reference}, {before}."


def _groups(runs: Runs, policy: str) -> list[str]:
    """Who gains and who loses: "Of 40 users, 12 gain and 3 lose under plan; user 7 loses most, +120 h"."""
    if runs.groups is None:
        return []
    found = []
    for one in _losers.tally(runs.groups, policy):
        many = _losers.MANY.get(one["by"], one["by"])
        gain, lose = (f"{one[word]:,}" if one[word] else "none" for word in (_losers.GAINS, _losers.LOSES))
        text = f"Of {one['groups']:,} {many}, {gain} gain and {lose} lose under {policy}"
        worst = one["worst"]
        if worst["verdict"] == _losers.LOSES:
            text += f"; most hours lost: {worst['name']}, {_losers.hours(worst)}"
        found.append(f"{text}.")
    return found
