"""Ways to spoil valid input: bytes, lines of fields, JSON trees, tables and zips. Every choice is the generator's."""

import bz2
import copy
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

import polars as pl

from forebay._support.parquet import read_parquet
from forebay.errors import InputError

BOM = b"\xef\xbb\xbf"

NUMBERS = (
    *("NaN", "nan", "inf", "-inf", "Infinity", "-0", "-0.0", "0", "-1", "1", "1.5", "+3", ".5", "5.", "1e3", "1e-400"),
    *("1e18", "1e19", "1e300", "-1e300", "1e308", "-1e308", "1e400", "-1e400", "1E+5", "0x10", "1_000", "1,000"),
    *("9007199254740991", "9007199254740993", str(2**31), str(2**63 - 1), str(2**63), str(-(2**63)), str(2**64)),
    *("9" * 30, "9" * 400, "9" * 5000, "0." + "3" * 400, "1e99999999999", "٣", "²", "Ⅷ", "\uff11\uff12", "1 2", "--5"),
)
TIMES = (
    *("2024-01-31T23:59:00", "2024-01-31 23:59", "2024-01-31", "2024-01-31T23:59:00Z", "2024-01-31T23:59:00+14:00"),
    *("1969-12-31T23:59:59", "0001-01-01T00:00:00", "9999-12-31T23:59:59", "9999-12-31T23:59:59-12:00", "31/01/2024"),
    *("0001-01-01T00:00:00+23:59", "2024-02-30T00:00:00", "2024-W05-1", "12:00", "1-00:00:00", "99999999-23:59:59"),
    *("00:00:00", "24:61:61", "1-1-1", "1706745540000", "1706745540000000000", "-5", "Unknown", "None", "noon"),
)
WORDS = (
    *("", " ", "\t", '"', "'", '""', '"a', "a,b", "a|b", "a;b", "\0", "\x1b[31m", "é", "\u2028", "\ufeff", "null"),
    *(
        "true",
        "None",
        "id",
        "JobID",
        "-",
        "#",
        ";",
        "=",
        "{}",
        "[]",
        "\\",
        "%s",
        "{0}",
        "../x",
        "x" * 300,
        "a" * 70_000,
    ),
    *(
        "40GB",
        "1.5 TB",
        "3 Gbit/s",
        "12 kib",
        "5 parsecs",
        "4K",
        "4Gn",
        "2000Mc",
        "UNLIMITED",
        "cpu=4,mem=1E",
        "bb/x=1P",
    ),
)
TOKENS = NUMBERS + TIMES + WORDS

JSON_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        -0.0,
        0.5,
        1e308,
        -1e308,
        5e-324,
        10**15,
        10**18,
        2**53 + 1,
        2**63 - 1,
        2**63,
        2**64,
    ),
    *(10**400, float("nan"), float("inf"), float("-inf"), "", "0", "1e9", "delay", "\ud800", "\0", "x" * 300, "é!7"),
    *([], {}, [[]], [None], [1, 2], ["p"], {"a": 1}, {"type": "delay", "delay": 1}, [{"id": 1}]),
)


def spoil(rng: Random, data: bytes) -> bytes:
    """Bytes with something flipped, missing, repeated, moved or put in."""
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    short = min(b, a + rng.choice([1, 2, 8, 64]))
    changes: list[Callable[[], bytes]] = [
        lambda: data[:a],
        lambda: data[a:],
        lambda: data[:a] + data[short:],
        lambda: data[:short] + data[a:],
        lambda: data[:a] + data[b:] + data[a:b],
        lambda: data[:a] + bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 40]))) + data[a:],
        lambda: data[:a] + rng.choice(TOKENS).encode() + data[short:],
        lambda: data[:a] + rng.choice([b"\0", b"\xff", b"\xe9", b"\xc3", BOM, b"\r", b"\n", b"\x1a"]) + data[a:],
        lambda: flip(rng, data),
        lambda: flip(rng, data),
    ]
    return rng.choice(changes)()


