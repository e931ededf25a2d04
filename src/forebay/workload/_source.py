"""What all formats share: a file's bytes in, a file's bytes out, and jobs brought into order of arrival."""

import gzip
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import polars as pl

from forebay._plugins import parse_spec
from forebay._support import input_limits
from forebay._support.files import replacing
from forebay._support.reading import read_bytes
from forebay._support.text import counted
from forebay.core.schemas import DEADLINE, has_deadline
from forebay.errors import InputError
from forebay.workload.workload import Workload

GZIP = b"\x1f\x8b"

MEMORY_NOTE = "memory is a demand (bytes, a job's total): machines without a pool of that name ignore it"

_SORTED = "put in order of submission"
_SIZE = "the machine's size is"
_DATED = ("submit", "recorded_start", "running_since")
_PIECE = 1 << 20  # bytes unpacked at a time
_LEVEL = 6  # level 9 took 8 times as long on a large SWF file, for 6 % fewer bytes


@dataclass(frozen=True)
class Source:
    """A file as read: unpacked, with the digest of its bytes as they lie on disk."""

    path: Path
    data: bytes
    sha256: str
    size: int  # bytes on disk

    @property
    def name(self) -> str:
        """The file's name, with what is no text in it replaced: names of files may hold any bytes."""
        return os.fsencode(self.path.name).decode("utf-8", "replace")

    def stem(self, suffixes: Iterable[str]) -> str:
        """The file's name without whichever of `suffixes` it ends in."""
        name = self.name
        for suffix in sorted(suffixes, key=len, reverse=True):
            if name.lower().endswith(suffix) and len(name) > len(suffix):
                return name[: -len(suffix)]
        return name


def load(path: Path) -> Source:
    """The bytes of `path`; packed or not is seen by its first two bytes, since names of traces often lie."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a workload file inside it")
    try:
        raw = read_bytes(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    digest = hashlib.sha256(raw).hexdigest()
    if raw.startswith(GZIP) or _cut_to_nothing(path, raw):
        try:
            if len(raw) < len(GZIP):
                raise EOFError("it ends before its contents begin")
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
                return Source(path, pieces(file, str(path), input_limits.unpacked(len(raw))), digest, len(raw))
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path}: the gzip data is cut short or damaged ({error}); fetch the file again") from None
    return Source(path, raw, digest, len(raw))


def pieces(packed: io.BufferedIOBase | IO[bytes], where: str, most: int, before: int = 0) -> bytes:
    """All that unpacks from `packed`: with the bytes unpacked `before` never more than `most`."""
    whole = io.BytesIO()
    while piece := packed.read(_PIECE):
        if before + whole.tell() + len(piece) > most:
            raise input_limits.too_much(where, most)
        whole.write(piece)
    return whole.getvalue()


def head(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file, unpacked: enough to tell its format; empty where it cannot be unpacked.

    A packed file that ends before there are so many is refused: what would help is the rest of it, not another name.
    """
    try:
        with path.open("rb") as file:
            first = file.read(2)
        if _cut_to_nothing(path, first):
            raise EOFError
        with gzip.open(path) if first == GZIP else path.open("rb") as file:
            return file.read(size)
    except EOFError:
        load(path)  # says what is wrong
    except (OSError, zlib.error):
        pass
    return b""


def _cut_to_nothing(path: Path, raw: bytes) -> bool:
    """Whether a file that should be packed, by its name, has not even the two bytes that all packed ones begin with."""
    return path.name.lower().endswith(".gz") and len(raw) < len(GZIP)


