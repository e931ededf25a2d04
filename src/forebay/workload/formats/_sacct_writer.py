"""A Workload as `sacct -P` would list it."""

import math
import re
from pathlib import Path

import polars as pl

from forebay._text import counted
from forebay.errors import InputError, brief
from forebay.workload import _cancelled, _source
from forebay.workload.names import column_of
from forebay.workload.workload import Workload

_COLUMNS = {"user": "UID", "group": "GID", "queue": "Partition", "account": "Account", "qos": "QOS"}
_NAMES = {"user": "User", "group": "Group"}
"""Columns of names, where they are not those of numbers."""


def content(workload: Workload, path: Path) -> tuple[str, list[str]]:
    """The file's text, with times in seconds since 1970, and notes on what it cannot hold."""
    jobs = workload.jobs
    odd = jobs.filter(~(pl.col("submit").is_finite() & pl.col("run_time").is_finite()) | (pl.col("run_time") <= 0))
    if len(odd):
        raise InputError(f"{path}: job {odd['id'][0]} has no run time in seconds; write .json (Batsim) instead")
    if len(jobs) and float(jobs["submit"][0]) + workload.epoch < 0:
        raise InputError(f"{path}: jobs arrive before 1970, which sacct cannot say; write .swf instead")
    cancelled = _cancelled.untimed(jobs)
    who = _who(workload, path)
    started = "recorded_start" in jobs.columns and not (jobs["recorded_start"].is_nan() & ~cancelled).any()
    head = ["JobID", "Submit", "ElapsedRaw", "Timelimit", "NNodes", *(name for name, _ in who), "Priority"]
    lines = ["|".join(head) + "|Start" * started + "|End|State" * cancelled.any()]
    for job, withdrawn, *called in zip(
        jobs.iter_rows(named=True), cancelled, *(words for _, words in who), strict=True
    ):
        submit, run = job["submit"] + workload.epoch, 0.0 if withdrawn else job["run_time"]
        times = (_plain(submit), _plain(run), _limit(job["walltime"]))
        words = [str(job["id"]), *times, str(job["nodes"]), *(word or "" for word in called), _plain(job["priority"])]
        if started:
            words.append("Unknown" if withdrawn else _plain(job["recorded_start"] + workload.epoch))
        if cancelled.any():
            words += [_plain(submit + job["cancel"]), "CANCELLED"] if withdrawn else ["Unknown", "COMPLETED"]
        lines.append("|".join(words))
    lost = {name: int((jobs[name] != 0).sum()) for name in ("flop", "communication", *_source.demands(workload))}
    notes = [f"{name} of {counted(count, 'job')} is not written" for name, count in lost.items() if count]
    notes += _cancelled.written_notes(jobs)
    if workload.legs is not None or workload.phases is not None:
        notes.append("legs and phases are not written: sacct has jobs only")
    notes += _source.application_notes(workload)
    if "recorded_start" in jobs.columns and not started:
        notes.append("recorded starts are not written: some are unknown, and to sacct such a job never started")
    if workload.platform is not None:
        notes.append(f"the platform {workload.platform!r} is not kept: name it again when you simulate")
    return "\n".join(lines) + "\n", notes


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def _limit(seconds: float) -> str:
    if math.isinf(seconds):
        return "UNLIMITED"
    hours, rest = divmod(seconds, 3600)
    return f"{int(hours):02d}:{int(rest // 60):02d}:{_plain(rest % 60)}"


def _who(workload: Workload, path: Path) -> list[tuple[str, pl.Series]]:
    """Columns that tell whose jobs they are: numbers, and names where numbers have them."""
    found = []
    for column, name in _COLUMNS.items():
        if column not in workload.jobs.columns:
            continue
        names = workload.names.get(column, {})
        odd = next((one for one in names.values() if re.search(r"[|\r\n\0]", one) or one != one.strip()), None)
        if odd is not None:
            raise InputError(
                f"{path}: the {column} {brief(odd)} cannot be written: sacct divides columns by '|', and quotes "
                "nothing; write .parquet.zip instead"
            )
        numbers = workload.jobs[column]
        if column in _NAMES or not names:
            found.append((name, numbers.cast(pl.String).set(numbers < 0, None)))
        if names:
            found.append((_NAMES.get(column, name), column_of(workload.jobs, workload.names, column)))
    return found
