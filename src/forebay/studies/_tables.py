"""Ours beside published: cells of runs that belong together, their spread, and the difference."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.experiments import statistics
from forebay.studies._expected import KEYS, Expected, Published
from forebay.studies._frame import Finished, Table
from forebay.studies._judged import lies_within

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]


@dataclass(frozen=True)
class Metric:
    """A number of a run's summary, and how tables call and write it."""

    name: str
    title: str
    digits: int

    def text(self, value: float | None) -> str:
        """The number as tables show it."""
        return "-" if value is None else f"{value:,.{self.digits}f}"


WAIT = Metric("mean_waiting_time", "mean wait (s)", 0)
SLOWDOWN = Metric("mean_bounded_slowdown_10min", "mean bounded slowdown (10 min)", 2)


@dataclass(frozen=True)
class Cell:
    """Values of runs that differ in draws, replicas and seeds alone; `given` are those of the jobs as they are."""

    keys: Row
    values: list[float]
    given: list[float]


def rows_of(finished: Finished) -> list[Row]:
    """A row a run: its tags, then every number of its summary."""
    return [{**run.tags, **record.summary} for run, record in finished]


def tagged(rows: Sequence[Row], **tags: Any) -> list[Row]:
    """Rows with these tags."""
    return [row for row in rows if all(row.get(key) == value for key, value in tags.items())]


def all_numbers(rows: Sequence[Row]) -> "pl.DataFrame":
    """Rows as a table; a number that only some runs have is empty elsewhere."""
    import polars as pl

    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in names}, strict=False)


def cells(rows: Iterable[Row], by: Sequence[str], metric: str) -> list[Cell]:
    """Rows grouped by some tags, in the order in which they come. A run without the number is left out."""
    found: dict[tuple[Any, ...], Cell] = {}
    for row in rows:
        if row.get(metric) is None:
            continue
        keys = {name: row[name] for name in by} | {"metric": metric}
        cell = found.setdefault(tuple(keys.values()), Cell(keys, [], []))
        cell.values.append(row[metric])
        if not row.get("replica"):
            cell.given.append(row[metric])
    return list(found.values())


def averaged(
    rows: Iterable[Row], over: str, by: Sequence[str], metric: str, places: Collection[Any] | None = None
) -> list[Row]:
    """Rows of means over a tag, such as the part: runs that share all of `by` become one.

    With `places`, only those that have a run at each of them: a mean over some parts is not one over all.
    """
    found: dict[tuple[Any, ...], dict[Any, Row]] = {}
    for row in rows:
        if row.get(metric) is not None:
            found.setdefault(tuple(row[name] for name in by), {})[row[over]] = row
    return [
        {**dict(zip(by, keys, strict=True)), metric: statistics.mean([row[metric] for row in some.values()])}
        for keys, some in found.items()
        if places is None or set(some) == set(places)
    ]


def beside(cell: Cell, published: Published | None) -> Row:
    """A cell in short, with the published number and the difference from it."""
    short = statistics.spread(cell.values)
    given = statistics.mean(cell.given) if cell.given else None
    row = {name: cell.keys.get(name) for name in KEYS}
    row |= {"n_runs": short.n, "as_given": given, "mean": short.mean, "deviation": short.deviation}
    row |= {"half_95": short.half, "least": short.least, "largest": short.largest, "published": None}
    row |= dict.fromkeys(("as_given_percent", "mean_percent", "tolerance", "within", "source"))
    if published is not None:
        base = published.value
        row |= {"published": base, "tolerance": published.tolerance, "source": published.source}
        row["as_given_percent"] = None if given is None else 100 * (given / base - 1)
        row["mean_percent"] = 100 * (short.mean / base - 1)
        if published.tolerance is not None:
            row["within"] = lies_within(base, short.least, short.largest, published.tolerance)
    return row


def compared(found: Iterable[Cell], expected: Expected) -> list[Row]:
    """Every cell beside its published number."""
    return [beside(cell, expected.find(**cell.keys)) for cell in found]


def frame(rows: Sequence[Row]) -> "pl.DataFrame":
    """Rows of `beside` as a table with fixed columns."""
    import polars as pl

    kinds = {"part": pl.Int64, "n_runs": pl.Int64, "within": pl.Boolean}
    texts = ("section", "job_model", "policy", "metric", "source")
    names = list(beside(Cell({}, [0.0], []), None))
    schema = {name: kinds.get(name, pl.String if name in texts else pl.Float64) for name in names}
    return pl.DataFrame([[row[name] for name in names] for row in rows], schema, orient="row")


def percent(value: float | None) -> str:
    """A difference as text."""
    if value is None or not math.isfinite(value):
        return "-"
    text = f"{value:+.1f} %"
    return "0.0 %" if text in ("+0.0 %", "-0.0 %") else text


Column = tuple[str, Callable[[Row], str]]


def written(title: str, rows: Iterable[Row], words: Sequence[str], columns: Sequence[Column]) -> Table:
    """A table for people: some keys as words, then columns of numbers."""
    texts = [(*(str(row[word]) for word in words), *(text(row) for _, text in columns)) for row in rows]
    return Table(
        title, (*(word.replace("_", " ") for word in words), *(name for name, _ in columns)), texts, len(words)
    )


def usual_columns(metric: Metric, published: bool) -> list[Column]:
    """Published, ours as given and over all runs, with differences; without published numbers just ours."""
    ours: list[Column] = [("as given", lambda row: metric.text(row["as_given"]))]
    spread: list[Column] = [
        ("mean of runs", lambda row: metric.text(row["mean"])),
        ("least", lambda row: metric.text(row["least"])),
        ("largest", lambda row: metric.text(row["largest"])),
    ]
    if not published:
        return [*ours, *spread, ("runs", lambda row: str(row["n_runs"]))]
    return [
        ("published", lambda row: metric.text(row["published"])),
        *ours,
        ("vs published", lambda row: percent(row["as_given_percent"])),
        *spread,
        ("vs published", lambda row: percent(row["mean_percent"])),
        ("runs", lambda row: str(row["n_runs"])),
    ]


def draw_columns(metric: Metric, known: bool, published: str = "published") -> list[Column]:
    """Means over draws, with their intervals; published numbers, where they are known, and the difference."""
    ours: list[Column] = [
        ("mean of draws", lambda row: metric.text(row["mean"])),
        ("± 95 %", lambda row: metric.text(row["half_95"])),
        ("least", lambda row: metric.text(row["least"])),
        ("largest", lambda row: metric.text(row["largest"])),
    ]
    before: list[Column] = [(published, lambda row: metric.text(row["published"]))]
    difference: list[Column] = [("difference", lambda row: percent(row["mean_percent"]))]
    return [*before, *ours, *difference] if known else ours
