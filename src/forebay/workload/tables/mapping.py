"""Which column of a table is what: `submit=created,walltime=limit:min`, a TOML file, or the name of a known one."""

import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from forebay._support.reading import read_toml
from forebay.core.units import parse_bytes
from forebay.errors import InputError, brief, listed, nearest

MOMENTS = ("submit", "eligible", "start", "end")
LENGTHS = ("run_time", "walltime", "wait")
COUNTS = ("nodes", "cores", "gpus")
SIZES = ("memory", "burst_buffer")
WORDS = ("user", "group", "queue", "account", "qos", "gpu", "features")
FIELDS = (*("id", "priority"), *MOMENTS, *LENGTHS, *COUNTS, *SIZES, *WORDS)
"""What columns can be."""

_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_PARTS = {"1": 1.0, "milli": 1e-3, "percent": 1e-2}
_EACH = ("job", "node", "core")
_KEYS = ("column", "value", "unit", "each")
_KNOWN = Path(__file__).with_name("known")
_EXAMPLE = "--columns submit=SubmitTime,run_time=Elapsed:min,nodes=Nodes"


@dataclass(frozen=True)
class Column:
    """Where a field comes from: a column of the table, or one value for all jobs."""

    column: str = ""
    value: int | None = None
    unit: str = ""
    each: str = "job"  # of what an amount is

    @property
    def text(self) -> str:
        """As a mapping in TOML has it."""
        first: tuple[str, str | int] = ("column", self.column) if self.value is None else ("value", self.value)
        pairs = [first]
        pairs += [("unit", self.unit)] if self.unit else []
        pairs += [("each", self.each)] if self.each != "job" else []
        if len(pairs) == 1 and self.value is None:
            return _quoted(self.column)
        return "{ " + ", ".join(f"{key} = {_quoted(one)}" for key, one in pairs) + " }"


@dataclass(frozen=True)
class Mapping:
    """Fields of jobs by the columns of a table."""

    where: str  # for messages
    columns: AnyMapping[str, Column] = field(default_factory=dict)
    zone: str = ""  # of dates that name none; empty is UTC
    header: tuple[str, ...] = ()  # names of the columns, where the table has none

    def toml(self) -> str:
        """As a file."""
        head = [f"zone = {_quoted(self.zone)}", ""] if self.zone else []
        head += [f"header = [{', '.join(map(_quoted, self.header))}]", ""] if self.header else []
        return "\n".join([*head, "[columns]", *(f"{name} = {one.text}" for name, one in self.columns.items()), ""])


