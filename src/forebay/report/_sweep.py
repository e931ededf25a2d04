"""The page of a sweep: every combination against its reference, means over seeds, what was run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay._support.parquet import read_parquet
from forebay._support.reading import read_bytes
from forebay._support.student import spread
from forebay._support.text import counted, together
from forebay.errors import listed
from forebay.metrics._own import kept
from forebay.report import _inputs, tables
from forebay.report._document import read_answer, unreadable
from forebay.report._folder import words_of
from forebay.report._ranking import NONE, TITLES, percent, value, words
from forebay.report.page import Page, Section, escaped

NAME, TABLE = "sweep.json", "sweep.parquet"
UNNAMED = "sweep"
"""What a sweep of Python is called, which no file names."""
_DECIDED = ("better", "worse")
_WAIT = "mean_wait"
Rows = Sequence[Mapping[str, Any]]


def page_of(folder: Path) -> Page:
    """The page of a folder that `forebay sweep` wrote."""
    document = read_answer(folder / NAME)
    kept.recall(document, folder / NAME)
    path = folder / TABLE
    columns = [*_settings(document["combinations"]), _WAIT]
    return page(document, _table_of(path, columns) if path.is_file() else [])


def page(document: Mapping[str, Any], runs: Rows) -> Page:
    """The page of an answer: its combinations, and the rows of its runs, for their intervals over seeds."""
    rows: Rows = document["combinations"]
    metrics: list[str] = document["metrics"]
    keys = _settings(rows)
    varying = [key for key in keys if key == "policy" or len({str(row[key]) for row in rows}) > 1]
    shared = [(words(key), str(rows[0][key])) for key in keys if key not in varying and rows[0][key] is not None]
    notes = "".join(map(tables.paragraph, together(document.get("notes", []))))
    sections = [
        *([Section("Answer", tables.sentences(texts))] if (texts := _answer(rows, varying)) else []),
        Section("Combinations", _table(rows, varying, metrics) + notes),
        *_changes(rows, varying),
        *_waits(runs, rows, keys, varying),
        Section("Inputs", _made_of(document, shared)),
    ]
    seeds = sorted({int(row["seeds"]) for row in rows})
    number = counted(seeds[0], "seed") if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]} seeds"
    about = f"{counted(len(rows), 'combination')}, each with {number}"
    title = "A sweep" if document["name"] == UNNAMED else f"{document['name']}: a sweep"
    return Page(title, sections, [about, *(f"{word}: {what}" for word, what in shared)])


def _answer(rows: Rows, varying: Sequence[str]) -> list[str]:
    """How many combinations are better and worse than their reference, and which most."""
    judged = [row for row in rows if row["change"] is not None and row["verdict"] is not None]
    if not judged:
        return []
    counts = {word: sum(row["verdict"] == word for row in judged) for word in ("better", "worse", "undecided", "same")}
    words = [f"{n:,} {'are' if n > 1 else 'is'} {word}" for word, n in counts.items() if n]
    found = [f"Of {counted(len(judged), 'combination')} held against a reference, {listed(words)} by mean wait."]
    best = min(judged, key=lambda row: row["change"])
    if best["verdict"] == "better":
        interval = f" ({percent(best['low'], True)} to {percent(best['high'], True)})" if _change(best)[1] else ""
        found.append(f"The largest gain: {_label(best, varying)}, {percent(best['change'])}{interval}.")
    return found


def _before(row: Mapping[str, Any], end: str) -> list[str]:
    names = list(row)
    return names[: names.index(end)]


def _table(rows: Rows, varying: Sequence[str], metrics: Sequence[str]) -> str:
    """A row a combination: its verdict, and means over seeds."""
    judged = any(row["reference"] for row in rows)
    against = ["verdict", "change of mean wait", "95 % interval"] if judged else []
    cells = []
    for row in rows:
        mine: list[str | tables.Cell] = [_text(row[key]) for key in varying]
        if judged:
            change, ends = _change(row)
            is_it = row["reference"] == row["policy"] and change is None
            word = "reference" if is_it else str(row["verdict"] or NONE)
            decided = word in _DECIDED
            interval = NONE if ends is None else " to ".join(percent(end, decided) for end in ends).replace(" %", "", 1)
            mine += [tables.Cell(word, word if decided else "soft"), percent(change), interval]
        cells.append([*mine, str(row["seeds"]), *(value(name, row[name]) for name in metrics)])
    titles = [*map(words, varying), *against, "seeds", *(TITLES.get(name, words(name)) for name in metrics)]
    first = len(varying) + (1 if judged else 0)
    caption = "Means over seeds. A verdict needs a 95 % interval, of paired differences, that leaves out 0."
    return tables.table(titles, cells, range(first, len(titles)), caption if judged else "Means over seeds.")


def _text(given: Any) -> str:
    return NONE if given is None else str(given)


def _change(row: Mapping[str, Any]) -> tuple[float | None, tuple[float, float] | None]:
    """The change of the mean wait against the reference, and the ends of its interval, as shares."""
    ends = None if row["low"] is None or row["high"] is None else (row["low"], row["high"])
    return row["change"], ends


def _label(row: Mapping[str, Any], varying: Sequence[str]) -> str:
    return ", ".join(_text(row[key]) for key in varying)


def _changes(rows: Rows, varying: Sequence[str]) -> list[Section]:
    dots = []
    for row in rows:
        change, ends = _change(row)
        if change is not None:
            low, high = ends or (None, None)
            dots.append(tables.Dot(_label(row, varying), change, low, high, tone=row["verdict"] or ""))
    if not dots:
        return []
    return [tables.dots("Changes", "changes", dots, "mean wait, times that of the reference", ratios=True)]


def _settings(rows: Rows) -> list[str]:
    """What says of a combination which it is."""
    return [key for key in _before(rows[0], "seeds") if key != "reference"]


def _waits(runs: Rows, rows: Rows, keys: Sequence[str], varying: Sequence[str]) -> list[Section]:
    """Mean waits with their intervals over seeds, in hours; nothing where no run is known."""
    if not runs:
        return []
    found: dict[tuple[str, ...], list[float]] = {}
    for run in runs:
        if run[_WAIT] is not None:
            found.setdefault(tuple(str(run[key]) for key in keys), []).append(run[_WAIT] / 3600)
    dots = []
    for row in rows:
        if values := found.get(tuple(str(row[key]) for key in keys)):
            seen = spread(values)
            half = seen.half or 0.0
            dots.append(tables.Dot(_label(row, varying), seen.mean, max(seen.mean - half, 0.0), seen.mean + half))
    return [tables.dots("Mean waits", "waits", dots, "mean wait (h), with its 95 % interval over seeds")]


def _table_of(path: Path, columns: list[str]) -> list[dict[str, Any]]:
    try:
        return read_parquet(read_bytes(path), str(path)).select(columns).cast({_WAIT: pl.Float64}).rows(named=True)
    except (PolarsError, OSError):
        raise unreadable(path) from None


def _made_of(document: Mapping[str, Any], shared: Sequence[tuple[str, str]]) -> str:
    failed = [(one["run"], one["message"]) for one in document.get("failed", [])]
    lost = f"<h3>Runs that failed</h3>{tables.pairs(failed)}" if failed else ""
    lines = "\n".join(map(escaped, str(document["spec"]).splitlines()))
    spec = f"<h3>What to run</h3><pre>{lines}</pre>"
    return tables.pairs([*shared, *_inputs.versions(document)]) + lost + spec + _inputs.again_by(words_of(document))
