"""Tables of polars for those who have pandas."""

from typing import Any

import polars as pl

from forebay.errors import InputError


def as_pandas(frame: pl.DataFrame) -> Any:
    """The same as a DataFrame of pandas; polars itself would want pyarrow, too."""
    try:
        import pandas
    except ImportError:
        raise InputError('pandas is not installed; install it with pip install "forebay[pandas]"') from None
    return pandas.DataFrame({name: _values(frame[name]) for name in frame.columns})


def _values(column: pl.Series) -> Any:
    if column.dtype.is_numeric() and not column.null_count():
        return column.to_numpy()
    if column.dtype.is_float() or column.dtype.is_integer():
        return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return column.cast(pl.String).to_list()
