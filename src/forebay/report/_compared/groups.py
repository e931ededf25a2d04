"""Who gains and who loses: queues, users, accounts and QOS, by hours of waiting against the reference."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from forebay.metrics._numbers import NONE, count, seconds
from forebay.report import _losers, tables
from forebay.report._folder import Runs
from forebay.report.page import Section, escaped

_TOP = 12
"""Groups of a table: the largest losers, and those that gain most."""
_TONES = {_losers.LOSES: "worse", _losers.GAINS: "better"}
_WORDS = {_losers.LOSES: "lose", _losers.GAINS: "gain", _losers.UNDECIDED: "undecided", _losers.SAME: "unchanged"}
Row = Mapping[str, Any]


def sections(runs: Runs, policy: str | None) -> list[Section]:
    """How many gain and lose under each policy, and of one policy who."""
    frame = runs.groups
    if frame is None or frame["verdict"].drop_nulls().is_empty():
        return []
    columns = list(dict.fromkeys(frame["by"]))
    found = _matrix(frame, [label for label in runs.labels if label != runs.reference], columns, runs.reference)
    if policy is not None:
        found += "".join(_of(frame, column, policy, runs) for column in columns)
    return [Section("Who gains and who loses", found)]


def _matrix(frame: pl.DataFrame, policies: Sequence[str], columns: Sequence[str], reference: str) -> str:
    rows: list[list[str | tables.Cell]] = []
    for policy in policies:
        found = {one["by"]: one for one in _losers.tally(frame, policy)}
        rows.append([policy, *(_cell(found.get(column)) for column in columns)])
    text = (
        f"Hours of waiting against {reference}: more are lost, fewer are gained. "
        "A group gains or loses where its 95 % interval leaves out 0."
    )
    titles = ["policy", *(_losers.MANY.get(one, one) for one in columns)]
    return tables.paragraph(text) + tables.table(titles, rows)


def _cell(one: Row | None) -> tables.Cell:
    if one is None:
        return tables.Cell(NONE)
    text = ", ".join(f"{one[word]:,} {shown}" for word, shown in _WORDS.items() if one[word])
    worst = one["worst"]
    more = f"most lost: {worst['name']}, {_hours(worst)}" if worst["net_hours"] > 0 else ""
    return tables.Cell(text, "worse" if one[_losers.LOSES] else "", more)


def _of(frame: pl.DataFrame, column: str, policy: str, runs: Runs) -> str:
    """The largest losers among the groups of a column, then those that gain most."""
    mine = frame.filter((pl.col("by") == column) & (pl.col("policy") == policy)).to_dicts()
    if not mine:
        return ""
    theirs = frame.filter((pl.col("by") == column) & (pl.col("policy") == runs.reference)).to_dicts()
    waits = {row["name"]: row["mean_wait"] for row in theirs}
    first, left, last = _losers.ends(mine, _TOP)
    titles = [column, "jobs", "hours gained", "hours lost", "lost in all", "verdict"]
    titles[4:4] = [f"mean wait, {runs.reference}", f"mean wait, {policy}"]
    between: list[list[str | tables.Cell]] = [[f"({left:,} more)", *[""] * (len(titles) - 1)]] if left else []
    rows = [*(_row(row, waits) for row in first), *between, *(_row(row, waits) for row in last)]
    many = _losers.MANY.get(column, column)
    heading = f"<h3>{escaped(f'{many[:1].upper()}{many[1:]} under {policy}')}</h3>"
    return heading + tables.table(titles, rows, range(1, 7))


def _row(row: Row, waits: Mapping[str, float | None]) -> list[str | tables.Cell]:
    word = str(row["verdict"] or NONE)
    amounts = (row["gained_hours"], row["lost_hours"])
    return [
        str(row["name"]),
        count(row["jobs"]),
        *(NONE if hours is None else f"{hours:,.1f}" for hours in amounts),
        seconds(waits.get(row["name"])),
        seconds(row["mean_wait"]),
        _hours(row),
        tables.Cell(word, _TONES.get(word, "")),
    ]


def _hours(row: Row) -> str:
    text = _losers.hours(row)
    return text if text == NONE else text.replace("-", "\N{MINUS SIGN}")
