"""What the runs of a sweep differ in, and which of it are numbers: of nodes, bytes, seconds, or plain."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from forebay.core.units import parse_bytes, parse_rate, parse_seconds
from forebay.errors import InputError, brief, nearest
from forebay.experiments.grid import COLUMNS
from forebay.experiments.swept.runs import AXES, Swept, as_written

_UNITS: tuple[tuple[str, Callable[[str], float]], ...] = (
    ("", float),
    ("bytes", parse_bytes),
    ("bytes/s", parse_rate),
    ("s", parse_seconds),
)


@dataclass(frozen=True)
class Dimension:
    """Something that runs differ in: its values in the order of the sweep, and as numbers where they are."""

    name: str
    column: str
    values: Sequence[Any]
    numbers: Mapping[Any, float] | None = None
    unit: str = ""


def dimensions(swept: Swept) -> dict[str, Dimension]:
    """All in which some runs differ, but for the seed, by name; specs as the sweep has them."""
    found = {}
    for name in (*AXES, *swept.parameters):
        column = as_written(name) if name in AXES else name
        values = swept.table[column].unique(maintain_order=True).drop_nulls().to_list()
        if len(values) > 1:
            numbers, unit = (None, "") if name in AXES else _numbers(values)
            found[name] = Dimension(name, column, values, numbers, unit)
    return found


def _numbers(values: Sequence[Any]) -> tuple[Mapping[Any, float] | None, str]:
    """Values as numbers of one unit, if they are all such; two that are the same number are names."""
    if any(isinstance(value, bool) for value in values):
        return None, ""
    for unit, parse in _UNITS:
        try:
            found = {value: float(parse(str(value))) for value in values}
        except (InputError, ValueError):
            continue
        if len(set(found.values())) == len(values) and all(abs(one) < float("inf") for one in found.values()):
            return found, unit
    return None, ""


def only(swept: Swept, where: Mapping[str, Sequence[str]]) -> Swept:
    """The runs whose columns have one of these values; a spec may be given as the sweep has it, too."""
    table, known = swept.table, (*COLUMNS, *swept.parameters)
    for name, wanted in where.items():
        if name not in known:
            raise InputError(f"runs do not differ in {brief(name)}: {nearest(name, known)}")
        columns = [name, *([as_written(name)] if name in AXES else [])]
        texts = {column: table[column].cast(pl.String) for column in columns}
        there = {text for column in columns for text in swept.table[column].cast(pl.String).drop_nulls()}
        for value in wanted:
            if value not in there:
                raise InputError(f"no run has {name}={brief(value)}: {nearest(value, there)}")
        keep = pl.Series([False] * len(table))
        for one in texts.values():
            keep |= one.is_in(list(wanted)).fill_null(False)
        table = table.filter(keep)
    if table.is_empty():
        raise InputError("no run has all of these values together; ask for fewer")
    return Swept(table, swept.parameters, swept.total, swept.name)
