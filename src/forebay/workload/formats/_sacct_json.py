"""`sacct --json` as blocks of the columns that `sacct -P` lists.

Slurm has changed the layout over time: numbers are plain (data parsers up to 0.0.37) or objects `{"set": true,
"infinite": false, "number": 60}`; a state is one word or a list of them. Both are read, record by record, so that not
much more than the text is ever in memory.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from forebay.errors import InputError, brief
from forebay.workload import _source
from forebay.workload.formats._sacct_rows import Block, Listing
from forebay.workload.formats._sacct_values import UnreadableError

COLUMNS = (
    *("JobID", "JobIDRaw", "User", "Group", "Account", "Partition", "QOS", "Priority", "Submit", "Eligible", "Start"),
    *("End", "ElapsedRaw", "TimelimitRaw", "NNodes", "ReqCPUS", "ReqMem", "ReqTRES", "AllocTRES", "State"),
    *("Constraints", "SubmitLine", "JobName", "Reason"),
)
_SLURM = re.compile(
    rb'"(Slurm|slurm|data_parser|openapi/\w+|allocation_nodes|association|job_id|submission|time_start)"'
)
_BATSIM = re.compile(rb'"(nb_res|profiles|subtime)"\s*:')
_BLOCK = 20_000  # records
_BLANK = re.compile(r"[ \t\r\n]*")
_PER_CPU = 1 << 63  # the bit by which older versions tell memory for each CPU
_UNSET = (2**32 - 2, 2**64 - 2)  # NO_VAL and NO_VAL64
_INFINITE = (2**32 - 1, 2**64 - 1)


def looks_so(head: bytes) -> bool:
    """Whether a file that begins so is Slurm's JSON, and no other's."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and bool(_SLURM.search(head)) and not _BATSIM.search(head)


def listing(source: _source.Source) -> Listing:
    """The columns that records become, and the records."""
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{source.path}: not text at byte {error.start}; write JSON in UTF-8") from None
    return Listing(set(COLUMNS), _blocks(text, source.path, len(source.data)), "record")


def _blocks(text: str, path: Path, size: int) -> Iterator[Block]:
    rows, places, wrong = [], [], []
    place, end = 0, 0
    for place, (record, end) in enumerate(_records(text, path), 1):
        try:
            rows.append(_row(record))
            places.append(place)
        except UnreadableError as error:
            wrong.append((place, str(error)))
        if len(rows) + len(wrong) == _BLOCK:
            yield _block(rows, places, wrong, size * end // len(text))
            rows, places, wrong = [], [], []
    yield _block(rows, places, wrong, size)


def _block(rows: list[tuple[str, ...]], places: list[int], wrong: list[tuple[int, str]], done: int) -> Block:
    columns = zip(*rows, strict=True) if rows else ([] for _ in COLUMNS)
    words = {name: pl.Series(column, dtype=pl.String) for name, column in zip(COLUMNS, columns, strict=True)}
    table = pl.DataFrame({"line": pl.Series(places, dtype=pl.Int64), **words})
    return Block(table.with_columns(pl.col(pl.String).str.strip_chars()), wrong, done)


def _records(text: str, path: Path) -> Iterator[tuple[Any, int]]:
    """The members of the list `jobs`, and where each ends."""
    decode = json.JSONDecoder().raw_decode
    seen = False
    try:
        at = _skip(text, _expect(text, _skip(text, 0), "{"))
        while text[at : at + 1] != "}":
            key, at = decode(text, at)
            at = _skip(text, _expect(text, _skip(text, at), ":"))
            if key == "jobs" and text[at : at + 1] == "[" and not seen:
                seen = True
                at = _skip(text, at + 1)
                while text[at : at + 1] != "]":
                    record, at = decode(text, at)
                    yield record, at
                    at = _next(text, at, "]")
                at += 1
            else:
                _, at = decode(text, at)
            at = _next(text, at, "}")
        at = _skip(text, at + 1)
        if at < len(text):
            raise json.JSONDecodeError("something follows the end", text, at)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path}: {where}: not JSON ({error.msg}); is the file whole?") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON that can be used: lists or objects nest too deep") from None
    except ValueError:
        raise InputError(f"{path}: not JSON that can be used: a number has thousands of digits") from None
    if not seen:
        raise InputError(f"{path}: has no list 'jobs'; write what `sacct --json` prints")


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _expect(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"expecting {mark!r}", text, at)
    return at + 1


def _next(text: str, at: int, closing: str) -> int:
    """Behind the comma after a member, or at the end of them all."""
    at = _skip(text, at)
    if text[at : at + 1] == closing:
        return at
    at = _skip(text, _expect(text, at, ","))
    if text[at : at + 1] == closing:
        raise json.JSONDecodeError("a comma before the end", text, at)
    return at