def flip(rng: Random, data: bytes) -> bytes:
    """A few bits the other way round."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20]) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def spoil_lines(rng: Random, data: bytes, delimiter: str) -> bytes:
    """Text of lines and fields with fields, columns or lines changed, or written by other customs."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    rows = [line.split(delimiter) for line in lines]
    r = rng.randrange(len(rows))
    c, d = (rng.randrange(max(len(row) for row in rows)) for _ in range(2))

    def columns(change: Callable[[list[str]], list[str]]) -> list[list[str]]:
        return [change(row) if max(c, d) < len(row) else row for row in rows]

    def swapped(row: list[str]) -> list[str]:
        row = list(row)
        row[c], row[d] = row[d], row[c]
        return row

    def put(row: list[str], token: str) -> list[str]:
        return [token if k == c else word for k, word in enumerate(row)]

    token = rng.choice(TOKENS)
    changes: list[Callable[[], list[list[str]]]] = [
        lambda: [put(row, token) if k == r else row for k, row in enumerate(rows)],
        lambda: [put(row, token) if k == r else row for k, row in enumerate(rows)],
        lambda: [put(row, token) if k == r else row for k, row in enumerate(rows)],
        lambda: [put(row, rng.choice(TOKENS)) if rng.random() < 0.3 else row for row in rows],
        lambda: [put(row, token) if k else row for k, row in enumerate(rows)],
        lambda: columns(swapped),
        lambda: [swapped(row) if k == r and max(c, d) < len(row) else row for k, row in enumerate(rows)],
        lambda: columns(lambda row: row[:c] + row[c + 1 :]),
        lambda: columns(lambda row: [*row[:c], row[c], *row[c:]]),
        lambda: rows[:r] + rows[r + 1 :],
        lambda: rows[: r + 1] + rows[r:],
        lambda: rng.sample(rows, len(rows)),
        lambda: rows * 2,
        lambda: [*rows[:r], [token], *rows[r:]],
        lambda: (
            [[delimiter.join(row).replace(delimiter, rng.choice("\t;,|: ^"))] for row in rows]
            if rng.random() < 0.5
            else [[rng.choice("\t;,|: ").join(row)] for row in rows]
        ),
        lambda: [[f'"{word}"' for word in row] for row in rows],
        lambda: [[f" {word} " for word in row] for row in rows],
    ]
    text = rng.choice([*["\n"] * 8, "\r\n", "\r", "\n\n", "\n \n"]).join(
        delimiter.join(row) for row in rng.choice(changes)()
    )
    coded = text.encode(rng.choice([*["utf-8"] * 9, "utf-16", "latin-1"]), "replace")
    return BOM + coded if rng.random() < 0.05 else coded


def spoil_tree(rng: Random, document: Any) -> Any:
    """A parsed JSON document with one of its values changed for another, or missing, or in another place."""
    document = copy.deepcopy(document)
    places: list[tuple[Any, Any]] = []
    todo = [document]
    while todo:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            todo.append(node[key])
    if not places or rng.random() < 0.02:
        return rng.choice(JSON_VALUES)
    holder, key = rng.choice(places)
    old = holder[key]
    kind = rng.randrange(13)
    if kind > 9:  # something of the same type: most files that this makes can be read
        same = [other[there] for other, there in places if type(other[there]) is type(old)]
        holder[key] = copy.deepcopy(rng.choice(same))
        if type(old) in (int, float) and rng.random() < 0.5:
            holder[key] = rng.choice([2, 3, 7, 1000, 0.25, 1e9, 12.75])
    elif kind < 4:
        holder[key] = copy.deepcopy(rng.choice(JSON_VALUES))
    elif kind == 4:
        holder[key] = rng.choice(TOKENS)
    elif kind == 5:
        del holder[key]
    elif kind == 6:
        other, there = rng.choice(places)
        holder[key] = copy.deepcopy(other[there]) if not isinstance(other[there], dict | list) else str(old)
    elif kind == 7:
        holder[key] = [old] if rng.random() < 0.5 else {"value": old}
    elif kind == 8:
        depth = rng.choice([3, 60, 400])
        for _ in range(depth):
            old = [old]
        holder[key] = old
    elif isinstance(holder, dict):
        holder[rng.choice([*holder, *WORDS[:20], "smt", "\ud800", "bb", "repeat", "nb"])] = holder.pop(key)
    else:
        holder.insert(key, copy.deepcopy(old))
    return document


def json_bytes(rng: Random, document: Any) -> bytes:
    """A document as a file of some custom: indented or not, with or without escapes, sometimes spoiled as text."""
    text = json.dumps(document, ensure_ascii=rng.random() < 0.7, indent=rng.choice([None, 1]))
    data = text.encode("utf-8", "surrogatepass" if rng.random() < 0.3 else "replace")
    if rng.random() < 0.05:
        data = data.replace(b"\n", b"\r\n")
    return BOM + data if rng.random() < 0.05 else data


