"""What a sweep has found: a row a run, and a row a combination with its means over seeds beside a reference."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay._files import replacing
from forebay._text import for_spreadsheets
from forebay.experiments import statistics
from forebay.experiments.grid import COLUMNS
from forebay.experiments.runs import Run
from forebay.results import Record

if TYPE_CHECKING:
    import polars as pl

Finished = Sequence[tuple[Run, Record]]
METRICS = ("mean_waiting_time", "p95_waiting_time", "mean_bounded_slowdown_10min")
"""What tables of combinations show."""
_PLACE = COLUMNS[:4]
"""Runs that share these differ in their policy alone, and in its parameters."""


def frame(finished: Finished) -> "pl.DataFrame":
    """A row a run: the columns of the grid, its parameters, then every number; empty where there is none."""
    import polars as pl

    rows = [{**_grid(run), **record.summary} for run, record in finished]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in names}, strict=False)


def write(table: "pl.DataFrame", folder: Path) -> list[Path]:
    """The table as sweep.csv and sweep.parquet, both or none."""
    files = [folder / "sweep.csv", folder / "sweep.parquet"]
    with replacing(*files) as [csv, parquet]:
        for_spreadsheets(table).write_csv(csv)
        table.write_parquet(parquet)
    return files


def combinations(finished: Finished) -> list[dict[str, Any]]:
    """A row a combination: how many seeds, means over them, and what the reference has to say to the mean wait."""
    groups: dict[tuple[Any, ...], list[tuple[Run, Record]]] = {}
    for run, record in finished:
        groups.setdefault(tuple(value for key, value in run.tags.items() if key != "seed"), []).append((run, record))
    references: dict[tuple[Any, ...], list[tuple[Run, Record]]] = {}
    for group in groups.values():
        run = group[0][0]
        if run.tags["reference"]:
            references.setdefault(_place(run), group)
    return [_row(group, references.get(_place(group[0][0]), [])) for group in groups.values()]


def same_under_each_seed(finished: Finished) -> bool:
    """Whether there are several seeds, and they change no run at all."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for run, record in finished:
        key = tuple(value for name, value in run.tags.items() if name != "seed")
        found.setdefault(key, []).append(record.document["facts"]["log_sha256"])
    return any(len(one) > 1 for one in found.values()) and all(len(set(one)) == 1 for one in found.values())


def _row(group: Finished, reference: Finished) -> dict[str, Any]:
    row = {key: value for key, value in _grid(group[0][0]).items() if key != "seed"} | {"seeds": len(group)}
    for metric in METRICS:
        values = [record.summary[metric] for _, record in group if record.summary[metric] is not None]
        row[metric] = statistics.mean(values) if values else None
    row["reference"] = reference[0][0].tags["policy"] if reference else None
    is_it = bool(reference) and reference[0][0] is group[0][0]
    return row | ({"rise": None, "half_95": None, "verdict": None} if is_it else _against(group, reference))


def _against(group: Finished, reference: Finished) -> dict[str, Any]:
    """By which share the mean wait is above that of the reference, over the seeds that both have."""
    name = METRICS[0]
    others = {run.seed: record.summary[name] for run, record in reference}
    pairs = [(record.summary[name], others.get(run.seed)) for run, record in group]
    told = [(value, other) for value, other in pairs if value is not None and other is not None]
    if not told or not any(other for _, other in told):
        return {"rise": None, "half_95": None, "verdict": None}
    return judged([value for value, _ in told], [other for _, other in told])


def judged(values: list[float], others: list[float]) -> dict[str, Any]:
    """The rise, half of its 95 % interval, and a word; of a single seed the rise alone."""
    found = statistics.rise(values, others)
    word = None
    if found.half is not None:
        clear = abs(found.mean) > found.half
        word = "no clear difference" if not clear else "shorter" if found.mean < 0 else "longer"
    return {"rise": found.mean, "half_95": found.half, "verdict": word}


def _grid(run: Run) -> dict[str, Any]:
    """The columns of a run, without what is only for our own use."""
    return {key: None if value == "" else value for key, value in run.tags.items() if key != "reference"}


def _place(run: Run) -> tuple[Any, ...]:
    return tuple(run.tags[key] for key in _PLACE)
