"""The text of a `sacct` listing as blocks of columns: one delimiter, a header that names them, a line number a row."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from forebay.errors import InputError
from forebay.workload import _source
from forebay.workload.formats._sacct_depends import SINGLETON
from forebay.workload.formats._sacct_mend import Mender

_ARRIVAL = ("Eligible", "Submit")
_SQUEUE = re.compile(r"\bJOBID\b.*(?:\bNODELIST\(REASON\)|\b(?:TIME_LIMIT|SUBMIT_TIME|START_TIME)\b)")
_LENGTH = ("ElapsedRaw", "Elapsed", "End")
_SIZE = ("NNodes", "AllocNodes", "ReqNodes", "AllocTRES", "ReqTRES", "NCPUS", "AllocCPUS", "ReqCPUS")

KNOWN = (
    *("JobID", "JobIDRaw", "Start", "State", "Timelimit", "TimelimitRaw", "ReqMem", "Priority"),
    *("UID", "User", "GID", "Group", "Account", "Partition", "QOS", "Constraints", "OverSubscribe", "SubmitLine"),
    *("Reason", "Dependency", "JobName", "Cluster"),
    *_ARRIVAL,
    *_LENGTH,
    *_SIZE,
)
"""Columns that are read; case does not matter."""

_HOW = "list jobs with `sacct -P`, or as CSV with a header"
_BLOCK = 1 << 23  # bytes taken at a time: bounds the memory of words, which is a multiple of the text's
_LONGEST_ID = 1000  # bytes
_ROWS = 20_000  # the same, where rows are read one by one
_JOB = r"\d+(_\d+|_\[[^|,]*\]|\+\d+)?(\.\w+)?"
_HEADLESS = re.compile(_JOB + r"(([|;\t^~])([^|;\t^~]*\4){3,}.*|(,[^,]*){2,},\d{4}-\d\d-\d\dT\d\d:.*)")


@dataclass
class Block:
    """Some rows' words by column, and `line`, where each stands; and lines that are no row, with the reason."""

    table: pl.DataFrame
    wrong: list[tuple[int, str]] = field(default_factory=list)
    done: int = 0  # bytes of the file read so far
    mended: list[int] = field(default_factory=list)  # lines at which rows begin that were put together


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
        raise InputError(f"{path}: line 1: not text in UTF-8; decompress the file, or write it in UTF-8") from None
    _refuse_remarks(first, data, path)
    delimiter = _delimiter(first, path)
    if '"' in first or (delimiter != "|" and re.search(b'[\n%s]"' % re.escape(delimiter.encode()), data)):
        return _quoted(data, path, delimiter)
    names = first.split(delimiter)
    header = _header(names, path)
    unread = {""} if SINGLETON.encode() in data else {"", "JobName"}  # only such dependencies go by names
    mender = Mender(delimiter, names, (k for k, name in enumerate(header) if name not in unread))
    return Listing(set(header) - {""}, _plain(data, len(first.encode()) + 1, delimiter, header, mender))


def _refuse_remarks(first: str, data: bytes, path: Path) -> None:
    """Say where the header is, if something else stands before it, such as what sacct writes to stderr."""
    if is_header(first) or is_headless(first):
        return
    for number, line in enumerate(data[:_LONGEST_ID].decode(errors="replace").split("\n")[1:], 2):
        if is_header(line):
            raise InputError(f"{path}: line 1: is not the header, which is line {number}; remove what stands before it")


def _delimiter(first: str, path: Path) -> str:
    """The character between the names of the header: that by which most of them are known names."""
    if is_headless(first):
        raise InputError(f"{path}: line 1: is a job, not the names of the columns; list again without -n (--noheader)")
    if _SQUEUE.search(first):
        cure = "read what `scontrol show job` prints, or list with sacct"
        raise InputError(f"{path}: line 1: is the header of squeue, which does not tell how long jobs ran; {cure}")
    if not is_header(first) and not set(first) & set("|,"):
        raise InputError(f"{path}: line 1: is no header that names JobID; {_HOW}")
    known = {name.lower() for name in KNOWN}
    counts = {
        one: sum(word.strip(' \t"').lower() in known for word in first.split(one))
        for one in "|," + "".join(sorted(set(re.findall(r'[^\w"]', first.strip()))))
    }
    delimiter = max(counts, key=counts.__getitem__)
    if delimiter == " " and "  " in first.strip():
        raise InputError(f"{path}: line 1: columns are padded with blanks, and what is long is cut; list with sacct -P")
    return delimiter


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