def _quoted(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    escaped = re.sub(r'(["\\])', r"\\\1", value)
    return f'"{escaped}"'


def names() -> list[str]:
    """Mappings that come with forebay."""
    return sorted(path.stem for path in _KNOWN.glob("*.toml"))


def mapping(given: str | PathLike[str] | AnyMapping[str, Any]) -> Mapping:
    """A mapping of what a user gave: a name, a file, words, or a dictionary of them."""
    if isinstance(given, AnyMapping):
        return _checked("columns", {"columns": dict(given)})
    text = str(given)
    if text.lower().endswith(".toml"):
        return _load(Path(text))
    if "=" in text:
        pairs = [pair.partition("=") for pair in text.split(",")]
        fields = [name.strip() for name, _, _ in pairs]
        twice = [name for name in fields if fields.count(name) > 1]
        if twice:
            raise InputError(f"--columns gives {twice[0]} twice; keep one")
        return _checked("--columns", {"columns": {name.strip(): one.strip() for name, _, one in pairs}})
    if text in names():
        return replace(_load(_KNOWN / f"{text}.toml"), where=text)
    raise InputError(f"--columns {brief(text)}: {nearest(text, names())}; or a .toml file, or pairs: {_EXAMPLE}")


def _load(path: Path) -> Mapping:
    try:
        found = read_toml(path, 'submit = "SubmitTime"')
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    unknown = [key for key in found if key not in ("columns", "zone", "header", "name", "source")]
    if unknown:
        raise InputError(f"{path}: no key {brief(unknown[0])} in a mapping; {nearest(unknown[0], ('columns', 'zone'))}")
    return _checked(str(path), found)


def _checked(where: str, given: dict[str, Any]) -> Mapping:
    columns, zone, header = given.get("columns"), given.get("zone", ""), given.get("header", [])
    if not isinstance(header, list) or not all(isinstance(name, str) for name in header):
        raise InputError(f"{where}: header is {brief(header)}; write a list of the names of columns")
    if not isinstance(columns, dict) or not columns:
        raise InputError(f"{where}: has no columns; write such as {_EXAMPLE}")
    if not isinstance(zone, str) or (zone and not _is_zone(zone)):
        raise InputError(f"{where}: zone is {brief(zone)}; write one such as Europe/Rome, or UTC")
    made = Mapping(where, {name: _column(where, name, one) for name, one in columns.items()}, zone, tuple(header))
    have = set(made.columns)
    missing = [] if have & {"submit", "eligible"} else ["submit"]
    if "run_time" not in have and not ("end" in have and have & {"start", "wait"}):
        missing.append("run_time (or start and end)")
    missing += [] if "nodes" in have else ["nodes (nodes=1, where jobs have one each)"]
    if missing:
        raise InputError(f"{where}: no column is {', nor '.join(missing)}; fields are {listed(FIELDS)}")
    if {"start", "wait"} <= have:
        raise InputError(f"{where}: start and wait contradict each other where they differ; keep one")
    return made


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True


def _column(where: str, name: str, given: Any) -> Column:
    if name not in FIELDS:
        raise InputError(f"{where}: no field {brief(name)}; {nearest(name, FIELDS)}")
    if isinstance(given, str):
        column, colon, unit = given.rpartition(":")
        given = {"column": column, "unit": unit} if colon and _fits(name, unit) else {"column": given}
        if given["column"].isdecimal() and name in COUNTS:
            given = {"value": int(given["column"])}
    elif isinstance(given, int) and not isinstance(given, bool):
        given = {"value": given}
    if not isinstance(given, dict) or set(given) - set(_KEYS) or ("column" in given) == ("value" in given):
        raise InputError(f'{where}: {name} is {brief(given)}; write a column, or {{ column = "...", unit = "..." }}')
    unit, each = given.get("unit", ""), given.get("each", "job")
    if unit and not _fits(name, unit):
        raise InputError(f"{where}: {name} cannot be in {brief(unit)}; units there: {_units(name)}")
    if each not in _EACH or (each != "job" and name not in (*COUNTS[1:], *SIZES)):
        raise InputError(f"{where}: {name} cannot be for each {brief(each)}; cores, gpus and memory can, for each node")
    value = given.get("value")
    if value is not None and (not isinstance(value, int) or name not in COUNTS or value < 0):
        raise InputError(
            f"{where}: {name} cannot be {brief(value)} for all jobs; nodes, cores and gpus can be a number"
        )
    return Column(str(given.get("column", "")), value, unit, each)


def _units(name: str) -> str:
    if name in (*MOMENTS, *LENGTHS):
        return ", ".join(_TIMES)
    if name in COUNTS:
        return ", ".join(_PARTS)
    return "B, kB, MB, MiB, GB, GiB, ..." if name in SIZES else "none"


def _fits(name: str, unit: str) -> bool:
    try:
        factor(name, unit)
    except (KeyError, InputError):
        return False
    return name in (*MOMENTS, *LENGTHS, *COUNTS, *SIZES)


def factor(name: str, unit: str) -> float:
    """What one of a unit is, in seconds, pieces or bytes."""
    if name in (*MOMENTS, *LENGTHS):
        return _TIMES[unit or "s"]
    return _PARTS[unit or "1"] if name in COUNTS else float(parse_bytes(f"1 {unit or 'B'}"))
