"""The runs of a sweep that have ended, with what they differ in: in memory, or in the folder of one under way.

Beside each spec stands the one that the sweep has, in which parameters are not filled in: fcfs-bb:depth=1 and
fcfs-bb:depth=2 are both of fcfs-bb:depth={depth}, and so of one line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay._support.files import replacing
from forebay._support.parquet import read_parquet
from forebay._support.reading import read_bytes
from forebay.errors import InputError
from forebay.experiments import tidy
from forebay.experiments.grid import COLUMNS, WRITTEN
from forebay.experiments.runs import Run
from forebay.results import load_record

GRID, TABLE = "grid.parquet", "sweep.parquet"
AXES = COLUMNS[:-1]
KEY = "key of the run"
"""A column; like those of `as_written` it has spaces, which no parameter can have."""


def as_written(axis: str) -> str:
    """The column for what a sweep has there."""
    return f"{axis} as written"


@dataclass(frozen=True)
class Swept:
    """Runs that have ended, a row each: specs, filled in and as written, seed, parameters, and every number."""

    table: pl.DataFrame
    parameters: Sequence[str]
    total: int  # runs of the sweep, those still to come too
    name: str = ""

    @property
    def numbers(self) -> list[str]:
        """Names of numbers that some run has."""
        known = {*COLUMNS, *self.parameters, KEY, *map(as_written, AXES)}
        return [
            name
            for name, kind in self.table.schema.items()
            if kind.is_numeric() and name not in known and self.table[name].drop_nulls().len()
        ]


def of(finished: tidy.Finished, total: int, name: str = "") -> Swept:
    """Those that have just been made."""
    laid = _laid_out([run for run, _ in finished])
    table = pl.concat([laid.select(KEY, *map(as_written, AXES)), tidy.frame(finished)], how="horizontal")
    return Swept(table, _parameters(laid), total, name)


def keep(runs: Sequence[Run], folder: Path) -> None:
    """Write what the sweep consists of, before its runs are made: what has ended and what has not is then known."""
    with replacing(folder / GRID) as [temporary]:
        _laid_out(runs).write_parquet(temporary)


def is_sweep(folder: Path) -> bool:
    """Whether a folder is one that `forebay sweep` writes to."""
    return any((folder / name).is_file() for name in (GRID, TABLE))


def read(folder: Path) -> Swept:
    """Those of a folder: of a sweep that has ended by its table, else run by run."""
    grid = _read(folder / GRID)
    wanted = {KEY: pl.String, **dict.fromkeys(map(as_written, AXES), pl.String), "seed": pl.Int64}
    if any(grid.schema.get(name) != kind for name, kind in wanted.items()) or not {*COLUMNS} <= {*grid.columns}:
        raise _unreadable(folder / GRID)
    if grid[KEY].null_count() or grid.is_empty():
        raise _unreadable(folder / GRID)
    table = _whole(grid, folder / TABLE)
    if table is None:
        table = _ended(grid, folder)
    return Swept(table, _parameters(grid), len(grid), folder.resolve().name)


def _laid_out(runs: Sequence[Run]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for run in runs:
        written = zip(map(as_written, AXES), run.tags[WRITTEN], strict=True)
        rows.append({KEY: run.key, **dict(written), **tidy.grid_columns(run)})
    return tidy.as_table(rows).cast(dict.fromkeys((KEY, *map(as_written, AXES)), pl.String))


def _parameters(grid: pl.DataFrame) -> list[str]:
    return [name for name in grid.columns if name not in (*COLUMNS, KEY, *map(as_written, AXES))]


def _whole(grid: pl.DataFrame, path: Path) -> pl.DataFrame | None:
    """The table of the sweep, if it is of just these runs."""
    if not path.is_file():
        return None
    table, shared = _read(path), [*COLUMNS, *_parameters(grid)]
    try:
        if not table.select(shared).equals(grid.select(shared)):
            return None
        return pl.concat([grid.drop(shared), table], how="horizontal")
    except PolarsError:
        raise _unreadable(path) from None


def _ended(grid: pl.DataFrame, folder: Path) -> pl.DataFrame:
    rows = []
    for row in grid.iter_rows(named=True):
        path = folder / "runs" / f"{Path(row[KEY]).name}.json"
        if path.is_file():
            rows.append(row | load_record(path, row[KEY]).summary)
    if not rows:
        raise InputError(f"{folder}: none of the {len(grid):,} runs of this sweep has ended; wait for one, or run it")
    return tidy.as_table(rows)


def _read(path: Path) -> pl.DataFrame:
    try:
        return read_parquet(read_bytes(path), str(path))
    except OSError:
        raise _unreadable(path) from None


def _unreadable(path: Path) -> InputError:
    return InputError(f"{path}: is not as `forebay sweep` writes it; run the sweep again with this folder")
