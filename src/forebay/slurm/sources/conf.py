"""slurm.conf as lines of values: comments, continued lines, quotes, included files, DEFAULT lines, keys in any case."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from forebay.errors import InputError, brief
from forebay.slurm.sources import keys
from forebay.slurm.sources.record import Kind, Record, Source
from forebay.slurm.sources.text import load

MOST_FILES = 100
"""That include one another: more are a slip."""

_PAIR = re.compile(r"""\s*([\w.]+)\s*[-+*/]?=[^\S\n]*(?:"([^"]*)"|(\S+)|(?=\s|$))""", re.ASCII)
_INCLUDE = re.compile(r"\s*include\s+(\S.*?)\s*", re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\\)#.*")
_LISTED = {
    "nodename": Kind.NODE,
    "partitionname": Kind.PARTITION,
    "nodeset": Kind.NODESET,
    "downnodes": Kind.DOWN,
}
_OTHER = frozenset({"frontendname", "slurmctldhost", "controlmachine", "switchname", "blockname"})
"""Beginnings of lines whose further words mean nothing to a schedule."""


@dataclass
class _Reading:
    """What is known on the way through a file and those that it includes."""

    source: Source = field(default_factory=Source)
    files: list[Path] = field(default_factory=list)
    defaults: dict[Kind, dict[str, str]] = field(default_factory=dict)
    cluster: str = ""
    unknown: list[str] = field(default_factory=list)


def read(path: Path) -> Source:
    """All that a slurm.conf says, with the files that it includes."""
    reading = _Reading()
    _read(path, (path.resolve(),), reading)
    for word in dict.fromkeys(reading.unknown):
        text = f"is no key of slurm.conf: {keys.meant(word, keys.ALL)}"
        if word.lower() in keys.ALL:  # the line's own key may be misspelt: that is reported, too
            text = "does not belong into its line: passed over"
        reading.source.notes.append(f"{path.name}: {brief(word)} {text}")
    return reading.source


def _read(path: Path, within: tuple[Path, ...], reading: _Reading) -> None:
    reading.files.append(path)
    if len(reading.files) > MOST_FILES:
        raise InputError(f"{path}: over {MOST_FILES} files are included; do they include one another?")
    for number, line in _lines(load(path)):
        where = f"{path}:{number}"
        included = _INCLUDE.fullmatch(line)
        if included and "=" not in included[1].partition(" ")[0]:
            inner = _find(included[1].strip('"'), path, where, reading.cluster)
            if inner.resolve() in within:
                raise InputError(f"{where}: includes {inner.name}, which includes this file; take one of the two out")
            _read(inner, (*within, inner.resolve()), reading)
        else:
            _take(line, where, reading)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with something on them, by the number of their first, continued ones put together."""
    begin, whole = 0, ""
    for number, written in enumerate(text.split("\n"), 1):
        begin = begin if whole else number
        line = _COMMENT.sub("", written).rstrip()
        if line.endswith("\\"):
            whole = _joined(whole, line[:-1])
            continue
        if (whole + line).strip():
            yield begin, _joined(whole, line).replace("\\#", "#")
        whole = ""
    if whole.strip():
        yield begin, whole


def _joined(before: str, line: str) -> str:
    """A continued line. Slurm puts nothing between the two; a list that goes on may be indented here."""
    return before + (line.lstrip() if before.endswith(",") else line)


def _find(name: str, path: Path, where: str, cluster: str) -> Path:
    """An included file: where it is said to be, relative to the one that names it, else beside that one."""
    if "%c" in name and not cluster:
        raise InputError(f"{where}: includes {brief(name)}, and no ClusterName stands before it; write the file's name")
    name = name.replace("%c", cluster)
    try:
        for place in (path.parent / name, path.parent / Path(name).name):
            if place.is_file():
                return place
    except (OSError, ValueError):  # too long, or with a zero byte
        pass
    raise InputError(f"{where}: includes {brief(name)}, which is not there; copy it beside {path.name}")


def _take(line: str, where: str, reading: _Reading) -> None:
    """One line of a file."""
    pairs = _pairs(line, where)
    first, name = pairs[0]
    kind = _LISTED.get(first.lower())
    if kind is not None:
        _take_listed(kind, name, pairs[1:], where, reading)
    elif first.lower() not in _OTHER:
        for key, value in pairs:
            if key.lower() not in keys.SETTINGS:
                reading.unknown.append(key)
            if key.lower() == "clustername":
                reading.cluster = value
            reading.source.records.append(Record(Kind.SETTING, {key.lower(): value}, where))


def _pairs(line: str, where: str) -> list[tuple[str, str]]:
    found, place = [], 0
    while line[place:].strip():
        match = _PAIR.match(line, place)
        if not match:
            raise InputError(
                f"{where}: {brief(line[place:].strip())} is not Key=Value; correct the line, or put # before"
            )
        key, quoted, bare = match.groups()
        found.append((key, quoted if quoted is not None else bare or ""))
        place = match.end()
    return found


def _take_listed(kind: Kind, name: str, pairs: list[tuple[str, str]], where: str, reading: _Reading) -> None:
    """A line of nodes or of a partition. `DEFAULT` sets what later lines do not say."""
    known = keys.OF[kind]
    reading.unknown += [key for key, _ in pairs if key.lower() not in known]
    values = {key.lower(): value for key, value in pairs}
    defaults = reading.defaults.setdefault(kind, {})
    if name.upper() == "DEFAULT":
        defaults.update(values)
    elif not name:
        raise InputError(f"{where}: the {kind} has no name; write one after =")
    else:
        reading.source.records.append(Record(kind, {**defaults, **values, "name": name}, where))
