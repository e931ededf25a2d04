"""Traces of nodes that are down: CSV with the columns node, down and up, or Batsim's external events as JSON."""

import csv
import hashlib
import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forebay._support.input_limits import LONGEST
from forebay._support.reading import read_bytes
from forebay._support.text import counted, plain
from forebay.core.failures import Outages
from forebay.core.units import parse_seconds
from forebay.errors import InputError, brief, listed

COLUMNS = ("node", "down", "up")
MOST = 5_000_000
"""Outages of Batsim's events: a line may name any number of nodes, and a small file would take all memory."""

_A_TIME = f"a time from 0 up, in seconds, {LONGEST:g} at most"
_LEAVES, _RETURNS = "machine_unavailable", "machine_available"
_INTERVAL = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", re.ASCII)

Row = tuple[int, float, float]
"""Node, down, up."""


def read(path: Path) -> Outages:
    """The outages in a file, by the time at which they begin; its first character tells the format."""
    raw = _bytes(path)
    text = _text(raw, path)
    if not text.strip():
        raise InputError(
            f"{path}: is empty; write a header node,down,up, then a line for each time that a node is down"
        )
    events = text.lstrip().startswith(("{", "["))
    rows = list(_batsim(text, path) if events else _csv(text, path))
    if not rows:
        raise InputError(f"{path}: no node is ever down in it; add an outage, or leave the trace out")
    node, down, up = zip(*rows, strict=True)
    name = plain(os.fsencode(path.name).decode("utf-8", "replace"))
    digest = hashlib.sha256(raw).hexdigest()
    return Outages(name, digest, np.array(node, np.int64), np.array(down, np.float64), np.array(up, np.float64))


def _bytes(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except FileNotFoundError:
        hint = "check the path, or write failures as key=value, such as mtbf=1h"
        raise InputError(f"{path}: no such file; {hint}") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; name a trace inside it") from None
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({why}); check the path and its permissions") from None


def _text(raw: bytes, path: Path) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}: line {line}: not text in UTF-8; a trace is CSV, or JSON of Batsim's events"
        ) from None


def _csv(text: str, path: Path) -> Iterator[Row]:
    lines = csv.reader(text.splitlines(), skipinitialspace=True)
    filled = _filled(lines, path)
    header = next(filled)
    places = _places(header, f"{path}: line {lines.line_num}")
    last, before = 0, -math.inf  # the line read before, and when its node went down
    for words in filled:
        where = f"{path}: line {lines.line_num}"
        if len(words) != len(header):
            found = counted(len(words), "field")
            raise InputError(f"{where}: {found}, and the header names {len(header)}; add what is missing")
        row = _row([words[k].strip() for k in places], where)
        if row[1] < before:
            raise InputError(
                f"{where}: down is {row[1]:.10g}, before the {before:.10g} of line {last}; sort the lines by down"
            )
        last, before = lines.line_num, row[1]
        yield row


def _filled(lines: Any, path: Path) -> Iterator[list[str]]:
    """Lines of CSV that are not blank, in their fields."""
    try:
        yield from (words for words in lines if words not in ([], [""]))
    except csv.Error as error:
        raise InputError(f"{path}: line {lines.line_num}: not CSV ({error}); write node,down,up") from None


def _places(header: list[str], where: str) -> list[int]:
    """In which fields the three columns are."""
    names = [word.strip() for word in header]
    for name in COLUMNS:
        if names.count(name) != 1:
            wrong = "is there twice; keep one" if name in names else "is missing; begin the file with node,down,up"
            raise InputError(f"{where}: the column {name} {wrong} (columns: {listed(names, 10)})")
    return [names.index(name) for name in COLUMNS]


def _row(fields: list[str], where: str) -> Row:
    node, down, up = fields
    if not re.fullmatch(r"[0-9]{1,18}", node, re.ASCII):
        raise InputError(f"{where}: node is {brief(node)}; it must be the number of a node, from 0 up")
    begin = _time(down, where, "down")
    end = _time(up, where, "up") if up else math.inf
    if end <= begin:
        raise InputError(
            f"{where}: up is {end:.10g}, not after down, {begin:.10g}; correct it, or leave it empty if the node never "
            "comes back"
        )
    return int(node), begin, end


