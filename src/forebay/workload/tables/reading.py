"""A table of jobs to a Workload, by a mapping: columns pass in a stream, so that a table may be of any length."""

import gzip
import hashlib
import math
from collections.abc import Mapping as AnyMapping
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from forebay._support.text import counted
from forebay.errors import InputError, brief, nearest
from forebay.workload import _source, _suggest
from forebay.workload._bad_lines import DROPPED
from forebay.workload._checks.jobs import checked
from forebay.workload.names import numbered
from forebay.workload.tables import values
from forebay.workload.tables.mapping import COUNTS, LENGTHS, MOMENTS, SIZES, WORDS, Column, Mapping, factor, mapping
from forebay.workload.workload import Workload, job_table

_DELIMITERS = ",;\t|"
_PARQUET = b"PAR1"
_ENDINGS = (".csv", ".csv.gz", ".tsv", ".txt", ".parquet")
_PIECE = 1 << 24
_KINDS = {"moment": "a date such as 2024-01-31 23:59:00, or a number", "length": "a length such as 600 or 01:30:00"}


def read(
    path: Path,
    columns: str | PathLike[str] | AnyMapping[str, Any],
    skip_bad_lines: bool = False,
) -> Workload:
    """The jobs of a CSV or Parquet file, whose columns mean what `columns` says."""
    by = mapping(columns)
    frame, dtypes = _scan(path, by)
    _known_columns(by, dtypes, path)
    samples = _samples(frame, by, dtypes)
    found = _fields(frame, by, dtypes, samples, path)
    if found["wrong"].any():
        found = _fields(frame, by, dtypes, None, path)
    if not len(found):
        raise InputError(f"{path}: has no row; is the file whole?")
    zones = [name for name in found.columns if name.endswith(" zoned")]
    _agree_on_zones(found, zones, by, path)
    dropped: dict[str, int] = {}
    if found["wrong"].any():
        if not skip_bad_lines:
            raise _first_wrong(frame, by, dtypes, int(found["wrong"].arg_max() or 0), path)
        dropped[DROPPED] = int(found["wrong"].sum())
        found = found.filter(~pl.col("wrong"))
    records = len(found) + sum(dropped.values())
    ran = [_ran(found.drop("wrong", *zones), dropped, path)]
    del found
    return _workload(ran, by, records, dropped, path)


_Samples = AnyMapping[str, str] | None
"""A cell of each column that is words; None where cells are read with care."""


def _samples(frame: pl.LazyFrame, by: Mapping, dtypes: AnyMapping[str, Any]) -> dict[str, str]:
    words = {one.column for one in by.columns.values() if one.value is None and dtypes[one.column] == pl.String}
    head = frame.select(sorted(words)).head(100).collect()
    return {name: (head[name].drop_nulls().head(1).to_list() or [""])[0] for name in words}


def _fields(
    frame: pl.LazyFrame, by: Mapping, dtypes: AnyMapping[str, Any], samples: _Samples, path: Path
) -> pl.DataFrame:
    """The fields of all rows, and whether something in a row makes no sense."""
    made = {name: _expression(name, one, by, dtypes, samples) for name, one in by.columns.items() if name != "id"}
    identity = {"id": pl.col(by.columns["id"].column).cast(pl.Int64, strict=False)} if "id" in by.columns else {}
    zones = {} if samples is not None else _zones(by, dtypes)
    table = frame.select(**made, **identity, **_there(by, dtypes, samples), **zones)
    try:
        return table.with_columns(wrong=_wrong(by)).drop(_there(by, dtypes, samples)).collect(engine="streaming")
    except PolarsError as error:
        why = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as a table ({why}); is the file whole?") from None


def _scan(path: Path, by: Mapping) -> tuple[pl.LazyFrame, dict[str, Any]]:
    """The table, and the types of its columns; those of CSV are all words."""
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    try:
        if head.startswith(_PARQUET):
            frame = pl.scan_parquet(path)
            return frame, dict(frame.collect_schema())
        if head.startswith(_source.GZIP):
            with gzip.open(path) as packed:
                head = packed.read(1 << 16)
        first = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode()
        delimiter = max(_DELIMITERS, key=first.count)
        frame = pl.scan_csv(
            path,
            separator=delimiter,
            infer_schema=False,
            has_header=not by.header,
            new_columns=list(by.header) or None,
        )
        return frame, dict(frame.collect_schema())
    except (PolarsError, OSError, EOFError, UnicodeDecodeError) as error:
        why = str(error).splitlines()[0] if str(error) else "no table"
        raise InputError(f"{path}: no table in CSV or Parquet ({why}); give one with a header") from None


def _known_columns(by: Mapping, dtypes: AnyMapping[str, Any], path: Path) -> None:
    for name, one in by.columns.items():
        if one.value is None and one.column not in dtypes:
            near = nearest(one.column, dtypes)
            raise InputError(f"{path}: has no column {brief(one.column)}, which is to be {name}; {near}")


