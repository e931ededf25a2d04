"""The text of a `sacct` listing as blocks of columns: one delimiter, a header that names them, a line number a row."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from forebay.errors import InputError
from forebay.workload import _source

_ARRIVAL = ("Eligible", "Submit")
_LENGTH = ("ElapsedRaw", "Elapsed", "End")
_SIZE = ("NNodes", "AllocNodes", "ReqNodes", "AllocTRES", "ReqTRES", "NCPUS", "AllocCPUS", "ReqCPUS")

KNOWN = (
    *("JobID", "JobIDRaw", "Start", "State", "Timelimit", "TimelimitRaw", "ReqMem", "Priority"),
    *("UID", "User", "GID", "Group", "Account", "Partition", "QOS", "Constraints", "OverSubscribe", "SubmitLine"),
    *("Dependency", "JobName"),
    *_ARRIVAL,
    *_LENGTH,
    *_SIZE,
)
"""Columns that are read; case does not matter."""

_HOW = "list jobs with `sacct -P`, or as CSV with a header"
_BLOCK = 1 << 23  # bytes taken at a time: bounds the memory of words, which is a multiple of the text's
_ROWS = 20_000  # the same, where rows are read one by one
_JOB = r"\d+(_\d+|_\[[^|,]*\]|\+\d+)?(\.\w+)?"
_HEADLESS = re.compile(_JOB + r"((\|[^|]*){4,}|(,[^,]*){2,},\d{4}-\d\d-\d\dT\d\d:.*)")


@dataclass
class Block:
    """Some rows' words by column, and `line`, where each stands; and lines that are no row, with the reason."""

    table: pl.DataFrame
    wrong: list[tuple[int, str]] = field(default_factory=list)
    done: int = 0  # bytes of the file read so far


@dataclass
class Listing:
    """What a file lists."""

    columns: set[str]  # the known ones that it has
    blocks: Iterator[Block]
    unit: str = "line"  # of the numbers in `Block.line`


def is_header(line: str) -> bool:
    """Whether a first line looks like that of sacct: it names JobID, by whatever delimiter."""
    return bool(re.search(r"\bJobID(Raw)?\b", line, re.IGNORECASE)) and not line.lstrip().startswith((";", "{"))


def is_headless(line: str) -> bool:
    """Whether a first line looks like a job of `sacct -n -P`."""
    return bool(_HEADLESS.match(line.strip()))


def listing(source: _source.Source) -> Listing:
    """The known columns that the file has, and its rows."""
    path, data = source.path, source.data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data.strip():
        raise InputError(f"{path}: is empty; {_HOW}")
    end = data.find(b"\n")
    try:
        first = data[: len(data) if end < 0 else end].decode()
    except UnicodeDecodeError:
        raise InputError(f"{path}: line 1: not text in UTF-8; {_HOW}") from None
    delimiter = _delimiter(first, path)
    if delimiter == "," and b'"' in data:
        return _quoted(data, path)
    header = _header(first.split(delimiter), path)
    return Listing(set(header) - {""}, _plain(data, len(first.encode()) + 1, delimiter, header))


def _delimiter(first: str, path: Path) -> str:
    if is_headless(first):
        raise InputError(f"{path}: line 1: is a job, not the names of the columns; list again without -n (--noheader)")
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


def _plain(data: bytes, begin: int, delimiter: str, header: list[str]) -> Iterator[Block]:
    """Rows without quotes: sacct never quotes, and names of jobs may hold a lone quote."""
    line = 2
    while begin < len(data):
        end = data.find(b"\n", begin + _BLOCK) + 1 or len(data)
        lines, wrong = _decoded(data[begin:end].removesuffix(b"\n"), line)
        text = pl.DataFrame({"line": pl.arange(line, line + len(lines), eager=True), "text": pl.Series(lines)})
        line += len(lines)
        text = text.filter(pl.col("text").str.contains(rf"[^\s{delimiter}]"))
        text = text.with_columns(fields=pl.col("text").str.count_matches(delimiter, literal=True) + 1)
        for number, fields in text.filter(pl.col("fields") != len(header)).select("line", "fields").iter_rows():
            wrong.append((number, _miscounted(fields, len(header))))
        words = text.filter(pl.col("fields") == len(header)).select(
            "line", pl.col("text").str.split_exact(delimiter, len(header) - 1).struct.rename_fields(_numbered(header))
        )
        known = [pl.col(f"{k}").str.strip_chars().alias(name) for k, name in enumerate(header) if name]
        yield Block(words.unnest("text").select("line", *known), wrong, end)
        begin = end


def _numbered(header: list[str]) -> list[str]:
    return [str(k) for k in range(len(header))]


def _decoded(data: bytes, first: int) -> tuple[list[str], list[tuple[int, str]]]:
    """Lines of text, and those that are none, which are left empty."""
    try:
        return data.decode().split("\n"), []
    except UnicodeDecodeError:
        lines, wrong = [], []
        for k, line in enumerate(data.split(b"\n")):
            try:
                lines.append(line.decode())
            except UnicodeDecodeError:
                lines.append("")
                wrong.append((first + k, f"not text in UTF-8; {_HOW}"))
        return lines, wrong


def _miscounted(fields: int, wanted: int) -> str:
    why = "is the file cut short?" if fields < wanted else "does a value hold the delimiter?"
    return f"{fields} fields, and the header names {wanted}; {why}"


def _quoted(data: bytes, path: Path) -> Listing:
    """CSV with quotes, in which a value may hold a comma or the end of a line."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: not text in UTF-8; {_HOW}") from None
    table = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = _header(next(table), path)
    except csv.Error as error:
        raise InputError(f"{path}: line 1: cannot be read ({error}); is a quote too many, or missing?") from None
    return Listing(set(header) - {""}, _csv_blocks(table, header, path, len(data)))


def _csv_blocks(table: Iterator[list[str]], header: list[str], path: Path, size: int) -> Iterator[Block]:
    line, rows, lines, wrong = 1, [], [], []
    try:
        for words in table:
            line = table.line_num  # type: ignore[attr-defined]
            if not any(word.strip() for word in words):
                continue
            if len(words) != len(header):
                wrong.append((line, _miscounted(len(words), len(header))))
                continue
            rows.append(words)
            lines.append(line)
            if len(rows) == _ROWS:
                yield Block(_columns(rows, lines, header), wrong)
                rows, lines, wrong = [], [], []
    except csv.Error as error:
        yield Block(_columns(rows, lines, header), wrong)
        # What a lone quote swallowed cannot be distinguished from what was quoted: there is no going on behind it.
        raise InputError(f"{path}: line {line + 1}: cannot be read ({error}); is the file whole?") from None
    yield Block(_columns(rows, lines, header), wrong, size)


def _columns(rows: list[list[str]], lines: list[int], header: list[str]) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else ([] for _ in header)
    known = {name: pl.Series(words, dtype=pl.String) for name, words in zip(header, columns, strict=True) if name}
    frame = pl.DataFrame({"line": pl.Series(lines, dtype=pl.Int64), **known})
    return frame.with_columns(pl.col(pl.String).str.strip_chars())
