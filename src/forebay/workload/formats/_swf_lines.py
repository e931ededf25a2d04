"""SWF text to columns: blocks of lines at once where all is well; line by line where not, to name the culprit."""

import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forebay._support.text import counted
from forebay.errors import InputError, brief
from forebay.workload._bad_lines import BadLines

FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
N_FIELDS = len(FIELDS)

_WANTED = (0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 14, 16, 17)  # fields that are used: three quarters of the memory of all
_POOLS = "BurstBuffer"  # the header of further resources, as CQSim's burst-buffer branch writes it
MAX_POOLS = 50
_BLOCK = 1 << 22  # bytes parsed at a time: bounds the index arrays, whose size is a multiple of the text's
_PLAIN = b"0123456789+-.eE \t\n"
_COMMENT = re.compile(rb"(?m)^[ \t]*;(.*)$")
_HEADER = re.compile(r"\s*([A-Za-z]+)\s*:(.*)")
_NAMED = {"User": "user", "Group": "group", "Queue": "queue"}
_NAME = re.compile(r"\s*([0-9]{1,15})\s+(?:(\"(?:[^\"\\]|\\[\"\\bfnrt/]|\\u[0-9a-fA-F]{4})+\")|([^\s\"(]\S*))")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass
class Content:
    """What an SWF file says: header entries, wanted columns by field name, and each record's line number.

    `requests` has a column for each of the `capacities` that a header `BurstBuffer: 5000, 200` lists; `names` has what
    headers `Queue: 1 batch (details)` call queues, and `User` and `Group` likewise.
    """

    header: dict[str, str]
    table: dict[str, NDArray[np.float64]]
    lines: NDArray[np.int64]
    notes: list[str]
    capacities: tuple[int, ...] = ()
    requests: list[NDArray[np.float64]] = field(default_factory=list)
    names: dict[str, dict[int, str]] = field(default_factory=dict)


@dataclass
class _Rows:
    values: NDArray[np.float64]  # a row a record, the wanted fields
    lines: NDArray[np.int64]  # counted from 0 in the block
    widest: int = field(default=N_FIELDS)


def is_number(word: bytes) -> bool:
    """Whether `word` is a plain decimal number; no NaN, no inf, no underscores."""
    return _NUMBER.fullmatch(word) is not None


def parse(data: bytes, path: Path, bad: BadLines) -> Content:
    """The header and records of SWF text."""
    header: dict[str, str] = {}
    names: dict[str, dict[int, str]] = {name: {} for name in _NAMED.values()}
    parts: list[_Rows] = []
    capacities: tuple[int, ...] = ()
    for first_line, block in _blocks(_tidy(data)):
        if b";" in block:
            for comment in _COMMENT.finditer(block):
                entry = _HEADER.match(comment[1].decode("utf-8", "replace"))
                if entry and entry[1] == _POOLS and not parts and not capacities:
                    line = first_line + block.count(b"\n", 0, comment.start())
                    capacities = _capacities(entry[2], f"{path}: line {line}")
                if entry:
                    header.setdefault(entry[1], entry[2].strip())
                if entry and entry[1] in _NAMED and (found := _NAME.match(entry[2])) and (name := _name(found)):
                    names[_NAMED[entry[1]]].setdefault(int(found[1]), name)
            block = _COMMENT.sub(b"", block)  # noqa: PLW2901
        rows = _fast(block, len(capacities)) or _careful(block, first_line, bad, len(capacities))
        rows.lines += first_line
        parts.append(rows)
    n_read = N_FIELDS + len(capacities)
    wanted = [*_WANTED, *range(N_FIELDS, n_read)]
    values = np.concatenate([rows.values for rows in parts]) if parts else np.empty((0, len(wanted)))
    lines = np.concatenate([rows.lines for rows in parts]) if parts else np.empty(0, np.int64)
    extra = max((rows.widest for rows in parts), default=n_read) - n_read
    own = f"SWF's {N_FIELDS}" + (f" and the {len(capacities)} of its {_POOLS} header" if capacities else "")
    notes = [f"{counted(extra, f'column after {own} is', f'columns after {own} are')} not read"] if extra > 0 else []
    table = {FIELDS[f]: values[:, k] for k, f in enumerate(_WANTED)}
    requests = [values[:, len(_WANTED) + k] for k in range(len(capacities))]
    return Content(header, table, lines, notes, capacities, requests, names)


