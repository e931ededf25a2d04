"""Batsim's workload file, version 4: JSON with `jobs`, the `profiles` they name, and `nb_res`, the number of nodes.

Beyond Batsim's own words: `bb` in a profile is burst buffer, bytes a node (Kopański & Rządca 2021); `priority`, `user`,
`group`, `queue`, `account`, `qos`, `recorded_start` and `cancel` (when its user withdraws it, in seconds after
`subtime`) in a job, and `epoch` and `names` beside `nb_res`, are kept. Batsim itself ignores all of these.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from forebay._support.text import counted
from forebay.core.schemas import MORE, NAMED, PHASE_SCHEMA, UNKNOWN
from forebay.errors import InputError, brief, listed
from forebay.workload import _source
from forebay.workload._checks.jobs import checked
from forebay.workload.formats import _batsim_writer as writer
from forebay.workload.formats._batsim_profiles import FILE_SYSTEM, Profiles, Work
from forebay.workload.formats._json_values import member, names_in, number, parse, whole
from forebay.workload.names import only
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "Batsim's JSON workload, version 4, with burst buffers in its profiles"
SUFFIXES = (".json", ".json.gz")

_IN_BUFFER = ("stage_in", "fetch", "checkpoint", "stage_out")
_JOB_KEYS = {"id", "subtime", "walltime", "res", "profile", "priority", "cancel", "own", *NAMED, *MORE}


def matches(head: bytes) -> bool:
    """Whether a file that begins so looks like a JSON object."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def read(path: Path) -> Workload:
    """The jobs of a Batsim workload, packed or not.

    A job without nodes or without work is left out. Submits move so that the first job arrives at 0; the epoch keeps
    what they were. A composed profile, and one that moves data from or to storage, becomes phases; sums of them are the
    job's own `run_time`, `flop`, `communication`.
    """
    source = _source.load(path)
    document = _document(source)
    entries = document["jobs"]
    ids, notes = _ids(entries, path)
    found = _found(ids, entries, Profiles(document["profiles"], path, len(entries)), path)
    if not found.rows:
        why = f": all {len(entries):,} entries are left out ({_source.dropped_text(found.dropped)})" if entries else ""
        raise InputError(f"{path}: holds no job{why}; list jobs that have nodes and work in 'jobs'")
    jobs = _table(found.rows, path)
    notes += [*_notes(entries, found), *_source.order_notes(jobs["submit"])]
    jobs, first = _source.in_order(jobs)
    made = Workload(
        name=source.stem(SUFFIXES),
        jobs=jobs,
        phases=pl.DataFrame(found.phases, PHASE_SCHEMA, orient="row") if found.phases else None,
        epoch=number(document.get("epoch", 0), str(path), "epoch") + first,
        platform=_platform(document, path),
        records=len(entries),
        dropped=dict(found.dropped),
        notes=tuple(notes),
        provenance=(f"read {source.name} (Batsim JSON, {counted(len(entries), 'record')})",),
        sha256=source.sha256,
        names=only(names_in(document, str(path)), jobs),
    )
    return checked(made, path)


def _document(source: _source.Source) -> dict[str, Any]:
    path = source.path
    document = parse(source.data, str(path))
    if not isinstance(document, dict):
        raise InputError(f"{path}: must be an object with 'jobs' and 'profiles', not {brief(document)}")
    for key, kind, word in (("jobs", list, "a list"), ("profiles", dict, "an object")):
        if not isinstance(member(document, key, str(path)), kind):
            raise InputError(f"{path}: {key!r} is {brief(document[key])}; it must be {word}")
    return document


def _ids(entries: list[Any], path: Path) -> tuple[list[int], list[str]]:
    """A whole number for each job: its id, the part after `!`, or, if that fails for any job, its place in the file."""
    texts: dict[str, int] = {}
    for place, entry in enumerate(entries, 1):
        where = f"{path}: entry {place} of 'jobs'"
        if not isinstance(entry, dict):
            raise InputError(f"{where} is {brief(entry)}; it must be an object")
        own = member(entry, "id", where)
        if isinstance(own, bool) or not isinstance(own, int | str):
            raise InputError(f"{where}: 'id' is {brief(own)}; it must be a whole number or text")
        if str(own) in texts:
            raise InputError(f"{where}: its id {brief(own)} is taken by entry {texts[str(own)]}; ids must be unique")
        texts[str(own)] = place
    numbers = [re.fullmatch(r"(?:.*!)?([+-]?[0-9]{1,18})", text) for text in texts]
    ids = [int(found[1]) for found in numbers if found]
    if len(set(ids)) == len(entries):
        return ids, []
    return list(range(1, len(entries) + 1)), ["job ids are not distinct whole numbers: numbered 1, 2, ... as listed"]


