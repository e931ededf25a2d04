"""The text of a `sacct` listing as rows: one delimiter, a header that names the columns, a line number for each row."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forebay.errors import InputError
from forebay.workload import _source

_ARRIVAL = ("Eligible", "Submit")
_LENGTH = ("ElapsedRaw", "Elapsed", "End")
_SIZE = ("NNodes", "AllocNodes", "ReqNodes", "AllocTRES", "ReqTRES", "NCPUS", "AllocCPUS", "ReqCPUS")

KNOWN = (
    *("JobID", "JobIDRaw", "Start", "State", "Timelimit", "TimelimitRaw", "ReqMem", "Priority"),
    *("UID", "User", "GID", "Group", "Account", "Partition", "QOS"),
    *_ARRIVAL,
    *_LENGTH,
    *_SIZE,
)
"""Columns that are read; case does not matter."""

_HOW = "list jobs with `sacct -P`, or as CSV with a header"


@dataclass(slots=True)
class Row:
    """One line's values by column name; "" where the file has no such column."""

    where: str  # for messages
    values: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.values.get(column, "")


def is_header(line: str) -> bool:
    """Whether a first line looks like that of sacct: it names JobID, by whatever delimiter."""
    return bool(re.search(r"\bJobID(Raw)?\b", line, re.IGNORECASE)) and not line.lstrip().startswith((";", "{"))


def rows(source: _source.Source) -> tuple[set[str], Iterator[Row]]:
    """The known columns that the file has, and its rows."""
    path = source.path
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: not text in UTF-8; {_HOW}") from None
    if not text.strip():
        raise InputError(f"{path}: is empty; {_HOW}")
    delimiter = _delimiter(re.split(r"[\r\n]", text, maxsplit=1)[0], path)
    lines = io.StringIO(text, newline="")
    if delimiter == "|":  # sacct never quotes, and names of jobs may hold a lone quote
        table = csv.reader(lines, delimiter="|", quoting=csv.QUOTE_NONE)
    else:
        table = csv.reader(lines, strict=True)
    try:
        header = _header(next(table), path)
    except csv.Error as error:
        raise InputError(f"{path}: line 1: cannot be read ({error}); is a quote too many, or missing?") from None
    return set(header) - {""}, _body(table, header, path)


def _delimiter(first: str, path: Path) -> str:
    for delimiter in "|,":
        if delimiter in first:
            return delimiter
    if not is_header(first):
        raise InputError(f"{path}: line 1: is no header that names JobID; {_HOW}")
    seen = next((f", but by {character!r}" for character in ";\t:^ " if character in first.strip()), "")
    raise InputError(f"{path}: line 1: columns are not divided by '|' or ','{seen}; {_HOW}")


def _header(words: list[str], path: Path) -> list[str]:
    """Column names as `KNOWN` spells them, "" for others; complete enough, or a message that says what is missing."""
    spelling = {name.lower(): name for name in KNOWN}
    header = [spelling.get(word.strip().lower(), "") for word in words]
    for name in header:
        if name and header.count(name) > 1:
            raise InputError(f"{path}: line 1: the column {name} occurs twice; keep one")
    missing = []
    if not {"JobID", "JobIDRaw"} & set(header):
        missing.append("JobID")
    if not set(_ARRIVAL) & set(header):
        missing.append("Submit (or Eligible)")
    if not {"ElapsedRaw", "Elapsed"} & set(header) and not {"Start", "End"} <= set(header):
        missing.append("ElapsedRaw (or Elapsed, or Start and End)")
    if not set(_SIZE) & set(header):
        missing.append("NNodes (or AllocTRES, ReqTRES, NCPUS)")
    if missing:
        raise InputError(f"{path}: line 1: no column {', '.join(missing)}; add it to `sacct -P --format=...`")
    return header


def _body(table: Iterator[list[str]], header: list[str], path: Path) -> Iterator[Row]:
    line = 1
    try:
        for words in table:
            line = table.line_num  # type: ignore[attr-defined]
            if not any(word.strip() for word in words):
                continue
            where = f"{path}: line {line}"
            if len(words) != len(header):
                why = "is the file cut short?" if len(words) < len(header) else "does a value hold the delimiter?"
                raise InputError(f"{where}: {len(words)} fields, and the header names {len(header)}; {why}")
            yield Row(where, {name: word.strip() for name, word in zip(header, words, strict=True) if name})
    except csv.Error as error:
        raise InputError(f"{path}: line {line + 1}: cannot be read ({error}); is the file whole?") from None
