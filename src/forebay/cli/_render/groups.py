"""Who gains and who loses, on a screen: a line for each kind of group, and a table with the largest losers first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from forebay.cli._render import number_text
from forebay.cli._render.printing import Seconds, fitting, pairs, table
from forebay.experiments.comparison import groups
from forebay.report import _losers
from forebay.workload.recorded import AS_RECORDED

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from rich.table import Table


def tables(rows: "pl.DataFrame", policies: Sequence[str], reference: str, top: int, unit: str) -> "list[Table]":
    """Of queues, users, accounts and QOS: the reference, the best of the others, and what was recorded.

    `unit` is what jobs are given: nodes, or cores where they share nodes.
    """
    import polars as pl

    other = next((policy for policy in policies if policy != reference and policy in set(rows["policy"])), None)
    found = []
    if other is not None and (lines := _tally(rows, other, reference)):
        found.append(pairs(lines))
    for (column,), part in rows.group_by("by", maintain_order=True):
        first = part.filter(pl.col("policy") == (other or reference))
        names = (first if len(first) else part)["name"].unique(maintain_order=True).to_list()
        by_name: dict[str, dict[str, Any]] = {}
        for row in part.iter_rows(named=True):
            by_name.setdefault(row["name"], {})[row["policy"]] = row
        titles = _Titles(str(column), reference, other, unit)
        found.append(fitting(partial(_table, titles, names, by_name, top)))
    return found


def _tally(rows: "pl.DataFrame", policy: str, reference: str) -> list[tuple[str, str]]:
    """Such as "3 of 40 lose, 12 gain, 25 undecided under fcfs against fcfs-bb; most loses ann: +120 h"."""
    lines = []
    for one in _losers.tally(rows, policy):
        words = [f"{one[word]:,} {text}" for word, text in _WORDS.items() if one[word]]
        text = f"of {one['groups']:,} under {policy} against {reference}, {', '.join(words)}"
        worst = one["worst"]
        if worst["net_hours"] > 0:
            text += f"; most hours lost: {worst['name']}, {_losers.hours(worst)}"
        lines.append((_losers.MANY.get(one["by"], one["by"]), text))
    return lines


_WORDS = {_losers.LOSES: "lose", _losers.GAINS: "gain", _losers.UNDECIDED: "undecided", _losers.SAME: "unchanged"}


@dataclass(frozen=True)
class _Titles:
    column: str
    reference: str
    other: str | None
    unit: str


def _table(
    titles: _Titles,
    names: Sequence[str],
    by_name: Mapping[str, Mapping[str, Mapping[str, Any]]],
    top: int,
    seconds: Seconds,
    gap: int,
) -> "Table":
    """The largest losers under the other policy, and below them those that gain most."""
    narrow = seconds is number_text.shortest_seconds
    policies = [titles.reference, *([titles.other] if titles.other else [])]
    shown = [*policies, *([AS_RECORDED] if any(AS_RECORDED in mine for mine in by_name.values()) else [])]

    def line(name: str) -> list[str]:
        mine = by_name[name]
        one = mine.get(titles.reference) or next(iter(mine.values()))
        waits = [seconds(mine[policy]["mean_wait"]) if policy in mine else number_text.NONE for policy in shown]
        held = number_text.NONE if one["node_hours"] is None else f"{one['node_hours']:,.0f}"
        cells = [name, number_text.count(one["jobs"]), held, *waits]
        if titles.other:
            judged = mine.get(titles.other, {})
            cells += [_losers.hours(judged, narrow), judged.get("verdict") or ""]
        return cells

    first, left, last = _losers.ends(names, top)
    heads = [titles.column, "jobs", f"{titles.unit.removesuffix('s')}-\nhours", *(f"mean wait\n{one}" for one in shown)]
    heads += [f"hours lost,\n{titles.other}", ""] if titles.other else []
    between = [[f"({left:,} more)", *[""] * (len(heads) - 1)]] if left else []
    lines = [*map(line, first), *between, *map(line, last)]
    return table(heads, lines, numbers=range(1, len(heads) - bool(titles.other)), gap=gap)


def written(folder: "Path") -> tuple[str, str]:
    """Which file has all of it."""
    return "", f"{folder / groups.TABLE}: who gains and who loses, under every policy"
