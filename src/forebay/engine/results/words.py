"""Codes as words, in columns of frames."""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache

import numpy as np
import polars as pl


def lower(codes: type[IntEnum]) -> tuple[tuple[int, str], ...]:
    return tuple((code.value, code.name.lower()) for code in codes)


@lru_cache
def _dictionary(names: tuple[tuple[int, str], ...], nothing: int | None) -> tuple[np.ndarray, pl.Series]:
    """The place of each code in a column of words. One may stand for nothing."""
    table = np.zeros(max(code for code, _ in names) + 1, np.uint32)
    for place, (code, _) in enumerate(names):
        table[code] = place
    kind = pl.Enum([word for _, word in names])
    return table, pl.Series([None if code == nothing else word for code, word in names], dtype=kind)


def words(codes: np.ndarray, names: Iterable[tuple[int, str]], nothing: int | None = None) -> pl.Series:
    """Codes as an Enum column: one byte a row, readable. Null of the code that stands for nothing."""
    table, words = _dictionary(tuple(names), nothing)
    column: pl.Series = words[table[codes]]
    return column
