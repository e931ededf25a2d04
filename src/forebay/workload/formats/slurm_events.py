"""Events of the Slurm Simulator: a line a job, its time, its run time, and the options that sbatch was given.

Read only: what its simulator does with further events is not known here.
"""

import math
import re
import shlex
from pathlib import Path
from typing import Any

import polars as pl

from forebay._support.text import counted
from forebay.errors import InputError, brief
from forebay.workload import _source
from forebay.workload._bad_lines import BadLines
from forebay.workload._checks.jobs import checked
from forebay.workload.formats import _sacct_values as values
from forebay.workload.names import numbered
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "events of the Slurm Simulator, `-dt 10.5 -e submit_batch_job | ...`; read only"
SUFFIXES = (".events", ".events.gz")

_EVENT = re.compile(r"\s*-dt\s+(\S+)\s+-e\s+(\S+)\s*\|(.*)")
_SHORT = {
    **{"-N": "nodes", "-n": "ntasks", "-c": "cpus-per-task", "-t": "time", "-q": "qos", "-p": "partition"},
    **{"-A": "account", "-C": "constraint", "-J": "job-name", "-sim-walltime": "sim-walltime"},
}
_WORDS = {
    "user": "uid",
    "queue": "partition",
    "account": "account",
    "qos": "qos",
    "gpu": "gpu",
    "features": "constraint",
}
_FLAGS = frozenset({"exclusive"})


def matches(head: bytes) -> bool:
    """Whether a file that begins so has an event in its first line."""
    return bool(_EVENT.match(head.split(b"\n", 1)[0].decode("utf-8", "replace")))


def write(workload: Workload, path: Path) -> list[str]:
    """Refuses: events are read only."""
    raise InputError(f"{path}: events of the Slurm Simulator are read, not written; end the name in .parquet.zip")


def read(path: Path, skip_bad_lines: bool = False) -> Workload:
    """The jobs that events submit. No start is recorded, and second 0 is that of the events."""
    source = _source.load(path)
    bad = BadLines(path, skip_bad_lines)
    rows: list[dict[str, Any]] = []
    dropped: dict[str, int] = {}
    records = 0
    for number, line in enumerate(source.data.decode("utf-8", "replace").split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        records += 1
        try:
            row = _job(line)
        except InputError as error:
            bad.add([(number, str(error))])
            continue
        reason = "no submission of a job" if row is None else "run time not positive" if row["run_time"] <= 0 else ""
        if reason:
            dropped[reason] = dropped.get(reason, 0) + 1
        else:
            rows.append({"id": len(rows) + 1} | (row or {}))
    if not rows:
        raise InputError(f"{path}: holds no job{f' ({_source.dropped_text(dropped)})' if dropped else ''}")
    jobs, names = _table(pl.DataFrame(rows, infer_schema_length=None))
    jobs, first = _source.in_order(jobs)
    more = (_source.MEMORY_NOTE,) if "memory" in jobs.columns else ()
    made = Workload(
        name=source.stem((*SUFFIXES, ".txt", ".gz")),
        jobs=jobs,
        epoch=first,
        records=records,
        dropped=dropped | bad.dropped(),
        notes=(*bad.notes(), _source.unknown_size("for events record no start"), *more),
        provenance=(f"read {source.name} (events of the Slurm Simulator, {counted(records, 'record')})",),
        sha256=source.sha256,
        names=names,
    )
    return checked(made, path)


def _job(line: str) -> dict[str, Any] | None:
    """The job that an event submits; None for events of another kind."""
    found = _EVENT.match(line)
    if not found:
        raise InputError(f"{brief(line.strip())} is no event; write -dt 10.5 -e submit_batch_job | -sim-walltime ...")
    if found[2] != "submit_batch_job":
        return None
    given = _options(found[3])
    if "sim-walltime" not in given:
        raise InputError("no -sim-walltime tells how long the job runs; add it")
    nodes = _count(given, "nodes", 1)
    gpu, gpus = _gpus(given.get("gres", ""))
    size = _of("mem", values.memory, given.get("mem", ""))[0] * nodes
    cores = _count(given, "ntasks", nodes) * _count(given, "cpus-per-task", 1)
    return {
        "submit": _of("dt", values.number, found[1]),
        "run_time": _of("sim-walltime", values.number, given["sim-walltime"]),
        "walltime": _of("time", values.time_limit, given.get("time", "")),
        "nodes": nodes,
        "cores": cores,
        "gpus": gpus * nodes,
        "memory": round(size or cores * _of("mem-per-cpu", values.memory, given.get("mem-per-cpu", ""))[0]),
        "exclusive": int(given.get("exclusive") == ""),
        **{column: given.get(option, "") for column, option in _WORDS.items()},
        "gpu": gpu,
    }


def _options(text: str) -> dict[str, str]:
    """Options of sbatch by their long names, up to the script; of one that is given twice the last counts."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise InputError("a quote is open to the end of the line; close it") from None
    found: dict[str, str] = {}
    place = 0
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        name, equals, value = word.removeprefix("--").partition("=")
        if word in _SHORT or not word.startswith("--"):
            name = _SHORT.get(word, word)
        if not equals and name not in _FLAGS:
            place += 1
            value = words[place] if place < len(words) else ""
        found[name] = value
        place += 1
    return found


def _of(name: str, read: Any, text: str) -> Any:
    try:
        return read(text)
    except values.UnreadableError as error:
        raise InputError(f"{name} {error}") from None


def _count(given: dict[str, str], name: str, usual: int) -> int:
    least = given.get(name, "").partition("-")[0]  # --nodes may be a range
    return int(_of(name, values.count, least) or usual)


def _gpus(gres: str) -> tuple[str, int]:
    """The type of GPUs and how many a node gives, of `gpu:v100:2`."""
    for one in gres.split(","):
        kind, *rest = one.split(":")
        if kind.removeprefix("gres/") == "gpu":
            many = rest.pop() if rest and rest[-1].isdecimal() else "1"
            return (rest[0] if rest else ""), int(_of("gres", values.count, many) or 0)
    return "", 0


def _table(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, dict[int, str]]]:
    """A job table, without columns that say nothing."""
    names: dict[str, dict[int, str]] = {}
    for column in _WORDS:
        every = frame[column].unique(maintain_order=True)
        coded, known = numbered(list(every), {})
        if (coded >= 0).any():
            codes = frame[column].replace_strict(every, coded, return_dtype=pl.Int64)
            frame, names[column] = frame.with_columns(codes.alias(column)), known
        else:
            frame = frame.drop(column)
    empty = [name for name in ("gpus", "memory", "exclusive") if not (frame[name] > 0).any()]
    kept = {column: known for column, known in names.items() if known}
    return job_table(frame.drop(empty).with_columns(pl.col("walltime").fill_null(math.inf))), kept