@dataclass
class _Found:
    rows: list[dict[str, Any]] = field(default_factory=list)
    phases: list[tuple[Any, ...]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    uneven: int = 0  # jobs whose nodes differ
    at_once: int = 0  # jobs that read while they write
    unheld: int = 0  # jobs that move data to or from a burst buffer of which they ask for nothing
    files: set[str] = field(default_factory=set)  # names of storages that are no burst buffer


def _found(ids: list[int], entries: list[Any], profiles: Profiles, path: Path) -> _Found:
    found = _Found()
    for job, entry in zip(ids, entries, strict=True):
        row, work = _job(job, entry, profiles, f"{path}: job {brief(entry['id'])}")
        if work is None or not (row["run_time"] or row["flop"] or any(step.bytes for step in work.steps)):
            found.dropped["no nodes" if work is None else "no work"] += 1
            continue
        found.rows.append(row)
        found.uneven += work.uneven
        found.at_once += work.at_once
        found.unheld += not work.bb and any(step.kind in _IN_BUFFER for step in work.steps)
        found.files |= work.files
        if work.phased:
            found.phases += [
                (job, 0, step.kind, step.seconds, step.flop, step.communication, step.bytes, None)
                for step in work.steps
            ]
    return found


def _job(job: int, entry: Mapping[str, Any], profiles: Profiles, where: str) -> tuple[dict[str, Any], Work | None]:
    """One job's row and work; no work if it asks for no nodes."""
    submit = number(member(entry, "subtime", where), where, "subtime")
    nodes = whole(member(entry, "res", where), where, "res")
    profile = member(entry, "profile", where)
    if not isinstance(profile, str):
        raise InputError(f"{where}: 'profile' is {brief(profile)}; it must be the name of a profile, as text")
    row: dict[str, Any] = {"id": job, "submit": submit, "walltime": _walltime(entry.get("walltime"), where)}
    row["nodes"] = nodes
    row["priority"] = number(entry.get("priority", 0), where, "priority")
    for key in ("user", "group", "queue"):
        row[key] = whole(entry.get(key, -1), where, key)
    row["cancel"] = _cancel(entry.get("cancel"), where)
    for key in (key for key, dtype in MORE.items() if dtype == pl.Int64):
        row[key] = whole(entry[key], where, key) if key in entry else None
    row["recorded_start"] = (
        number(entry["recorded_start"], where, "recorded_start") if "recorded_start" in entry else None
    )
    row["own"] = _own(entry.get("own", {}), where)
    if nodes <= 0:
        return row, None
    work = profiles.work(profile, nodes, where)
    row["run_time"] = sum(step.seconds for step in work.steps)
    row["flop"] = sum(step.flop for step in work.steps)
    row["communication"] = sum(step.communication for step in work.steps)
    row["burst_buffer"] = None if work.bb is None else whole(work.bb * nodes, where, "bb times res")
    return row, work


def _own(values: Any, where: str) -> dict[str, str | float]:
    """What a job says beyond what Batsim knows: numbers and text by name."""
    if not isinstance(values, dict):
        raise InputError(f"{where}: 'own' is {brief(values)}; it must be an object of numbers and text")
    return {name: value if isinstance(value, str) else number(value, where, name) for name, value in values.items()}


def _walltime(value: Any, where: str) -> float:
    if value is None:
        return float("inf")
    seconds = number(value, where, "walltime")
    if seconds == 0:
        raise InputError(f"{where}: 'walltime' is 0; give seconds, or -1 for no limit")
    return seconds if seconds > 0 else float("inf")


def _cancel(value: Any, where: str) -> float:
    seconds = float("inf") if value is None else number(value, where, "cancel")
    if seconds <= 0:
        raise InputError(f"{where}: 'cancel' is {brief(value)}; give seconds after its submission, or leave it out")
    return seconds


def _table(rows: list[dict[str, Any]], path: Path) -> pl.DataFrame:
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0] if name != "own"}
    own = list(dict.fromkeys(name for row in rows for name in row["own"]))
    taken = [name for name in own if name in columns]
    if taken:
        raise InputError(f"{path}: 'own' of a job has {taken[0]!r}, which jobs have as a key of their own; rename it")
    columns |= {name: _alike([row["own"].get(name) for row in rows]) for name in own}
    for name, else_ in (("burst_buffer", 0), *UNKNOWN.items()):
        if name not in columns:
            continue
        if all(value is None for value in columns[name]):
            del columns[name]
        else:
            columns[name] = [else_ if value is None else value for value in columns[name]]
    return job_table(columns, own)


def _alike(values: list[str | float | None]) -> list[str | None] | list[float | None]:
    """Numbers as they are; with any text among them, all of it as text."""
    if any(isinstance(value, str) for value in values):
        return [None if value is None else str(value) for value in values]
    return [None if value is None else float(value) for value in values]


def _notes(entries: list[Any], found: _Found) -> list[str]:
    notes = []
    if found.uneven:
        notes.append(
            f"{counted(found.uneven, 'job has', 'jobs have')} unequal nodes: all compute as the busiest does and send "
            "the mean over pairs"
        )
    if found.at_once:
        who = counted(found.at_once, "job reads and writes", "jobs read and write")
        notes.append(f"{who} a storage at once: here reading comes first, then writing")
    if found.files - {FILE_SYSTEM}:
        are = "is" if len(found.files) == 1 else "are all"
        notes.append(f"storage: {listed(sorted(found.files), 5)} {are} taken as the machine's one file system")
    if found.unheld:
        who = counted(found.unheld, "job uses", "jobs use")
        notes.append(f"{who} a burst buffer that no profile of theirs asks for: give the profiles 'bb'")
    unused = sorted({key for entry in entries for key in entry} - _JOB_KEYS)
    if unused:
        notes.append(f"keys of jobs that are not read: {listed(unused)}")
    return notes


def _platform(document: Mapping[str, Any], path: Path) -> str | None:
    if document.get("nb_res") is None:
        return None
    n_nodes = whole(document["nb_res"], str(path), "nb_res")
    if n_nodes < 1:
        raise InputError(f"{path}: 'nb_res' is {n_nodes}; a machine has at least one node")
    return f"flat:nodes={n_nodes}"


def write(workload: Workload, path: Path) -> list[str]:
    """Write a Batsim workload; returns what it cannot hold."""
    content, notes = writer.content(workload, path)
    _source.save(path, content.encode())
    return notes