def _expression(name: str, one: Column, by: Mapping, dtypes: AnyMapping[str, Any], samples: _Samples = None) -> pl.Expr:
    """The field of all jobs."""
    if one.value is not None:
        return pl.lit(one.value, pl.Int64)
    if name in WORDS:
        return pl.col(one.column).cast(pl.String).cast(pl.Categorical)
    dtype, unit = dtypes[one.column], factor(name, one.unit) if name != "priority" else 1.0
    quick = samples is not None and dtype == pl.String
    if quick:
        dated = name in MOMENTS
        amount = values.quick(one.column, samples[one.column] if samples and dated else "", by.zone, unit)
    elif name in MOMENTS:
        amount = values.moment(one.column, dtype, unit, by.zone)
    elif name in LENGTHS:
        amount = values.length(one.column, dtype, unit)
    else:
        amount = values.number(one.column, dtype) * unit
    if name in (*MOMENTS, *LENGTHS):
        return values.within(amount, -math.inf if name == "wait" else 0.0)
    if name == "priority":
        return amount
    times = by.columns.get({"node": "nodes", "core": "cores"}.get(one.each, ""))
    if times is None:
        return values.whole(amount)
    many = pl.lit(times.value) if times.value is not None else values.number(times.column, dtypes[times.column])
    return values.whole(values.whole(amount) * many if name in COUNTS else amount * many)


def _there(by: Mapping, dtypes: AnyMapping[str, Any], samples: _Samples = None) -> dict[str, pl.Expr]:
    """Whether there is something in each cell that is read as a number."""
    cells = {f"{name} there": one.column for name, one in _numeric(by).items()}
    if samples is not None:
        return {name: pl.col(column).is_not_null() for name, column in cells.items()}
    return {name: values.known(column, dtypes[column]) for name, column in cells.items()}


def _numeric(by: Mapping) -> dict[str, Column]:
    return {name: one for name, one in by.columns.items() if one.value is None and name not in ("id", *WORDS)}


def _wrong(by: Mapping) -> pl.Expr:
    """Whether something in a row makes no sense."""
    return pl.any_horizontal(pl.lit(value=False), *(pl.col(f"{k} there") & pl.col(k).is_null() for k in _numeric(by)))


def _zones(by: Mapping, dtypes: AnyMapping[str, Any]) -> dict[str, pl.Expr]:
    """Whether each date names its zone."""
    moments = {name: one.column for name, one in by.columns.items() if name in MOMENTS}
    return {f"{name} zoned": values.zoned(column, dtypes[column]) for name, column in moments.items()}


def _agree_on_zones(found: pl.DataFrame, zones: list[str], by: Mapping, path: Path) -> None:
    """All dates name their zones, or none does."""
    seen: dict[bool, str] = {}
    for name in zones:
        for flag in (True, False):
            which = found[name] == flag
            if which.any():
                where = f"{by.columns[name.removesuffix(' zoned')].column} of row {int(which.arg_max() or 0) + 1}"
                seen.setdefault(flag, where)
    if len(seen) == 2:
        raise InputError(
            f"{path}: {seen[True]} names its time zone, {seen[False]} does not; write all dates in one way"
        )


def _first_wrong(frame: pl.LazyFrame, by: Mapping, dtypes: AnyMapping[str, Any], row: int, path: Path) -> InputError:
    """What to say of the first row that makes no sense."""
    line = frame.slice(row, 1)
    made = {name: _expression(name, one, by, dtypes) for name, one in _numeric(by).items()}
    cells = line.select(**made, **_there(by, dtypes)).collect().row(0, named=True)
    name = next(name for name in made if cells[f"{name} there"] and cells[name] is None)
    one = by.columns[name]
    cell = line.select(one.column).collect().item()
    kind = "moment" if name in MOMENTS else "length" if name in LENGTHS else ""
    wanted = _KINDS.get(kind, "a number from 0 up")
    return InputError(f"{path}: row {row + 1}: {one.column} is {brief(cell)}; as {name} it must be {wanted}")


def _ran(found: pl.DataFrame, dropped: dict[str, int], path: Path) -> pl.DataFrame:
    """Jobs that ran, with `arrival`, `start` and `run_time`; why others are left out is added to `dropped`."""
    has = set(found.columns)
    given = [pl.col(name) for name in ("eligible", "submit") if name in has]
    found = found.with_columns(arrival=pl.coalesce(given))
    if "wait" in has:
        found = found.with_columns(start=pl.col("arrival") + pl.col("wait"))
    if {"end"} <= has and "start" in found.columns:
        found = found.with_columns(between=pl.col("end") - pl.col("start"))
        _same_unit(found, path)
        run = [pl.col(name) for name in ("run_time", "between") if name in found.columns]
        found = found.with_columns(run_time=pl.coalesce(run)).drop("between")
    reasons = {
        "without a submission": pl.col("arrival").is_null(),
        "never started": pl.col("start").is_null() if "start" in found.columns else pl.lit(value=False),
        "run time not known": pl.col("run_time").is_null(),
        "run time not positive": pl.col("run_time") <= 0,
        "no nodes": pl.col("nodes").fill_null(0) <= 0,
    }
    for why, which in reasons.items():
        count = int(found.select(which.sum()).item() or 0) if len(found) else 0
        if count:
            dropped[why] = count
            found = found.filter(~which)
    if not len(found):
        raise InputError(
            f"{path}: holds no job that ran: {_source.dropped_text(dropped)}; are the columns the right ones?"
        )
    return found


