"""What a watch keeps, in a folder: tables of Parquet, a file an hour, and the hour that goes on as lines of JSON.

A line is on the disk before the next cycle begins. An hour that is over becomes a file for each table, whole or not at
all, and its lines go. A process that is killed loses nothing but the line that it was writing.
"""

import calendar
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from forebay._support.files import replacing, within
from forebay._support.parquet import read_parquet
from forebay._support.reading import read_bytes, read_text
from forebay.errors import InputError

QUANTILES = tuple(f"p{level:02d}" for level in (5, 10, 25, 50, 75, 90, 95))
_TIME, _TEXT, _COUNT = pl.Float64, pl.String, pl.Int64
_BANDS = dict.fromkeys(QUANTILES, pl.Float32)
SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "cycles": {"now": _TIME, "running": _COUNT, "waiting": _COUNT, "nodes": _COUNT, "used": _COUNT, "took": _TIME},
    "jobs": {"now": _TIME, "name": _TEXT, "id": _COUNT, "state": _TEXT, "row": _TEXT},
    "predictions": {"now": _TIME, "name": _TEXT, **_BANDS, "slurm": pl.Float32},
    "guesses": {"now": _TIME, "name": _TEXT, "partition": _TEXT, **_BANDS, "drawn": pl.List(pl.Float32)},
    "scores": {
        **{"name": _TEXT, "partition": _TEXT, "made": _TIME, "start": _TIME, **_BANDS},
        **{"expected": _TIME, "share": _TIME, "said_at": _TIME, "said": _TIME, "then": _TIME},
    },
}
"""By table: columns. A line of a cycle has rows of each, as lists in this order."""
_LONG = len("20270115T08")
Rows = Mapping[str, Sequence[Sequence[Any]]]


class Record:
    """The folder."""

    def __init__(self, folder: Path, days: float = 30.0) -> None:
        self.folder, self._days = folder, days
        try:
            for name in SCHEMAS:
                within(folder, name).mkdir(parents=True, exist_ok=True, mode=0o750)
        except OSError as error:
            raise InputError(f"{folder}: cannot write there ({error.strerror}); choose another folder") from None

    def add(self, now: float, rows: Rows) -> None:
        """A cycle. Hours before it are closed first."""
        hour = self._open(now)
        self.close(hour)
        line = json.dumps(rows, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        handle = os.open(self.folder / f"{hour}.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o640)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":  # of a process that was killed
                line = b"\n" + line
            try:
                if os.write(handle, line) < len(line):
                    raise OSError(28, "No space left on device")
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)  # half a line would spoil the next one
                raise
        finally:
            os.close(handle)

    def _open(self, now: float) -> str:
        """The hour, or what takes its place where it is closed already: clocks are put back, too."""
        hour = place = _named(now)
        count = 0
        while (self.folder / "cycles" / f"{place}.parquet").exists():
            count += 1
            place = f"{hour}-{count}"
        return place

    def close_before(self, now: float) -> None:
        """As a watch begins: whatever an earlier one left open."""
        self.close(self._open(now))

    def close(self, but: str = "") -> None:
        """Put hours that are over into tables, and delete what is older than is kept."""
        for path in sorted(self.folder.glob("*.jsonl"), key=_stem):
            hour = path.stem
            if hour == but:
                continue
            rows = _lines(path)
            targets = {name: within(self.folder, name) / f"{hour}.parquet" for name in SCHEMAS}
            if not all(target.exists() for target in targets.values()):
                with replacing(*targets.values()) as files:
                    for name, file in zip(SCHEMAS, files, strict=True):
                        _frame(name, rows).write_parquet(file, compression="zstd")
                        _synced(file)
            path.unlink()
            self._forget(hour)

    def read(self, name: str, since: float = 0.0) -> pl.DataFrame:
        """A table, of all hours since then, in order."""
        first = _named(since)
        frames = []
        done = set()
        for path in sorted((self.folder / name).glob("*.parquet"), key=_stem):
            if path.stem[:_LONG] >= first:
                frames.append(read_parquet(read_bytes(path), str(path)).select(list(SCHEMAS[name])))
                done.add(path.stem)
        for path in sorted(self.folder.glob("*.jsonl"), key=_stem):
            if path.stem[:_LONG] >= first and path.stem not in done:
                frames.append(_frame(name, _lines(path)))
        return pl.concat(frames) if frames else pl.DataFrame(schema=dict(SCHEMAS[name]))

    def _forget(self, hour: str) -> None:
        oldest = _named(_seconds(hour) - self._days * 86400)
        for name in SCHEMAS:
            for path in (self.folder / name).glob("*.parquet"):
                if path.stem[:_LONG] < oldest:
                    path.unlink(missing_ok=True)

    def keep(self, name: str, document: Any) -> None:
        """A document beside the tables, whole or not at all."""
        with replacing(within(self.folder, name)) as (file,):
            file.write_text(json.dumps(document), encoding="utf-8")

    def kept(self, name: str) -> Any:
        """The document, or None where there is none that can be read."""
        try:
            return json.loads(read_text(self.folder / name))
        except (OSError, ValueError):
            return None


def _stem(path: Path) -> str:
    return path.stem


def _named(now: float) -> str:
    """An hour, in UTC."""
    return time.strftime("%Y%m%dT%H", time.gmtime(max(now, 0.0)))


def _seconds(hour: str) -> float:
    return float(calendar.timegm(time.strptime(hour[:_LONG], "%Y%m%dT%H")))


def _lines(path: Path) -> list[Rows]:
    return list(_whole(path))


def _whole(path: Path) -> Iterator[Rows]:
    """Cycles of a file; a line that was cut off is none."""
    for line in read_bytes(path).split(b"\n"):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def _frame(name: str, cycles: Sequence[Rows]) -> pl.DataFrame:
    schema = dict(SCHEMAS[name])
    rows = [row for one in cycles for row in one.get(name, ())]
    return pl.DataFrame(rows, schema=schema, orient="row", strict=False)


def _synced(file: Path) -> None:
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
