"""forebay's own format, which loses nothing: a zip of Parquet tables and `workload.json`.

The tables are jobs, legs, phases and dependencies; those of applications are in a folder of that name.
"""

import io
import json
import lzma
import math
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from forebay._plugins import parse_spec
from forebay._support import input_limits
from forebay._support.parquet import read_parquet
from forebay.core.schemas import (
    DEPENDENCY_SCHEMA,
    INSIDE,
    JOB_SCHEMA,
    LEG_SCHEMA,
    MORE,
    PHASE_SCHEMA,
    STATED,
    own_columns,
)
from forebay.errors import InputError, brief, listed
from forebay.workload import _source
from forebay.workload._checks.jobs import checked
from forebay.workload.applications import Applications
from forebay.workload.formats._json_values import count, member, names_in, number, parse, text, whole
from forebay.workload.workload import NAMES, Workload, can_name

DESCRIPTION = "forebay's own: Parquet tables of jobs, their legs, phases, dependencies and applications; loses nothing"
SUFFIXES = (".parquet.zip",)

_DEMANDS = ("burst_buffer", *INSIDE, *STATED)  # columns of floats by these names are mistakes

_PLAIN, _WITH_APPLICATIONS, _WITH_DEPENDENCIES = 1, 2, 3
"""Versions: what knows of no applications, or dependencies, must not read such a file without them."""
_FACTS = "workload.json"
_TABLES: dict[str, dict[str, Any]] = {
    "jobs": JOB_SCHEMA,
    "legs": LEG_SCHEMA,
    "phases": PHASE_SCHEMA,
    "dependencies": DEPENDENCY_SCHEMA,
}
_ONE = {"jobs": "job", "legs": "leg", "phases": "phase", "dependencies": "dependency"}
_APPLICATIONS = tuple(one.name for one in fields(Applications))
_FOLDER = "applications/"
_MEMBERS = (
    _FACTS,
    *(f"{name}.parquet" for name in _TABLES),
    *(f"{_FOLDER}{name}.parquet" for name in _APPLICATIONS),
)
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that zip knows, so that equal workloads are equal bytes

# What zipfile and the unpackers behind it raise on damaged files, a negative place to seek among them.
_DAMAGED = (
    *(zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError, ValueError),
    *(zlib.error, lzma.LZMAError),
)


def matches(head: bytes) -> bool:
    """Whether a file that begins so is a zip."""
    return head.startswith(b"PK\x03\x04")


def read(path: Path) -> Workload:
    """The workload as it was written, to the last bit: its name, notes, provenance and digest too."""
    source = _source.load(path)
    parts = _parts(source)
    for name in (_FACTS, "jobs.parquet"):
        if name not in parts:
            raise InputError(f"{path}: holds no {name}; it is not a workload that forebay wrote")
    facts = _facts(parts[_FACTS], path)
    tables = {name: _table(parts[f"{name}.parquet"], name, source) for name in _TABLES if f"{name}.parquet" in parts}
    jobs = tables["jobs"] = _complete(tables["jobs"])
    if not len(jobs) or (jobs.schema.get("id") == pl.Int64 and jobs["id"].is_duplicated().any()):
        raise InputError(f"{path}: jobs.parquet must have jobs, each with an id of its own")
    for name, table in tables.items():
        _check_columns(table, name, path)
    applications = _applications(parts, source)
    workload = checked(
        Workload(
            jobs=jobs,
            legs=tables.get("legs"),
            phases=tables.get("phases"),
            applications=applications,
            dependencies=tables.get("dependencies"),
            **facts,
        ),
        path,
    )
    if not jobs["submit"].is_sorted():
        raise InputError(f"{path}: jobs.parquet: jobs are not in order of submission; sort them by submit, then id")
    return workload


def _parts(source: _source.Source) -> dict[str, bytes]:
    """The members of the zip that are known, by name."""
    most = input_limits.unpacked(source.size)
    parts: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as file:
            for name in sorted(set(file.namelist()).intersection(_MEMBERS)):
                with file.open(name) as member_file:
                    before = sum(map(len, parts.values()))
                    parts[name] = _source.pieces(member_file, str(source.path), most, before)
    except _DAMAGED:
        raise InputError(f"{source.path}: not a zip that can be read; is the file whole?") from None
    return parts


def _facts(data: bytes, path: Path) -> dict[str, Any]:
    where = f"{path}: {_FACTS}"
    facts = parse(data, where)
    if not isinstance(facts, dict):
        raise InputError(f"{where}: is {brief(facts)}; it must be an object")
    version = whole(member(facts, "version", where), where, "version")
    if not _PLAIN <= version <= _WITH_DEPENDENCIES:
        known = f"{_PLAIN} to {_WITH_DEPENDENCIES}"
        raise InputError(f"{where}: is of version {version}, and this forebay reads {known}; use a newer forebay")
    dropped = member(facts, "dropped", where)
    if not isinstance(dropped, dict):
        raise InputError(f"{where}: 'dropped' is {brief(dropped)}; it must be an object")
    return {
        "name": text(member(facts, "name", where), where, "name"),
        "epoch": number(member(facts, "epoch", where), where, "epoch"),
        "platform": _platform(facts.get("platform"), where),
        "records": count(member(facts, "records", where), where, "records"),
        "dropped": {why: count(many, where, "dropped") for why, many in dropped.items()},
        **{key: _lines(member(facts, key, where), where, key) for key in ("notes", "provenance")},
        "sha256": text(member(facts, "sha256", where), where, "sha256"),
        "names": names_in(facts, where),
    }


