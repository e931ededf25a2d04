"""forebay's own format, which loses nothing: a zip of Parquet tables (jobs, legs, phases) and `workload.json`."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from forebay.errors import InputError
from forebay.workload import _source
from forebay.workload.formats._json_values import brief, member, number, whole
from forebay.workload.workload import Workload

DESCRIPTION = "forebay's own: Parquet tables of jobs, legs and phases in a zip; loses nothing"
SUFFIXES = (".parquet.zip",)

_VERSION = 1
_FACTS = "workload.json"
_TABLES = ("jobs", "legs", "phases")
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that zip knows, so that equal workloads are equal bytes


def matches(head: bytes) -> bool:
    """Whether a file that begins so is a zip."""
    return head.startswith(b"PK\x03\x04")


def read(path: Path) -> Workload:
    """The workload as it was written, to the last bit: its name, notes, provenance and digest too."""
    source = _source.load(path)
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as file:
            parts = {name: file.read(name) for name in file.namelist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise InputError(f"{path}: not a zip that can be read ({error}); is the file whole?") from None
    for name in (_FACTS, "jobs.parquet"):
        if name not in parts:
            raise InputError(f"{path}: holds no {name}; it is not a workload that forebay wrote")
    facts = _facts(parts[_FACTS], path)
    tables = {name: _table(parts[f"{name}.parquet"], name, path) for name in _TABLES if f"{name}.parquet" in parts}
    ids = tables["jobs"]["id"] if "id" in tables["jobs"].columns else pl.Series([0])
    if not len(ids) or ids.is_duplicated().any():
        raise InputError(f"{path}: jobs.parquet must have jobs, each with an id of its own")
    return Workload(jobs=tables["jobs"], legs=tables.get("legs"), phases=tables.get("phases"), **facts)


def _facts(data: bytes, path: Path) -> dict[str, Any]:
    where = f"{path}: {_FACTS}"
    try:
        facts = json.loads(data)
    except ValueError as error:
        raise InputError(f"{where}: not JSON ({error})") from None
    if not isinstance(facts, dict):
        raise InputError(f"{where}: is {brief(facts)}; it must be an object")
    version = whole(member(facts, "version", where), where, "version")
    if version != _VERSION:
        raise InputError(f"{where}: is of version {version}, and this forebay reads {_VERSION}; use a newer forebay")
    dropped = member(facts, "dropped", where)
    if not isinstance(dropped, dict):
        raise InputError(f"{where}: 'dropped' is {brief(dropped)}; it must be an object")
    platform = facts.get("platform")
    return {
        "name": str(member(facts, "name", where)),
        "epoch": number(member(facts, "epoch", where), where, "epoch"),
        "platform": None if platform is None else str(platform),
        "records": whole(member(facts, "records", where), where, "records"),
        "dropped": {str(why): whole(count, where, "dropped") for why, count in dropped.items()},
        **{key: _lines(member(facts, key, where), where, key) for key in ("notes", "provenance")},
        "sha256": str(member(facts, "sha256", where)),
    }


def _lines(value: Any, where: str, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a list of text")
    return tuple(value)


def _table(data: bytes, name: str, path: Path) -> pl.DataFrame:
    try:
        table = pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, OSError) as error:
        why = str(error).partition("\n")[0]
        raise InputError(f"{path}: {name}.parquet: not Parquet that can be read ({why})") from None
    for column in table.iter_columns():
        if column.null_count() and column.name != "release":
            row = column.is_null().arg_max() or 0
            raise InputError(f"{path}: {name}.parquet: {column.name} of row {row + 1} is missing; give each a value")
    return table


def write(workload: Workload, path: Path) -> list[str]:
    """Write all of a workload; there is nothing that it cannot hold."""
    facts = {
        "version": _VERSION,
        "name": workload.name,
        "epoch": workload.epoch,
        "platform": workload.platform,
        "records": workload.records,
        "dropped": workload.dropped,
        "notes": workload.notes,
        "provenance": workload.provenance,
        "sha256": workload.sha256,
    }
    whole_file = io.BytesIO()
    with zipfile.ZipFile(whole_file, "w") as file:
        file.writestr(zipfile.ZipInfo(_FACTS, _DATE), json.dumps(facts, ensure_ascii=False, indent=2) + "\n")
        for name in _TABLES:
            table: pl.DataFrame | None = getattr(workload, name)
            if table is not None:
                data = io.BytesIO()
                table.write_parquet(data)
                file.writestr(zipfile.ZipInfo(f"{name}.parquet", _DATE), data.getvalue())
    _source.save(path, whole_file.getvalue())
    return []