def _row(record: Any) -> tuple[str, ...]:
    """A record's words, in the order of `COLUMNS`."""
    if not isinstance(record, dict):
        raise UnreadableError(f"is {brief(record)}; it must be an object")
    time, who, required = (_part(record, name) for name in ("time", "association", "required"))
    tres = _part(record, "tres")
    words = {
        **_names(record),
        "User": _text(record, "user") or _text(who, "user"),
        "Group": _text(record, "group"),
        "Account": _text(record, "account") or _text(who, "account"),
        "Partition": _text(record, "partition"),
        "QOS": _text(record, "qos"),
        "Priority": _number(record, "priority"),
        "Submit": _number(time, "submission"),
        "Eligible": _number(time, "eligible"),
        "Start": _number(time, "start"),
        "End": _number(time, "end"),
        "ElapsedRaw": _number(time, "elapsed"),
        "TimelimitRaw": _number(time, "limit", "UNLIMITED"),
        "NNodes": _number(record, "allocation_nodes"),
        "ReqCPUS": _number(required, "CPUs"),
        "ReqMem": _memory(required),
        "ReqTRES": _tres(tres, "requested"),
        "AllocTRES": _tres(tres, "allocated"),
        "State": _state(record),
        "Constraints": _text(record, "constraints"),
        "SubmitLine": _text(record, "submit_line"),
        "JobName": _text(record, "name"),
        "Reason": _reason(record),
    }
    return tuple(words[name] for name in COLUMNS)


def _part(table: dict[str, Any], key: str) -> dict[str, Any]:
    """An object within one; empty where there is none."""
    value = table.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnreadableError(f"{key!r} is {brief(value)}; it must be an object")
    return value


def _reason(record: dict[str, Any]) -> str:
    """Why it last waited; layouts in which the state is a word do not say."""
    state = record.get("state")
    return _text(state, "reason") if isinstance(state, dict) else ""


def _text(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnreadableError(f"{key!r} is {brief(value)}; it must be text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnreadableError(
            f"{key!r} has half a character, such as \\ud83d without \\ude00; write whole ones"
        ) from None
    return value


def _whole(value: Any, key: str, infinite: str = "") -> str:
    """A number from 0 up, plain or as Slurm's newer versions write it; "" where it is not set."""
    if isinstance(value, dict):
        if value.get("infinite") is True:
            return infinite
        value = value.get("number") if value.get("set", True) is True else None
    if value is None or value in _UNSET:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"{key!r} is {brief(value)}; it must be a number")
    return infinite if value in _INFINITE else str(value)


def _number(table: dict[str, Any], key: str, infinite: str = "") -> str:
    return _whole(table.get(key), key, infinite)


def _names(record: dict[str, Any]) -> dict[str, str]:
    """The number, and where a job is part of an array or of a heterogeneous job, its name there."""
    raw = _number(record, "job_id")
    array, het = _part(record, "array"), _part(record, "het")
    parent, task, tasks = _number(array, "job_id"), _number(array, "task_id"), array.get("task")
    leader, offset = _number(het, "job_id"), _number(het, "job_offset")
    name = raw
    if parent not in ("", "0") and task:
        name = f"{parent}_{task}"
    elif parent not in ("", "0") and isinstance(tasks, str) and tasks:
        name = f"{parent}_[{tasks}]"
    elif leader not in ("", "0") and offset:
        name = f"{leader}+{offset}"
    return {"JobID": name, "JobIDRaw": raw}


def _state(record: dict[str, Any]) -> str:
    """The current state: one word, or the first of several."""
    value = record.get("state")
    current = value.get("current") if isinstance(value, dict) else value
    if isinstance(current, list):
        current = current[0] if current else ""
    return _text({"state": current}, "state")


def _memory(required: dict[str, Any]) -> str:
    """Megabytes for each CPU or node, as ReqMem writes them; older versions set a bit where they are for each CPU."""
    for key, each in (("memory_per_cpu", "c"), ("memory_per_node", "n"), ("memory", "n")):
        word = _number(required, key)
        if word and word != "0":
            if word.isdecimal() and int(word) >= _PER_CPU:
                return f"{int(word) - _PER_CPU}Mc"
            return f"{word}M{each}"
    return ""


def _tres(table: dict[str, Any], key: str) -> str:
    """A list of resources as `sacct -P` writes it; amounts of memory and buffers are in megabytes in both."""
    items = table.get(key)
    if items is None:
        return ""
    if not isinstance(items, list):
        raise UnreadableError(f"{key!r} is {brief(items)}; it must be a list")
    words = []
    for item in items:
        if not isinstance(item, dict):
            raise UnreadableError(f"{key!r} has {brief(item)}; it must be an object")
        kind, name = _text(item, "type"), _text(item, "name")
        count = _number(item, "count")
        if kind and count and not count.startswith("-") and not re.search(r"[,=\n]", kind + name):
            words.append(f"{kind}/{name}={count}" if name else f"{kind}={count}")
    return ",".join(words)