def save(path: Path, data: bytes) -> None:
    """Write `data` whole or not at all; packed if the name ends in `.gz`, without a date, so that bytes repeat."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file inside it")
    with replacing(path) as [temporary]:
        temporary.write_bytes(gzip.compress(data, _LEVEL, mtime=0) if path.name.lower().endswith(".gz") else data)


PERFECT = "the run time is taken, a perfect estimate"
"""How notes end on jobs without a requested time."""


def tells_requests(w: Workload) -> bool:
    """Whether users asked for times; else the run times stand there, of which nothing may be learned."""
    return not any(note.endswith(PERFECT) for note in w.notes) or bool((w.jobs["walltime"] != w.jobs["run_time"]).any())


def in_order(jobs: pl.DataFrame) -> tuple[pl.DataFrame, float]:
    """Jobs by (submit, id) with the first one at second 0, and how far back they were moved for that.

    Where some run already, second 0 is the moment at which they do: it stays.
    """
    order = jobs.select(pl.arg_sort_by("submit", "id", maintain_order=True)).to_series()
    columns = jobs.get_columns()
    del jobs  # column by column: of ten million jobs, a table beside the sorted one is a gigabyte
    for place, column in enumerate(columns):
        columns[place] = column.gather(order)
    del column
    jobs = pl.DataFrame(columns)
    moved = 0.0 if "running_since" in jobs.columns else float(jobs["submit"][0])
    return later(jobs, -moved), moved


def later(jobs: pl.DataFrame, seconds: float) -> pl.DataFrame:
    """The same with all that has a date so much later."""
    dated = (pl.col(name) + seconds for name in _DATED if name in jobs.columns)
    return jobs.with_columns(*dated, *deadlines_later(jobs, pl.lit(seconds)))


def deadlines_later(jobs: pl.DataFrame, seconds: pl.Expr | pl.Series) -> list[pl.Expr]:
    """The column of deadlines, each so much later; none where there is none, or where it holds text."""
    if jobs.schema.get(DEADLINE) != pl.Float64:
        return []
    return [pl.when(has_deadline()).then(pl.col(DEADLINE) + seconds).alias(DEADLINE)]


def order_notes(submit: pl.Series) -> list[str]:
    """A remark if a file does not list its jobs in order of submission."""
    late = int((submit.diff() < 0).sum())
    return [f"{counted(late, 'job is', 'jobs are')} listed after one submitted later: {_SORTED}"] if late else []


def order_told(notes: Iterable[str]) -> list[str]:
    """Those of the notes that `order_notes` wrote."""
    return [note for note in notes if note.endswith(_SORTED)]


def inferred_size(nodes: int) -> str:
    """A remark on a machine's size that is not given, but taken from what jobs had of it."""
    return f"{_SIZE} taken as the most nodes in use at once, {nodes:,}; jobs that share a node count it each"


def inferred_machine(peaks: str, classes: str, how: str) -> str:
    """A remark on nodes that jobs share, and how to run on them."""
    return f"{_SIZE} another where jobs share nodes: at most {peaks} were in use at once, {classes} ({how})"


def is_inferred(notes: Iterable[str]) -> bool:
    """Whether a machine's size was so found."""
    return any(note.startswith(f"{_SIZE} taken as") for note in notes)


def unknown_size(why: str) -> str:
    """A remark on a machine's size that nothing tells."""
    return f"{_SIZE} not known, {why}: name a platform when you simulate"


def size_told(notes: Iterable[str]) -> list[str]:
    """Those of the notes that speak of a size so found, or not found: on a machine that was named they mean nothing."""
    return [note for note in notes if note.startswith(_SIZE)]


def demands(workload: Workload) -> list[str]:
    """Names of the resources that the job table has a column for; legs may ask for more."""
    return [name for name in workload.resources if name in workload.jobs.columns]


def own_notes(workload: Workload, format_: str) -> list[str]:
    """What a format loses of columns of the author's own."""
    return [f"{name} is not written: {format_} has no field for it; .parquet.zip keeps it" for name in workload.own]


def application_notes(workload: Workload) -> list[str]:
    """What of a workload is lost in a format that has no applications."""
    if workload.applications is None:
        return []
    return ["applications are not written: of their loops and sizes, jobs keep their work at the preferred size"]


def dropped_text(dropped: dict[str, int]) -> str:
    """`2 run time not positive, 1 no processors`."""
    return ", ".join(f"{count:,} {reason}" for reason, count in dropped.items())


def machine_nodes(platform: str | None) -> int | None:
    """N of a platform spec `flat:nodes=N,...`; None for any other: what a named platform holds is not known here."""
    if platform is None:
        return None
    name, params = parse_spec(platform)
    nodes = params.get("nodes", "")
    return int(nodes) if name == "flat" and re.fullmatch(r"0*[1-9][0-9]{0,17}", nodes) else None


def platform_notes(platform: str | None) -> list[str]:
    """What of a platform spec is lost in a format that can only say how many nodes there are."""
    if platform is None or platform == f"flat:nodes={machine_nodes(platform)}":
        return []
    return [f"the platform {platform!r} is not kept, at most its number of nodes: name it again when you simulate"]