def _plain(data: bytes, begin: int, delimiter: str, header: list[str], mender: Mender) -> Iterator[Block]:
    """Rows without quotes: sacct never quotes, and names of jobs may hold a lone quote."""
    line, blank = 2, rf"[^\s{re.escape(delimiter)}]"
    starts = re.compile(mender.begin.encode()) if mender.begin else None
    while begin < len(data):
        end = data.find(b"\n", begin + _BLOCK) + 1 or len(data)
        while starts is not None and end < len(data) and not starts.match(data[end : end + _LONGEST_ID]):
            end = data.find(b"\n", end) + 1 or len(data)  # what begins in this block ends in it
        # A name that Slurm cut within a letter is no text in UTF-8: its bytes are kept as \\xc3, so that names differ.
        lines = data[begin:end].removesuffix(b"\n").decode(errors="backslashreplace").split("\n")
        wrong: list[tuple[int, str]] = []
        text = pl.DataFrame({"line": pl.arange(line, line + len(lines), eager=True), "text": pl.Series(lines)})
        line += len(lines)
        # Listings that were joined repeat their header.
        text = text.filter(pl.col("text").str.contains(blank) & (pl.col("text") != mender.header))
        text = text.with_columns(fields=pl.col("text").str.count_matches(delimiter, literal=True) + 1)
        right = pl.col("fields") == len(header)
        within = ~pl.col("text").str.contains(mender.begin or "^")  # a row does not begin there
        odd = text.select(odd=~right | within | (~right & within).shift(-1, fill_value=False))["odd"]
        rows, mended = _mended(text.filter(odd), mender, len(header), wrong)
        words = text.filter(~odd).select(
            "line", pl.col("text").str.split_exact(delimiter, len(header) - 1).struct.rename_fields(_numbered(header))
        )
        known = [pl.col(f"{k}").str.strip_chars().alias(name) for k, name in enumerate(header) if name]
        table = words.unnest("text").select("line", *known)
        if rows:
            table = pl.concat([table, _columns(rows, [number for number, _ in mended], header)]).sort("line")
        yield Block(table, sorted(wrong), end, [number for number, is_new in mended if is_new])
        begin = end


def _mended(
    text: pl.DataFrame, mender: Mender, wanted: int, wrong: list[tuple[int, str]]
) -> tuple[list[list[str]], list[tuple[int, bool]]]:
    """Rows of lines that have not one field for each column, and where each begins and whether it was put together."""
    records: list[list[tuple[int, str, int]]] = []
    begin = re.compile(mender.begin)
    for one in text.select("line", "text", "fields").iter_rows():
        # A line may have the right number of fields by chance, if the row before it wants some.
        short = bool(records) and sum(fields - 1 for _, _, fields in records[-1]) + 1 < wanted
        if records and (short or one[2] != wanted) and not begin.match(one[1]):
            records[-1].append(one)
        else:
            records.append([one])
    rows, places = [], []
    for record in records:
        words = mender.mend("\n".join(line for _, line, _ in record))
        if words is not None:
            rows.append(words)
            places.append((record[0][0], len(record) > 1 or record[0][2] != wanted))
            continue
        for number, line, fields in record:
            if fields == wanted:
                rows.append(line.split(mender.delimiter))
                places.append((number, False))
            else:
                wrong.append((number, _miscounted(fields, wanted, mender.free)))
    return rows, places


def _numbered(header: list[str]) -> list[str]:
    return [str(k) for k in range(len(header))]


def _miscounted(fields: int, wanted: int, free: Iterable[str] = ()) -> str:
    why = "is the file cut short?" if fields < wanted else "does a value hold the delimiter?"
    cure = f" List again without {' and '.join(free)}, or with another --delimiter" if free else ""
    return f"{fields} fields, and the header names {wanted}; {why}{cure}"


def _quoted(data: bytes, path: Path, delimiter: str) -> Listing:
    """CSV with quotes, in which a value may hold the delimiter or the end of a line."""
    text = data.decode(errors="backslashreplace")
    table = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    try:
        names = next(table)
        header = _header(names, path)
    except csv.Error as error:
        raise InputError(f"{path}: line 1: cannot be read ({error}); is a quote too many, or missing?") from None
    return Listing(set(header) - {""}, _csv_blocks(table, names, header, path, len(data)))


def _csv_blocks(
    table: Iterator[list[str]], names: list[str], header: list[str], path: Path, size: int
) -> Iterator[Block]:
    line, rows, lines, wrong = 1, [], [], []
    try:
        for words in table:
            line = table.line_num  # type: ignore[attr-defined]
            if words == names or not any(word.strip() for word in words):
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
