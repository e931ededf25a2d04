"""What Darshan has recorded of jobs' I/O: the text of `darshan-parser`, or a table of summaries.

A log is of one program of a job: a job of several has several, which add up. Bytes are those that POSIX and STDIO
moved; MPI-IO moves its own through POSIX, so that they count only where a log has no POSIX. Darshan sums the seconds
that all processes spend in I/O: divided by their number they are what a process, and so the job, spends on average.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from forebay._support.reading import read_bytes
from forebay.errors import InputError, brief

SCHEMA = {"job": pl.Int64, "read": pl.Float64, "written": pl.Float64, "io_seconds": pl.Float64, "source": pl.String}
"""Of each job: bytes, seconds of I/O (NaN = not known), and the file that says so."""

_BEGIN = "# darshan log version:"
_NAMES = {
    "job": ("job", "job_id", "jobid", "slurm_job_id", "jobidraw"),
    "read": ("read", "read_bytes", "bytes_read", "total_posix_bytes_read", "posix_bytes_read"),
    "written": ("written", "written_bytes", "bytes_written", "total_posix_bytes_written", "posix_bytes_written"),
    "io_seconds": ("io_seconds", "io_time", "slowest_rank_io_time"),
}
"""Names that columns of summaries have, in small letters; the first is ours."""
_TIMES = ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME")


@dataclass
class _Log:
    line: int
    job: int | None = None
    processes: int = 1
    records: dict[str, float] = field(default_factory=dict)  # sums over records
    totals: dict[str, float] = field(default_factory=dict)  # as `darshan-parser --total` prints them

    def _of(self, counter: str) -> float | None:
        return self.totals.get(counter, self.records.get(counter))

    def _sum(self, what: str) -> float | None:
        main = "POSIX" if self._of("POSIX_BYTES_READ") is not None else "MPIIO"
        found = [value for module in (main, "STDIO") if (value := self._of(f"{module}_{what}")) is not None]
        return sum(found) if found else None

    def row(self, path: Path) -> tuple[int, float, float, float, str]:
        """As a row of the table."""
        if self.job is None:
            raise InputError(f"{path}, line {self.line}: a log without '# jobid:'; write it with darshan-parser again")
        spent = [value for name in _TIMES if (value := self._sum(name)) is not None]
        seconds = sum(spent) / max(self.processes, 1) if spent else float("nan")
        return self.job, self._sum("BYTES_READ") or 0.0, self._sum("BYTES_WRITTEN") or 0.0, seconds, str(path)


def read(paths: Iterable[Path]) -> pl.DataFrame:
    """What files, and all files of folders, say of jobs: a row a job, in order of their numbers.

    Parameters
    ----------
    paths
        Texts of `darshan-parser` (with --base, --total or --all; several logs may follow each other in one file), and
        CSV files of summaries with a column for the job, for bytes read and written, and perhaps seconds of I/O.
    """
    files = [
        file
        for path in paths
        for file in (sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path])
    ]
    if not files:
        raise InputError("no Darshan logs there; name texts that darshan-parser has written, or their folder")
    table = pl.concat([_file(path) for path in files])
    return (
        table.group_by("job")
        .agg(pl.col("read", "written", "io_seconds").sum(), pl.col("source").first())
        .sort("job")
        .select(*SCHEMA)
    )


def _file(path: Path) -> pl.DataFrame:
    try:
        data = read_bytes(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}); check the path") from None
    if b"\0" in data[:4096]:
        raise InputError(
            f"{path}: a binary log; write it as text: darshan-parser --total {path.name} > {path.stem}.txt"
        )
    try:
        text = data.decode("utf-8", "replace")
    finally:
        del data
    if _BEGIN in text:
        return pl.DataFrame([one.row(path) for one in _logs(text, path)], SCHEMA, orient="row")
    return _summaries(text, path)


def _logs(text: str, path: Path) -> Iterator[_Log]:
    log: _Log | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(_BEGIN):
            if log is not None:
                yield log
            log = _Log(number)
        elif log is not None and line:
            _take(log, line, f"{path}, line {number}")
    if log is not None:
        yield log


def _take(log: _Log, line: str, where: str) -> None:
    """One line: of the header, a total, or a counter of a record."""
    if line.startswith("# jobid:"):
        log.job = int(_number(line.partition(":")[2], where))
    elif line.startswith("# nprocs:"):
        log.processes = int(_number(line.partition(":")[2], where))
    elif line.startswith("total_"):
        name, _, value = line.removeprefix("total_").partition(":")
        if _counts(name):
            log.totals[name] = _number(value, where)
    elif not line.startswith("#"):
        parts = line.split("\t", 5)
        if len(parts) > 4 and _counts(parts[3]):
            log.records[parts[3]] = log.records.get(parts[3], 0.0) + max(_number(parts[4], where), 0.0)


def _counts(name: str) -> bool:
    return name.endswith(("_BYTES_READ", "_BYTES_WRITTEN", *(f"_{one}" for one in _TIMES)))


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{where}: {brief(text.strip())} is not a number; write the log as text again") from None


def _summaries(text: str, path: Path) -> pl.DataFrame:
    try:
        table = pl.read_csv(text.encode(), infer_schema=False)
    except PolarsError:
        table = pl.DataFrame()
    names = {name.strip().lower(): name for name in table.columns}
    found = {key: names[name] for key, known in _NAMES.items() for name in known[::-1] if name in names}
    lacking = [key for key in ("job", "read", "written") if key not in found]
    if lacking:
        raise InputError(
            f"{path}: neither text of darshan-parser nor a CSV file with columns job, read, written "
            f"and perhaps io_seconds; it lacks {', '.join(lacking)}"
        )
    kept = table.select(**{key: pl.col(name).str.strip_chars() for key, name in found.items()})
    numbers = kept.select(pl.all().cast(pl.Float64, strict=False))
    wrong = numbers.with_row_index("at").filter(pl.any_horizontal(pl.col("job", "read", "written").is_null()))
    if len(wrong):
        at = int(wrong["at"][0])
        raise InputError(f"{path}, line {at + 2}: {brief(', '.join(map(str, kept.row(at))))} are not all numbers")
    negative = numbers.with_row_index("at").filter(pl.min_horizontal("job", "read", "written") < 0)
    if len(negative):
        raise InputError(
            f"{path}, line {int(negative['at'][0]) + 2}: numbers below 0; bytes and jobs are counted from 0"
        )
    seconds = pl.col("io_seconds") if "io_seconds" in found else pl.lit(None, pl.Float64)
    return numbers.select(
        pl.col("job").cast(pl.Int64), "read", "written", seconds.fill_null(float("nan")).alias("io_seconds"),
        source=pl.lit(str(path)),
    ).select(*SCHEMA)  # fmt: skip