def _name(found: re.Match[str]) -> str:
    """The name in a header: its first word, or all that stands in quotes; "" where that is no text."""
    name: str = json.loads(found[2]) if found[2] else found[3]
    return name if name.strip() and not re.search(r"[\ud800-\udfff]", name) else ""


def _capacities(text: str, where: str) -> tuple[int, ...]:
    """The whole numbers of a header `BurstBuffer: 5000, 200`, one for each resource."""
    words = [word.strip() for word in text.split(",")]
    if len(words) > MAX_POOLS:
        raise InputError(f"{where}: the header {_POOLS} lists {len(words):,} resources; {MAX_POOLS} at most are read")
    for word in words:
        if not re.fullmatch(r"[0-9]{1,15}", word) or not int(word):
            raise InputError(
                f"{where}: the header {_POOLS} lists {brief(word)}; it must list whole capacities above 0: '5000, 200'"
            )
    return tuple(int(word) for word in words)


def _tidy(data: bytes) -> bytes:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Whole lines, about `_BLOCK` bytes at a time, with the number of the first."""
    begin, line = 0, 1
    while begin < len(data):
        end = data.find(b"\n", begin + _BLOCK) + 1 or len(data)
        block = data[begin:end]
        yield line, block
        line += block.count(b"\n")
        begin = end


def _fast(block: bytes, n_requests: int = 0) -> _Rows | None:
    """All records of a block at once; None if anything at all is unusual."""
    if block.translate(None, _PLAIN):
        return None
    text = np.frombuffer(block, np.uint8)
    ink = np.concatenate(([False], text > ord(" ")))
    words = np.flatnonzero(ink[1:] & ~ink[:-1])
    wanted = np.array([*_WANTED, *range(N_FIELDS, N_FIELDS + n_requests)])
    if not len(words):
        return _Rows(np.empty((0, len(wanted))), np.empty(0, np.int64))
    line_ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
    words_upto = np.searchsorted(words, line_ends)
    widths = np.diff(words_upto, prepend=0)
    lines = np.flatnonzero(widths)
    if widths[lines].min() < N_FIELDS + n_requests:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy up to 2.x only warns when it stops before the end
        try:
            values = np.fromstring(block.decode("ascii"), sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    # `1.5.2` and `3-4` are read as two numbers each: the counts then differ.
    if len(values) != len(words) or not np.isfinite(values).all():
        return None
    begins = (words_upto - widths)[lines]
    return _Rows(values[begins[:, None] + wanted], lines, int(widths.max()))


def _careful(block: bytes, first_line: int, bad: BadLines, n_requests: int = 0) -> _Rows:
    """The same a line at a time, with a message for each line that cannot be read."""
    n_read = N_FIELDS + n_requests
    values, lines, widest = [], [], N_FIELDS
    for k, line in enumerate(block.split(b"\n")):
        words = line.split()
        if not words:
            continue
        try:
            values.append(_numbers(line, words, n_requests))
        except InputError as error:
            bad.add([(first_line + k, str(error))])
            continue
        lines.append(k)
        widest = max(widest, len(words))
    table = np.array(values, np.float64).reshape(len(values), n_read)
    return _Rows(table[:, [*_WANTED, *range(N_FIELDS, n_read)]], np.array(lines, np.int64), widest)


def _numbers(line: bytes, words: list[bytes], n_requests: int) -> list[float]:
    """A record's fields; what is wrong with them goes behind the number of the line."""
    n_read = N_FIELDS + n_requests
    if not _is_text(b" ".join(words[:n_read])):
        raise InputError("not text; an SWF file is plain text (or that, packed by gzip)")
    if len(words) < n_read:
        seen = next((mark for mark in (",", ";", "|") if line.count(mark.encode()) >= N_FIELDS - 1), None)
        if seen:
            raise InputError(f"fields are divided by {seen!r}; SWF divides them by blanks")
        own = f"SWF has {N_FIELDS}" + (f" and the header {_POOLS} adds {n_requests}" if n_requests else "")
        raise InputError(f"{len(words)} fields, and {own}; write -1 for what is not known")
    return [_value(word, f) for f, word in enumerate(words[:n_read])]


def _is_text(words: bytes) -> bool:
    try:
        return words.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _value(word: bytes, index: int) -> float:
    if not is_number(word) or not np.isfinite(float(word)):
        name = FIELDS[index] if index < N_FIELDS else f"request of resource {index + 1 - N_FIELDS}"
        what = f"field {index + 1} ({name}) is {brief(word.decode('utf-8', 'replace'))}"
        raise InputError(f"{what}; it must be a finite number, -1 where not known")
    return float(word)
