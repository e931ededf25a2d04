"""Verdicts against a reference: a row a policy, a column a metric; and figures of the changes."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from forebay._support.text import counted
from forebay.metrics._numbers import change_percent
from forebay.report import tables
from forebay.report._folder import Runs
from forebay.report._ranking import TITLES, words
from forebay.report.page import Section, escaped

_DECIDED = ("better", "worse")
_MINUS = "\N{MINUS SIGN}"
_PERCENT = "\N{NO-BREAK SPACE}%"


def sections(runs: Runs) -> list[Section]:
    """The matrix, and a figure of each metric's changes."""
    if runs.verdicts is None or runs.verdicts.is_empty():
        return []
    return [Section("Verdicts", _table(runs, runs.verdicts))]


def title(metric: str) -> str:
    """A metric as a heading has it."""
    used = metric.removeprefix("utilisation_")
    return TITLES.get(metric, words(metric) if used == metric else f"{words(used)} used")


def _table(runs: Runs, verdicts: pl.DataFrame) -> str:
    metrics = list(dict.fromkeys(verdicts["metric"]))
    found = {(one["policy"], one["metric"]): one for one in verdicts.iter_rows(named=True)}
    policies = dict.fromkeys([*runs.labels, *verdicts["policy"]])
    rows = [[policy, *(_cell(found.get((policy, name))) for name in metrics)] for policy in policies]
    return tables.paragraph(_basis(runs, verdicts)) + tables.table(["policy", *map(title, metrics)], rows)


def _basis(runs: Runs, verdicts: pl.DataFrame) -> str:
    over = {(int(one["n"]), str(one["over"])) for one in verdicts.iter_rows(named=True) if one["low"] != one["high"]}
    basis = ""
    if len(over) == 1 and (single := over.pop())[0]:
        number, unit = single
        basis = f" over {counted(number, 'run' if unit == 'replicas' else unit.removesuffix('s'))}"  # with the trace
    return (
        f"Changes against {runs.reference} and their 95 % intervals{basis}. "
        "A policy is better or worse where the interval leaves out 0."
    )


def _cell(one: Mapping[str, Any] | None) -> tables.Cell:
    """Such as "better −80 %", and below it "−85 to −73 %"."""
    if one is None:
        return tables.Cell("reference", "soft")
    word = str(one["verdict"])
    decided = word in _DECIDED
    if one["change"] is None or word == "same":
        return tables.Cell(word, "soft")
    text = f"{word} {change_percent(one['change'])}{_PERCENT}".replace("-", _MINUS)
    if one["low"] is None or one["low"] == one["high"]:
        return tables.Cell(text, word if decided else "soft")
    low, high = (change_percent(one[end], decided) for end in ("low", "high"))
    return tables.Cell(text, word if decided else "soft", f"{low} to {high}{_PERCENT}".replace("-", _MINUS))


def changes(runs: Runs) -> list[Section]:
    """A figure of each metric's changes, with whiskers as long as the intervals."""
    if runs.verdicts is None:
        return []
    known = runs.verdicts.filter(pl.col("change").is_not_null())
    if known.is_empty():
        return []
    parts = []
    for place, metric in enumerate(dict.fromkeys(known["metric"])):
        some = known.filter(pl.col("metric") == metric).iter_rows(named=True)
        dots = [tables.Dot(one["policy"], one["change"], one["low"], one["high"], tone=one["verdict"]) for one in some]
        label = f"times that of {runs.reference}"
        parts.append(tables.dots(title(metric), f"change-{place}", dots, label, ratios=True))
    html = "".join(f"<figure><h3>{escaped(part.title)}</h3>{part.html}</figure>" for part in parts)
    caption = tables.paragraph(
        f"1 is as much as under {runs.reference}; half as much and twice as much are equally far from it. "
        "Whiskers are 95 % intervals; green is better, orange worse, grey undecided."
    )
    plots = {name: model for part in parts for name, model in part.plots.items()}
    return [Section("Changes", f'{caption}<div class="pair">{html}</div>', plots=plots)]