def spoil_json(rng: Random, data: bytes) -> bytes:
    """JSON text with values changed; now and then very deep, or with a number of very many digits."""
    document = json.loads(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        try:
            document = spoil_tree(rng, document)
        except RecursionError:  # deep enough
            break
    made = json_bytes(rng, document)
    odd = rng.random()
    if odd < 0.01:
        made = made.replace(b"1", b"[" * 100_000 + b"]" * 100_000, 1)
    elif odd < 0.03:
        made = made.replace(b"1", b"9" * 5000, 1)
    return made


def spoil_table(rng: Random, frame: pl.DataFrame) -> pl.DataFrame:
    """A table with a column of another type, name or place, values that no column may hold, or other rows."""
    if not frame.columns:
        return pl.DataFrame({"id": [1]})
    name = rng.choice(frame.columns)
    column = frame[name]
    kind = rng.randrange(12)
    if kind > 8:  # values from other rows
        picked = [rng.randrange(len(frame)) for _ in range(len(frame))]
        return frame.with_columns(column.gather(picked) if picked else column)
    if kind < 3:
        return frame.with_columns(_other_type(rng, column))
    if kind == 3:
        return frame.drop(name)
    if kind == 4:
        new = rng.choice([*TOKENS, "id", "job", "submit", "nodes", "burst_buffer", "x"])
        return frame if new in frame.columns else frame.rename({name: new})
    if kind == 5:
        return frame.with_columns(pl.Series(rng.choice(["more", "a b", "id2", ""]), range(len(frame))))
    if kind == 6:
        keep = (
            [rng.randrange(len(frame)) for _ in range(rng.choice([0, 1, len(frame), 2 * len(frame)]))]
            if len(frame)
            else []
        )
        return frame[keep]
    if kind == 7:
        return frame.select(rng.sample(frame.columns, len(frame.columns)))
    return frame.with_columns(_other_values(rng, column))


def _other_values(rng: Random, column: pl.Series) -> pl.Series:
    """The same type with one value or all of them replaced."""
    values: list[Any] = column.to_list()
    if column.dtype.is_float():
        odd: list[Any] = [float("nan"), float("inf"), float("-inf"), -0.0, -1.0, 0.0, 1e308, -1e308, 5e-324, 1e16, None]
    elif column.dtype.is_integer():
        odd = [0, -1, 1, 2**63 - 1, -(2**63), 10**12, 10**18, None]
    elif column.dtype == pl.String:
        odd = [*WORDS, None, "compute", "drain", "burst_buffer"]
    else:
        odd = [None]
    if not values:
        return column
    places = range(len(values)) if rng.random() < 0.2 else [rng.randrange(len(values))]
    for k in places:
        values[k] = rng.choice(odd)
    return pl.Series(column.name, values, column.dtype, strict=False)


def _other_type(rng: Random, column: pl.Series) -> pl.Series:
    """A column of another type, its values kept where they can be."""
    if rng.random() < 0.5:
        dtype = rng.choice(
            [pl.String, pl.Int8, pl.Int32, pl.UInt64, pl.Float32, pl.Float64, pl.Int64, pl.Boolean, pl.Categorical]
        )
        try:
            return (column.cast(pl.String) if dtype in (pl.Boolean, pl.Categorical) else column).cast(
                dtype, strict=False
            )
        except pl.exceptions.PolarsError:
            pass
    value = rng.choice(
        [
            date(1960, 1, 1),
            datetime(2024, 1, 1),
            time(1),
            timedelta(1),
            [1],
            [],
            {"a": 1},
            b"x",
            "x",
            True,
            1.5,
            None,
            2**63,
        ]
    )
    return pl.Series(column.name, [value] * len(column))


def table_bytes(rng: Random, frame: pl.DataFrame) -> bytes:
    """A table as Parquet, packed in one of its ways."""
    data = io.BytesIO()
    frame.write_parquet(data, compression=rng.choice(["zstd", "snappy", "uncompressed", "gzip"]))
    return data.getvalue()


def spoil_parquet(rng: Random, data: bytes) -> bytes:
    """A Parquet file with another table, or spoiled as bytes."""
    if rng.random() < 0.2:
        return spoil(rng, data)
    frame = read_parquet(data, "spoiled")  # quietly, as it may be damaged already
    for _ in range(rng.choice([1, 1, 2, 4])):
        frame = spoil_table(rng, frame)
    return table_bytes(rng, frame)


def parts_of(data: bytes) -> dict[str, bytes]:
    """The members of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(rng: Random, parts: dict[str, bytes]) -> bytes:
    """Members as a zip, packed in one of its ways."""
    whole = io.BytesIO()
    ways = [*[zipfile.ZIP_STORED] * 3, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    with zipfile.ZipFile(whole, "w", rng.choice(ways)) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return whole.getvalue()


def spoil_zip(rng: Random, data: bytes) -> bytes:
    """A zip of Parquet and JSON with a member missing, renamed, changed within or exchanged, or spoiled as bytes."""
    if rng.random() < 0.15:
        return spoil(rng, data)
    parts = parts_of(data)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if not parts:
            break
        name = rng.choice(list(parts))
        kind = rng.randrange(10)
        if kind < 6:
            try:
                parts[name] = (spoil_json if name.endswith(".json") else spoil_parquet)(rng, parts[name])
            except (ValueError, RecursionError, InputError, pl.exceptions.PolarsError):  # spoiled before
                parts[name] = spoil(rng, parts[name])
        elif kind == 6:
            del parts[name]
        elif kind == 7:
            parts[rng.choice(["jobs", "x.parquet", name.upper(), f"in/{name}", "é"])] = parts.pop(name)
        elif kind == 8:
            parts[name] = parts[rng.choice(list(parts))]
        else:
            parts[name] = spoil(rng, parts[name])
    made = zipped(rng, parts)
    return spoil(rng, made) if rng.random() < 0.1 else made


def spoil_gzip(rng: Random, data: bytes, inner: Callable[[Random, bytes], bytes]) -> bytes:
    """Packed text that is spoiled within, or without; sometimes packed by another tool."""
    text = gzip.decompress(data)
    kind = rng.randrange(10)
    if kind < 5:
        return gzip.compress(inner(rng, text), 1, mtime=0)
    if kind == 5:
        return rng.choice([bz2.compress, lzma.compress, lambda raw: gzip.compress(data, 1, mtime=0)])(text)
    return spoil(rng, data)