def _same_unit(found: pl.DataFrame, path: Path) -> None:
    """A run time and the time between start and end are the same, if their units are right."""
    if "run_time" not in found.columns:
        return
    both = found.filter((pl.col("run_time") > 0) & (pl.col("between") > 0))
    ratio: Any = (both["run_time"] / both["between"]).median() if len(both) else None
    if ratio is not None and not 0.5 < ratio < 2:
        raise InputError(
            f"{path}: run_time is {ratio:.4g} times the time from start to end; one of them has another unit, such as "
            "run_time=COLUMN:ms"
        )


def _workload(ran: list[pl.DataFrame], by: Mapping, records: int, dropped: dict[str, int], path: Path) -> Workload:
    """Of the fields of jobs that ran, which are taken from the list: a table of ten million jobs is a gigabyte."""
    found, notes = ran.pop(), list[str]()
    columns: dict[str, Any] = {"id": _numbers(found, notes), "submit": found["arrival"], "run_time": found["run_time"]}
    endless = pl.Series([math.inf]).new_from_index(0, len(found))
    columns["walltime"] = found["walltime"].fill_null(math.inf) if "walltime" in found.columns else endless
    none = int((columns["walltime"] <= 0).sum())
    columns["walltime"] = columns["walltime"].set(columns["walltime"] <= 0, math.inf) if none else columns["walltime"]
    if "walltime" not in found.columns:
        notes.append("no column is walltime: unless a model adds walltimes, nothing says when a job ends")
    columns["nodes"] = found["nodes"]
    for name in (*COUNTS[1:], *SIZES, "priority"):
        if name in found.columns:
            columns[name] = found[name].fill_null(0)
    names = {}
    for name in WORDS:
        if name in found.columns:
            coded, known = _coded(found[name])
            if (coded >= 0).any():
                columns[name], names[name] = coded, known
    platform = None
    if "start" in found.columns:
        columns["recorded_start"] = found["start"]
        most = _suggest.most_in_use(*(found[name].to_numpy() for name in ("start", "run_time", "nodes")))
        platform = f"flat:nodes={most}"
        notes.append(_source.inferred_size(most))
    else:
        notes.append(_source.unknown_size("for lack of a column start"))
    if "memory" in columns:
        notes.append(_source.MEMORY_NOTE)
    del found
    jobs, first = _source.in_order(_emptied(columns))
    stem = next((path.name[: -len(end)] for end in _ENDINGS if path.name.lower().endswith(end)), path.name)
    made = Workload(
        name=stem or path.name,
        jobs=jobs,
        epoch=first,
        platform=platform,
        records=records,
        dropped=dropped,
        notes=tuple(notes),
        provenance=(f"read {path.name} (a table by {by.where}, {counted(records, 'record')})",),
        sha256=_digest(path),
        names={name: known for name, known in names.items() if known},
    )
    return checked(made, path)


def _emptied(columns: dict[str, Any]) -> pl.DataFrame:
    """The job table of columns that nothing else holds any more, so that what is sorted is there only once."""
    made = job_table(columns)
    columns.clear()
    return made


def _numbers(found: pl.DataFrame, notes: list[str]) -> pl.Series:
    """The jobs' own numbers, where they have such; else those of the rows that are left."""
    if "id" in found.columns:
        given = found["id"]
        if not given.null_count() and given.n_unique() == len(found) and not (given < 0).any():
            return given
        notes.append("ids are no numbers of one job each: jobs are numbered by row")
    return pl.arange(1, len(found) + 1, eager=True)


def _coded(words: pl.Series) -> tuple[pl.Series, dict[int, str]]:
    """Numbers for the words, -1 for those that stand for nothing, and what they are called."""
    every = words.unique(maintain_order=True).drop_nulls()
    plain = ["" if word.strip().lower() in values.UNKNOWN else word.strip() for word in every.cast(pl.String)]
    coded, names = numbered(plain, {})
    return words.to_physical().replace_strict(every.to_physical(), coded, default=-1, return_dtype=pl.Int64), names


def _digest(path: Path) -> str:
    """Of the file's bytes."""
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            whole.update(piece)
    return whole.hexdigest()
