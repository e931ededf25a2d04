"""Microsoft's Philly traces (Jeon et al., USENIX ATC 2019): `cluster_job_log`, GPU jobs with their attempts, as JSON.

Read only: servers and attempts of a job have no place in a workload.
"""

import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forebay._support.text import counted
from forebay.errors import InputError, brief
from forebay.workload import _source
from forebay.workload._bad_lines import BadLines
from forebay.workload._checks.jobs import checked
from forebay.workload.formats._json_values import member, parse, text
from forebay.workload.names import numbered
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "Microsoft's Philly traces, cluster_job_log; read only, known by its content"
SUFFIXES = ()

_ENDINGS = (".json", ".json.gz", ".gz")
_CLAIMS = re.compile(rb'"(vc|attempts|submitted_time|jobid)"\s*:')
_LEAST = 2
"""So many different keys of a first job: others have a jobid, too."""
_TIME = "%Y-%m-%d %H:%M:%S"


def matches(head: bytes) -> bool:
    """Whether a file that begins so looks like the log."""
    return claims(head)


def claims(head: bytes) -> bool:
    """Whether a file that begins so is the log, whatever its name: Batsim's and Slurm's files are JSON, too."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return first.startswith(b"[") and len(set(_CLAIMS.findall(first))) >= _LEAST


def write(workload: Workload, path: Path) -> list[str]:
    """Refuses: the log is read only."""
    raise InputError(f"{path}: Philly's log is read, not written; end the name in .parquet.zip")


def read(path: Path, skip_bad_lines: bool = False) -> Workload:
    """Jobs with the GPUs and servers of their last attempt. They run as long as their attempts together.

    They have no walltime. A job is known by its place in the log: 1, 2, ...
    """
    source = _source.load(path)
    document = parse(source.data, str(path))
    if not isinstance(document, list):
        raise InputError(f"{path}: is {brief(document)}; Philly's log is a list of jobs")
    bad, dropped, rows = BadLines(path, skip_bad_lines, "job"), dict[str, int](), list[dict[str, Any]]()
    for place, job in enumerate(document, 1):
        try:
            row = _row(job)
        except InputError as error:
            bad.add([(place, str(error))])
            continue
        if isinstance(row, str):
            dropped[row] = dropped.get(row, 0) + 1
        else:
            rows.append({"id": place, **row})
    if not rows:
        raise InputError(f"{path}: holds no job{f' ({_source.dropped_text(dropped)})' if dropped else ''}")
    columns, names = {key: [row[key] for row in rows] for key in rows[0]}, {}
    for column in ("user", "queue"):
        coded, known = numbered(columns[column], {})
        of = dict(zip(columns[column], coded, strict=True)) if len(coded) == len(columns[column]) else {}
        columns[column], names[column] = [of[word] for word in columns[column]], known
    jobs, first = _source.in_order(job_table(columns))
    repeated = sum(len(job.get("attempts", ())) > 1 for job in document if isinstance(job, dict))
    note = f"{counted(repeated, 'job')} had several attempts: the run time is that of all"
    made = Workload(
        name=source.stem(_ENDINGS),
        jobs=jobs,
        epoch=first,
        records=len(document),
        dropped=dropped | bad.dropped(),
        notes=(*bad.notes(), _source.unknown_size("for the log names no machine"), *([note] if repeated else [])),
        provenance=(f"read {source.name} (Philly's log, {counted(len(document), 'record')})",),
        sha256=source.sha256,
        names={column: known for column, known in names.items() if known},
    )
    return checked(made, path)


def _row(job: Any) -> dict[str, Any] | str:
    """What a workload has of a job, or why it has none."""
    if not isinstance(job, dict):
        raise InputError(f"is {brief(job)}; it must be an object")
    submit = _moment(member(job, "submitted_time", "it"), "submitted_time")
    attempts = member(job, "attempts", "it")
    if not isinstance(attempts, list) or not all(isinstance(one, dict) for one in attempts):
        raise InputError(f"'attempts' is {brief(attempts)}; it must be a list of objects")
    spans = [
        (_moment(one.get("start_time"), "start_time"), _moment(one.get("end_time"), "end_time")) for one in attempts
    ]
    begun = [(start, end) for start, end in spans if not math.isnan(start)]
    if math.isnan(submit):
        return "no time of submission"
    if not begun:
        return "never started"
    if any(math.isnan(end) for _, end in begun):
        return "still running when the log ends"
    run = sum(end - start for start, end in begun)
    servers = next((found for one in reversed(attempts) if (found := _servers(one))), [])
    gpus = sum(servers)
    if run <= 0 or not gpus:
        return "run time not positive" if run <= 0 else "no GPUs"
    return {
        "submit": submit,
        "walltime": math.inf,
        "run_time": run,
        "nodes": len(servers),
        "gpus": gpus,
        "exclusive": 0,
        "recorded_start": begun[0][0],
        "user": text(job.get("user") or "", "it", "user"),
        "queue": text(job.get("vc") or "", "it", "vc"),
    }


def _servers(attempt: dict[str, Any]) -> list[int]:
    """How many GPUs an attempt had on each of its servers."""
    detail = attempt.get("detail") or []
    if not isinstance(detail, list) or not all(isinstance(one, dict) for one in detail):
        raise InputError(f"'detail' is {brief(detail)}; it must be a list of servers with their gpus")
    return [len(one.get("gpus") or ()) for one in detail]


def _moment(value: Any, key: str) -> float:
    """Unix time of "2017-10-09 07:02:19"; NaN where there is none."""
    if value in (None, "", "None"):
        return math.nan
    try:
        return datetime.strptime(text(value, "it", key), _TIME).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise InputError(f"{key!r} is {brief(value)}; write it as 2017-10-09 07:02:19") from None
