"""Sidecar tables: what a trace lacks, such as burst-buffer requests, in a CSV or Parquet file keyed by job number."""

import io
from pathlib import Path
from typing import Any

import polars as pl

from forebay.errors import InputError, nearest
from forebay.workload import _source
from forebay.workload.workload import JOB_SCHEMA

KEYS = ("id", "job", "job_id", "JobID")
"""Names that the column of job numbers may have; the first one found counts."""

_PARQUET = b"PAR1"
_LEAST = {"nodes": 1, "run_time": 0, "walltime": 0, "flop": 0, "communication": 0}


def load(path: Path) -> pl.DataFrame:
    """The table in a CSV (packed or not) or Parquet file, told by its content; CSV values stay text."""
    data = _source.load(path).data
    if data.startswith(_PARQUET):
        try:
            return pl.read_parquet(io.BytesIO(data))
        except (pl.exceptions.PolarsError, OSError) as error:
            why = str(error).partition("\n")[0]
            raise InputError(f"{path}: not Parquet that can be read ({why}); is the file whole?") from None
    return _csv(data, path)


def _csv(data: bytes, path: Path) -> pl.DataFrame:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {place}: not text in UTF-8; a sidecar is CSV or Parquet") from None
    lines = [line.rstrip("\r") for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InputError(f"{path}: is empty; a sidecar has a header such as 'id,burst_buffer', then a line a job")
    names = [word.strip().strip('"') for word in lines[0].split(",")]
    rows = []
    for k, line in enumerate(lines[1:], 2):
        words = [word.strip().strip('"') for word in line.split(",")]
        if len(words) != len(names):
            raise InputError(
                f"{path}: line {k}: {len(words)} fields, and the header names {len(names)}; is the file cut short?"
            )
        rows.append(words)
    if len(set(names)) < len(names):
        raise InputError(f"{path}: line 1: a column occurs twice; columns: {', '.join(names)}")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def typed(frame: pl.DataFrame, label: str) -> pl.DataFrame:
    """The same with the job number as `id`, and each column of the type that a job table wants."""
    key = next((name for name in KEYS if name in frame.columns), None)
    if key is None:
        raise InputError(
            f"{label}: line 1: no column of job numbers; name it 'id' (columns: {', '.join(frame.columns)})"
        )
    frame = frame.rename({key: "id"})
    if len(frame.columns) == 1:
        raise InputError(f"{label}: line 1: has job numbers only; add a column to attach, such as burst_buffer")
    columns = []
    for name in frame.columns:
        if not name.isidentifier():
            hint = nearest(name, [*JOB_SCHEMA, "burst_buffer"])
            raise InputError(f"{label}: line 1: {name!r} cannot name a column; letters, digits and _ only ({hint})")
        columns.append(_column(frame[name], JOB_SCHEMA.get(name, pl.Int64), label))
    frame = pl.DataFrame(columns)
    twice = frame.filter(pl.col("id").is_duplicated())
    if len(twice):
        first, second = (frame["id"] == twice["id"][0]).arg_true()[:2] + 2
        raise InputError(f"{label}: lines {first} and {second} are both job {twice['id'][0]}; keep one")
    return frame


def _column(values: pl.Series, dtype: Any, label: str) -> pl.Series:
    """A column as numbers: whole ones where `dtype` says so, and not below what the column's meaning allows."""
    numeric = values.dtype == pl.String or values.dtype.is_numeric()
    numbers = (
        values.cast(pl.Float64, strict=False) if numeric else pl.Series(values.name, [None] * len(values), pl.Float64)
    )
    result, what = numbers, "a number"
    bad = ~numbers.is_finite().fill_null(False)
    if dtype == pl.Int64:
        what = "a whole number"
        bad |= (numbers != numbers.floor()).fill_null(True) | (numbers.abs() >= 2**63).fill_null(True)
        result = numbers.cast(pl.Int64, strict=False)
        if numeric:  # beyond 2^53 a double would round
            result = values.cast(pl.Int64, strict=False).fill_null(result)
    least = _LEAST.get(values.name, None if values.name in JOB_SCHEMA else 0)
    if least is not None:
        bad |= (numbers < least).fill_null(True)
        what += f" from {least} up"
    wrong = bad.arg_true()
    if len(wrong):
        raise InputError(f"{label}: line {wrong[0] + 2}: {values.name} is {values[wrong[0]]!r}; it must be {what}")
    return result
