"""The files of a saved run: which table lies where, what it must hold, and what run.json says besides facts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Protocol

import polars as pl

from forebay.errors import InputError, brief, listed

FORMAT = 1
"""Goes up when a folder can no longer be read as it was. A further optional table is no reason."""

RUN = "run.json"
JOBS_FOR_OTHERS = "jobs.csv"  # Batsim's columns of the job table; written for other tools, never read

OWN_METRICS = "own_metrics"
"""What run.json and sweep.json say of metrics of a user's own: name to unit, and which is better."""
BESIDE = ("window", "summary", "recorded", OWN_METRICS)
"""What the command line adds to run.json: numbers that can be had again from the rest."""

DIGESTS = "sha256"
KEYS = ("format", *BESIDE, "resources", "tables", "facts", DIGESTS)
"""What run.json holds beyond facts. A fact of such a name lies under `facts`."""

EARLIER = {f"lost_to_stealing_{what}": f"lost_to_policy_{what}" for what in ("share", "node_hours")}
"""Numbers that had another name before, and that name."""
HEADLINES = {f"{key}_wait": f"{key}_waiting_time" for key in ("mean", "ci95", "p95", "p99", "max")}
HEADLINES |= {"median_wait": "p50_waiting_time"}
"""Headline waits and what older folders have in their place: waits that end at the first start."""


def renamed(summary: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a folder that an earlier version wrote, by the names of this one."""
    found = {EARLIER.get(name, name): value for name, value in summary.items()}
    return {now: found[before] for now, before in HEADLINES.items() if before in found} | found


def wrong_summary(summary: Any) -> str:
    """What keeps the summary of a run from being used: it has numbers by name, null where no job counts; else empty."""
    if not isinstance(summary, dict):
        return f"summary is {brief(summary)}, not a dictionary"
    if not summary:
        return "its summary is empty"
    for name, value in summary.items():
        if not str(name).isprintable():
            return f"summary: {brief(name)} cannot name a number"
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            return f"summary: {listed([name])} is {brief(value)}, not a number"
        if isinstance(value, float) and not math.isfinite(value):
            return f"summary: {listed([name])} is {value}, not a number"
        if isinstance(value, int) and abs(value) >= 2**1023:
            return f"summary: {listed([name])} is {brief(value)}, which is too large"
    return ""


Columns = Mapping[str, Any]
"""Name -> type as polars has it."""


@dataclass(frozen=True)
class Table:
    """A table of a Result, and the file it is saved to."""

    name: str  # of the Result's field
    file: str  # its ending says how it is written
    columns: Columns  # those that it cannot do without
    optional: bool  # not there where it has no rows
    gaps: frozenset[str]  # columns in which a row may have no value

    def empty(self) -> pl.DataFrame:
        """The table of a run that has none."""
        return pl.DataFrame(schema=dict(self.columns))

    def check(self, frame: pl.DataFrame, where: str, cure: str) -> None:
        """Refuse a frame in which metrics and figures would not find what they look for."""
        for name, wanted in self.columns.items():
            if name not in frame.columns:
                raise InputError(f"{where}: has no column {name} (columns: {listed(frame.columns, 5)}); {cure}")
            if not _fits(frame.schema[name], wanted):
                held = "words" if wanted == pl.String else "whole numbers" if wanted.is_integer() else "numbers"
                raise InputError(f"{where}: its column {name} does not hold {held}; {cure}")
            if name not in self.gaps and (row := _first_gap(frame[name])) is not None:
                raise InputError(f"{where}: its column {name} has no value in row {row + 1:,}; {cure}")


def _first_gap(column: pl.Series) -> int | None:
    """The first row without a value, or with one that is no number."""
    gaps = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
    return gaps.arg_max() if gaps.any() else None


def _fits(found: Any, wanted: Any) -> bool:
    """Whether a column can be used as it is meant: whole numbers count as numbers, but no number is rounded."""
    if wanted == pl.String:
        return found in (pl.String, pl.Categorical, pl.Enum)
    return bool(found.is_integer() or (found.is_float() and not wanted.is_integer()))


def saved_as(file: str, columns: Columns, *gaps: str) -> dict[str, Any]:
    """The metadata of a Result's field that is a table. In columns of `gaps` a row may have no value."""
    return {"file": file, "columns": columns, "gaps": frozenset(gaps)}


def optional_table(file: str, *gaps: str, **columns: Any) -> Any:
    """A field for a table that not every run has. Where it has no rows there is no file; it then loads as no rows."""
    return field(default_factory=partial(pl.DataFrame, schema=columns), metadata=saved_as(file, columns, *gaps))


class Saveable(Protocol):
    """What is written of a Result: its tables are among its fields."""

    @property
    def jobs(self) -> pl.DataFrame: ...
    @property
    def resources(self) -> Mapping[str, int]: ...
    @property
    def facts(self) -> Mapping[str, Any]: ...


def tables(cls: Any) -> list[Table]:
    """The tables among the fields of a Result."""
    return [
        Table(
            one.name, one.metadata["file"], one.metadata["columns"], callable(one.default_factory), one.metadata["gaps"]
        )
        for one in fields(cls)
        if "file" in one.metadata
    ]
