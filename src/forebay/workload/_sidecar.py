"""Sidecar tables: what a trace lacks, such as burst-buffer requests, in a CSV or Parquet file keyed by job number."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from forebay._support.input_limits import LONGEST
from forebay._support.parquet import read_parquet
from forebay.core.schemas import DEADLINE, JOB_SCHEMA, MORE, NAMED, STATED
from forebay.core.units import parse_bytes, parse_seconds
from forebay.errors import InputError, brief, listed, nearest
from forebay.workload import _source
from forebay.workload._checks.rules import MOST_NODES
from forebay.workload.workload import NAMES, can_name, own_column

KEYS = ("id", "job", "job_id", "JobID")
"""Names that the column of job numbers may have; the first one found counts."""

OWN = "own:"
"""Before the name of a column that is no demand but its author's own: `own:deadline`."""

_PARQUET = b"PAR1"
_PART = r"^[0-9]{1,18}[_+][0-9]{1,18}$"
_LEAST = {"nodes": 1, "run_time": 0, "flop": 0, "communication": 0, "exclusive": -1, **dict.fromkeys(NAMED, -1)}
_ABOVE_0 = ("walltime", "cancel")  # inf is one: no limit, never
_TIMES = ("submit", "run_time", *_ABOVE_0)
_MOST = dict.fromkeys(_TIMES, LONGEST) | {"nodes": MOST_NODES, "tasks": MOST_NODES, "exclusive": 1}
_BARE = (*JOB_SCHEMA, *MORE, "cores", "gpus")  # numbers without a unit
_HINTS: dict[Callable[[str], float] | None, str] = {
    parse_bytes: "; bytes may have a unit: 1.5GB",
    parse_seconds: "; seconds may have a unit: 1.5h",
}


def load(path: Path) -> pl.DataFrame:
    """The table in a CSV (packed or not) or Parquet file, recognised by its content; CSV values stay text."""
    data = _source.load(path).data
    if data.startswith(_PARQUET):
        return read_parquet(data, str(path))
    return _csv(data, path)


def _csv(data: bytes, path: Path) -> pl.DataFrame:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {place}: not text in UTF-8; a sidecar is CSV or Parquet") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InputError(f"{path}: is empty; a sidecar has a header such as 'id,burst_buffer', then a line a job")
    names = [word.strip().strip('"') for word in lines[0].split(",")]
    seen = next((character for character in ";\t|" if character in lines[0]), None)
    if len(names) == 1 and seen:
        raise InputError(f"{path}: line 1: columns are divided by {seen!r}; a sidecar divides them by ','")
    rows = []
    for k, line in enumerate(lines[1:], 2):
        words = [word.strip().strip('"') for word in line.split(",")]
        if len(words) != len(names):
            raise InputError(
                f"{path}: line {k}: {len(words)} fields, and the header names {len(names)}; is the file cut short?"
            )
        rows.append(words)
    if len(set(names)) < len(names):
        raise InputError(f"{path}: line 1: a column occurs twice; columns: {listed(names, 10)}")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def resolved(frame: pl.DataFrame, jobs: pl.DataFrame) -> pl.DataFrame:
    """The same with numbers of jobs for Slurm's names of array tasks, `1001_4`, and of components, `1001+0`.

    One that is no job's here gets a number that no job has.
    """
    key = next((name for name in KEYS if name in frame.columns), None)
    if key is None or frame[key].dtype != pl.String or not frame[key].str.contains(_PART).any():
        return frame
    known: dict[str, int] = {}
    for one, part, mark in (("array", "array_task", "_"), ("het", "het_offset", "+")):
        if one in jobs.columns:
            for parent, index, job in jobs.filter(pl.col(one) >= 0).select(one, part, "id").iter_rows():
                known.setdefault(f"{parent}{mark}{index}", job)  # a later run of a task has another number
    words = frame[key].to_list()
    strange: dict[str, int] = {}
    for k in frame[key].str.contains(_PART).arg_true():
        word = words[k]
        words[k] = str(known[word] if word in known else strange.setdefault(word, -1 - len(strange)))
    return frame.with_columns(pl.Series(key, words, pl.String))


