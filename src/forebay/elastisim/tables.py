"""Rows of applications, gathered job by job in arrays and made into tables at the end."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay._support import input_limits
from forebay.errors import InputError
from forebay.workload import applications
from forebay.workload.applications import Applications

MAX_ROWS = 10_000_000
"""Of amounts and requests together, most of a gigabyte."""


class Amounts(NamedTuple):
    """What a task takes at each size."""

    seconds: NDArray[np.float64]
    flop: NDArray[np.float64]
    communication: NDArray[np.float64]
    bytes: NDArray[np.float64]
    streams: NDArray[np.float64]


class Tables:
    """The rows so far."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in ("jobs", "loops", "tasks")}
        self._columns: dict[str, list[tuple[Any, ...]]] = {name: [] for name in ("sizes", "amounts", "requests")}
        self._most = self._left = input_limits.limit(input_limits.STEPS, MAX_ROWS)

    def row(self, name: str, *values: Any) -> None:
        """One more row of a small table."""
        self._rows[name].append(values)

    def reserve(self, rows: int, where: str) -> None:
        """Refuse, before they are made, more rows than a workload may have."""
        self._left -= rows
        if self._left < 0:
            raise InputError(
                f"{where}: with this job there are more than {self._most:,} amounts, one for each task at each size; "
                f"write fewer sizes or tasks, or set the variable {input_limits.STEPS} to as many as there may be"
            )

    def block(self, name: str, *columns: Any) -> None:
        """Rows of a large table: arrays of one length, and numbers that are the same in all of them.

        A column is either of them in all blocks.
        """
        self._columns[name].append(columns)

    def made(self) -> Applications:
        """All of them as tables."""
        small = {name: applications.table(name, rows) for name, rows in self._rows.items()}
        large = {name: _stacked(name, blocks) for name, blocks in self._columns.items()}
        return Applications(**small, **large)


def _stacked(name: str, blocks: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    schema = applications.empty(name).schema
    if not blocks:
        return applications.empty(name)
    arrays = [isinstance(column, np.ndarray) for column in blocks[0]]
    first = arrays.index(True)
    lengths = np.array([len(block[first]) for block in blocks])
    columns = []
    for k, (name_, dtype) in enumerate(schema.items()):
        parts = [block[k] for block in blocks]
        whole = np.concatenate(parts) if arrays[k] else np.repeat(np.array(parts), lengths)
        columns.append(pl.Series(name_, whole).cast(dtype))
    return pl.DataFrame(columns)