def _time(text: str, where: str, name: str) -> float:
    try:
        time = parse_seconds(text)
    except InputError:
        time = math.inf
    if time > LONGEST:
        never = ", or empty if the node never comes back" if name == "up" else ""
        raise InputError(f"{where}: {name} is {brief(text)}; it must be {_A_TIME}{never}")
    return time


class _Event(NamedTuple):
    """Nodes that leave or come back."""

    time: float
    leave: bool
    nodes: list[range]
    where: str


def _batsim(text: str, path: Path) -> list[Row]:
    """Outages of events: a node is down from the first that takes it away to the next that brings it back.

    Batsim puts events in order of time, so a file need not have them so.
    """
    gone: dict[int, float] = {}
    rows: list[Row] = []
    for event in sorted(_events(text, path), key=lambda event: event.time):
        if len(rows) + len(gone) + sum(map(len, event.nodes)) > MOST:
            raise InputError(f"{event.where}: more than {MOST:,} outages; name fewer nodes, or cut the trace")
        for node in chain(*event.nodes):
            if event.leave:
                gone.setdefault(node, event.time)
            else:
                rows.append((node, _since(gone, node, event), event.time))
    rows += [(node, down, math.inf) for node, down in gone.items()]
    return sorted(rows, key=lambda row: (row[1], row[0]))


def _since(gone: dict[int, float], node: int, event: _Event) -> float:
    """When a node that comes back went down; it is no longer gone."""
    if node not in gone:
        raise InputError(
            f"{event.where}: node {node} becomes available, but was not unavailable; add a {_LEAVES} before, or leave "
            "the node out"
        )
    if gone[node] == event.time:
        raise InputError(
            f"{event.where}: node {node} becomes available in the instant in which it became unavailable; leave out "
            "both events, or correct a timestamp"
        )
    return gone.pop(node)


def _events(text: str, path: Path) -> Iterator[_Event]:
    for entry, where in _entries(text, path):
        time, event = entry.get("timestamp"), _inner(entry)
        if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time <= LONGEST:
            raise InputError(f"{where}: 'timestamp' is {brief(time)}; it must be {_A_TIME}")
        kind = event.get("type")
        if kind not in (_LEAVES, _RETURNS):
            raise InputError(
                f"{where}: 'type' is {brief(kind)}; it must be {_LEAVES} or {_RETURNS}: leave out all other events"
            )
        yield _Event(float(time), kind == _LEAVES, _nodes(event.get("resources"), where), where)


def _entries(text: str, path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Every event with its place: one a line, or all in one list."""
    if text.lstrip().startswith("["):
        found = _json(text, str(path))
        places = [(entry, f"{path}: event {k}") for k, entry in enumerate(found, 1)]
    else:
        lines = ((f"{path}: line {k}", line) for k, line in enumerate(text.split("\n"), 1) if line.strip())
        places = [(_json(line, where), where) for where, line in lines]
    for entry, where in places:
        if not isinstance(entry, dict):
            raise InputError(f"{where}: {brief(entry)} is no event; write an object with timestamp, type and resources")
        yield entry, where


def _inner(entry: dict[str, Any]) -> dict[str, Any]:
    """The event that a generic one of Batsim 5 wraps as text; any other as it is."""
    data = entry.get("data")
    if entry.get("type") == "generic" and isinstance(data, str):
        with suppress(ValueError, RecursionError):  # text of any other kind is no event of ours
            found = json.loads(data)
            return found if isinstance(found, dict) else entry
    return entry


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "too deep, or a number too long"
        raise InputError(f"{where}: not JSON ({why}); write one event a line, or all of them in one list") from None


def _nodes(resources: Any, where: str) -> list[range]:
    """The nodes of Batsim's interval set, `0-3 7`, each once."""
    parts = resources.split() if isinstance(resources, str) else []
    found = [_INTERVAL.fullmatch(part) for part in parts]
    ranges = sorted((int(one[1]), int(one[2] or one[1])) for one in found if one)
    if not ranges or len(ranges) < len(parts) or any(low > high for low, high in ranges):
        raise InputError(f"{where}: 'resources' is {brief(resources)}; it must name nodes, such as \"0-3 7\"")
    nodes, begin = [], 0
    for low, high in ranges:
        nodes.append(range(max(low, begin), high + 1))
        begin = max(begin, high + 1)
    return nodes