def _platform(value: Any, where: str) -> str | None:
    if value is None:
        return None
    try:
        parse_spec(text(value, where, "platform"))
    except InputError:
        raise InputError(f"{where}: 'platform' is {brief(value)}; it must be as --platform takes it") from None
    return str(value)


def _lines(value: Any, where: str, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a list of text")
    return tuple(value)


def _table(data: bytes, name: str, source: _source.Source) -> pl.DataFrame:
    where = f"{source.path}: {name}.parquet"
    table = read_parquet(data, where, source.size)
    may_lack = {"release", *(own_columns(table.schema) if name == "jobs" else ())}
    for column in table.iter_columns():
        if column.null_count() and column.name not in may_lack:
            row = column.is_null().arg_max() or 0
            raise InputError(f"{where}: {listed([column.name])} of row {row + 1} is missing; give each a value")
    return table


def _applications(parts: dict[str, bytes], source: _source.Source) -> Applications | None:
    """All of their tables, or none."""
    names = {name: f"{_FOLDER}{name}.parquet" for name in _APPLICATIONS}
    missing = [name for name in names.values() if name not in parts]
    if len(missing) == len(names):
        return None
    if missing:
        raise InputError(f"{source.path}: holds tables of applications, but no {listed(missing)}; is the file whole?")
    tables = {name: _table(parts[member], f"{_FOLDER}{name}", source) for name, member in names.items()}
    try:
        return Applications(**tables)
    except InputError as error:
        raise InputError(f"{source.path}: {error}") from None


def _check_columns(table: pl.DataFrame, name: str, path: Path) -> None:
    """Refuse tables without the columns that they must have, or with any of another type."""
    where, schema = f"{path}: {name}.parquet: the {_ONE[name]} table", _TABLES[name]
    missing = [column for column in schema if column not in table.columns]
    if missing:
        raise InputError(f"{where} lacks {listed(missing)}; see forebay.workload")
    odd = [column for column in table.columns if column not in schema and not can_name(column)]
    if odd:
        raise InputError(f"{where} has a column {brief(odd[0])}; {NAMES}")
    own = [column for column in own_columns(table.schema) if name == "jobs" and column not in _DEMANDS]
    wants = {column: (schema | MORE).get(column, pl.Int64) for column in table.columns if column not in own}
    wrong = [f"{column} as {dtype}" for column, dtype in wants.items() if table.schema[column] != dtype]
    if wrong:
        raise InputError(f"{where} must have {listed(wrong)}")


def _complete(jobs: pl.DataFrame) -> pl.DataFrame:
    """The jobs of a file that was written before they had a column `cancel`: none is withdrawn."""
    if "cancel" in jobs.columns:
        return jobs
    jobs = jobs.with_columns(cancel=pl.lit(math.inf))
    known = [name for name in JOB_SCHEMA if name in jobs.columns]
    return jobs.select(*known, *(name for name in jobs.columns if name not in JOB_SCHEMA))


def write(workload: Workload, path: Path) -> list[str]:
    """Write all of a workload; there is nothing that it cannot hold."""
    facts = {
        "version": _version(workload),
        "name": workload.name,
        "epoch": workload.epoch,
        "platform": workload.platform,
        "records": workload.records,
        "dropped": workload.dropped,
        "notes": workload.notes,
        "provenance": workload.provenance,
        "sha256": workload.sha256,
        **({"names": workload.names} if workload.names else {}),
    }
    whole_file = io.BytesIO()
    with zipfile.ZipFile(whole_file, "w") as file:
        file.writestr(zipfile.ZipInfo(_FACTS, _DATE), json.dumps(facts, ensure_ascii=False, indent=2) + "\n")
        for name, table in _tables(workload).items():
            data = io.BytesIO()
            table.write_parquet(data)
            file.writestr(zipfile.ZipInfo(f"{name}.parquet", _DATE), data.getvalue())
    _source.save(path, whole_file.getvalue())
    return []


def _version(workload: Workload) -> int:
    """The least that can read all of it."""
    if workload.dependencies is not None:
        return _WITH_DEPENDENCIES
    return _PLAIN if workload.applications is None else _WITH_APPLICATIONS


def _tables(workload: Workload) -> dict[str, pl.DataFrame]:
    """The tables that there are, by the names of their files."""
    tables = {name: getattr(workload, name) for name in _TABLES}
    if workload.applications is not None:
        tables |= {f"{_FOLDER}{name}": getattr(workload.applications, name) for name in _APPLICATIONS}
    return {name: table for name, table in tables.items() if table is not None}