def typed(frame: pl.DataFrame, label: str) -> pl.DataFrame:
    """The same with the job number as `id`, and each column of the type that a job table wants."""
    key = next((name for name in KEYS if name in frame.columns), None)
    if key is None:
        raise InputError(
            f"{label}: line 1: no column of job numbers; name it 'id' (columns: {listed(frame.columns, 10)})"
        )
    frame = frame.rename({key: "id"})
    if len(frame.columns) == 1:
        raise InputError(f"{label}: line 1: has job numbers only; add a column to attach, such as burst_buffer")
    columns = []
    for name in frame.columns:
        if name == DEADLINE or (name.startswith(OWN) and can_name(name.removeprefix(OWN))):
            if name.removeprefix(OWN) in (*JOB_SCHEMA, *MORE, *STATED):
                why = "is the name of a column that means something already; choose another"
                raise InputError(f"{label}: line 1: {brief(name)} {why}")
            columns.append(_own(frame[name].alias(name.removeprefix(OWN)), label))
            continue
        if not can_name(name):
            hint = nearest(name, [*JOB_SCHEMA, "burst_buffer"])
            raise InputError(f"{label}: line 1: {brief(name)} cannot name a column; {NAMES} ({hint})")
        columns.append(_column(frame[name], (JOB_SCHEMA | MORE).get(name, pl.Int64), label))
    _refuse_twice(columns, label)
    frame = pl.DataFrame(columns)
    twice = frame.filter(pl.col("id").is_duplicated())
    if len(twice):
        first, second = (frame["id"] == twice["id"][0]).arg_true()[:2] + 2
        raise InputError(f"{label}: lines {first} and {second} are both job {twice['id'][0]}; keep one")
    return frame


def _refuse_twice(columns: list[pl.Series], label: str) -> None:
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{label}: line 1: {brief(name)} occurs twice, also as {OWN}{name}; keep one")


def _own(values: pl.Series, label: str) -> pl.Series:
    """A column of the author's own: numbers if all that it holds are, else text; what is empty is unknown."""
    if values.dtype != pl.String:
        try:
            return own_column(values)
        except InputError as error:
            raise InputError(f"{label}: {error}") from None
    words = values.replace("", None)
    numbers = words.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == words.null_count() else words


def _column(values: pl.Series, dtype: Any, label: str) -> pl.Series:
    """A column as numbers: whole ones where `dtype` says so, and within what the column's meaning allows."""
    given, values = values, _without_units(values)
    numeric = values.dtype == pl.String or values.dtype.is_numeric()
    numbers = (
        values.cast(pl.Float64, strict=False) if numeric else pl.Series(values.name, [None] * len(values), pl.Float64)
    )
    result, what = numbers, "a number"
    bad = ~numbers.is_finite().fill_null(False)
    if values.name in _ABOVE_0:
        what += " above 0"
        bad = ~(numbers > 0).fill_null(False) | numbers.is_nan().fill_null(True)
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
    most = _MOST.get(values.name)
    if most is not None:
        bad |= ((numbers.abs() > most) & numbers.is_finite()).fill_null(True)
    wrong = bad.arg_true()
    if len(wrong):
        what += f", {most:g} at most" if most is not None and (numbers[wrong[0]] or 0) > most else ""
        what += _HINTS.get(_unit_of(values.name), "")
        found = brief(given.slice(wrong[0], 1).to_list()[0])
        raise InputError(f"{label}: line {wrong[0] + 2}: {listed([values.name])} is {found}; it must be {what}")
    return result


def _unit_of(name: str) -> Callable[[str], float] | None:
    """What reads a quantity with a unit in a column of that name; None where it has no unit."""
    return parse_seconds if name in _TIMES else None if name in _BARE else parse_bytes


def _without_units(values: pl.Series) -> pl.Series:
    """The same with 40GB and 2h as plain numbers of bytes and seconds; what is neither stays as it is."""
    parse = _unit_of(values.name)
    if values.dtype != pl.String or parse is None:
        return values
    words = values.to_list()
    for k in values.cast(pl.Float64, strict=False).is_null().arg_true():
        try:
            words[k] = str(parse(words[k] or ""))
        except InputError:  # reported with its line, when all values are looked at
            continue
    return pl.Series(values.name, words, pl.String)
