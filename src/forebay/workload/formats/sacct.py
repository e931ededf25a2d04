"""Slurm's accounting: `sacct -P` output, or CSV with its column names in a header; any columns that suffice."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from forebay._text import counted
from forebay.core.schemas import MORE
from forebay.core.units import INT64_MAX
from forebay.errors import InputError, brief, listed
from forebay.workload import _cancelled, _source
from forebay.workload._rules import MOST_NODES
from forebay.workload._valid import checked
from forebay.workload.formats import _sacct_values as values
from forebay.workload.formats import _sacct_writer as writer
from forebay.workload.formats._sacct_rows import Row, is_header, rows
from forebay.workload.names import numbered
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "Slurm accounting: `sacct -P` output, or CSV with its column names in a header"
SUFFIXES = (".sacct", ".sacct.gz")

_WAITING = {"PENDING": "still pending", "RUNNING": "still running", "SUSPENDED": "still running"}
_NODES = ("NNodes", "AllocNodes", "ReqNodes")
_CPUS = ("NCPUS", "AllocCPUS", "ReqCPUS")
_JOB = (
    *("name", "submit", "run_time", "nodes", "start", "walltime", "priority", "cancel"),
    *("user", "group", "queue", "account", "qos"),
)


def matches(head: bytes) -> bool:
    """Whether a file that begins so has sacct's column names in its first line."""
    first = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    return is_header(first.decode("utf-8", "replace"))


def read(path: Path, cancelled: str = "drop") -> Workload:
    """The jobs of a sacct listing, packed or not: those that started and ended; steps are left out.

    A job arrives when it was eligible, else when submitted. The machine is as large as the most nodes in use at once.
    With `cancelled="keep"`, jobs that never started are kept if it is known when they were cancelled: at their end.
    """
    source = _source.load(path)
    columns, lines = rows(source)
    found = _Found(keep_cancelled=cancelled == "keep")
    for row in lines:
        found.add(row)
    if not found.demands:
        why = f": {counted(found.records, 'record')} left out ({_source.dropped_text(found.dropped)})"
        raise InputError(f"{path}: holds no job{why if found.records else ''}; list jobs that have ended")
    resources = dict.fromkeys(name for needs in found.demands for name in needs)  # in order of appearance
    table: dict[str, Any] = found.jobs | {name: [needs.get(name, 0) for needs in found.demands] for name in resources}
    table["id"], notes = _ids(table.pop("name"), found.largest)
    names = {}
    for name in ("user", "group", "queue", "account", "qos"):
        table[name], names[name] = numbered(table[name], found.shown.get(name, {}))
        if name in MORE and (table[name] < 0).all():
            del table[name], names[name]
    starts = table.pop("start")
    platform, sized = _machine(starts, table)
    table |= _recorded(starts, table["cancel"])
    jobs = job_table(table)
    jobs, first = _source.in_order(jobs)
    made = Workload(
        name=source.stem((*SUFFIXES, ".csv", ".csv.gz", ".txt", ".txt.gz")),
        jobs=jobs,
        epoch=first,
        platform=platform,
        records=found.records,
        dropped=dict(found.dropped),
        notes=(*notes, *found.notes(columns), *sized),
        provenance=(f"read {source.name} (sacct, {counted(found.records, 'record')})",),
        sha256=source.sha256,
        names={name: known for name, known in names.items() if known},
    )
    return checked(made, path)


@dataclass
class _Found:
    """What the rows so far have given."""

    keep_cancelled: bool = False
    jobs: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _JOB})
    demands: list[dict[str, int]] = field(default_factory=list)  # of each job
    shown: dict[str, dict[str, str]] = field(default_factory=lambda: {"user": {}, "group": {}})  # names by number
    tres: dict[str, dict[str, str]] = field(default_factory=dict)  # by how it is written: most jobs ask alike
    dropped: Counter[str] = field(default_factory=Counter)
    records: int = 0
    way: tuple[str, str] | None = None  # how times are written, and where that was first seen
    endless: Counter[str] = field(default_factory=Counter)
    cpus_for_nodes: int = 0
    kept: int = 0  # jobs that were cancelled before they started
    whole_arrays: int = 0  # kept records such as 123_[4-9], which stand for several tasks
    largest: int = 0  # job number of any record, also of one that is left out

    def add(self, row: Row) -> None:
        """Keep the row's job, or count why not."""
        self.records += 1
        name = row["JobID"] or row["JobIDRaw"]
        if not name:
            raise InputError(f"{row.where}: the JobID is empty; every record has one")
        number = re.match(r"[0-9]{1,18}", row["JobIDRaw"] or name)
        self.largest = max(self.largest, int(number[0]) if number else 0)
        if "." in name:
            self.dropped["job step"] += 1
            return
        times = {column: self._moment(row, column) for column in ("Submit", "Eligible", "Start", "End")}
        submit = times["Submit"] if times["Eligible"] is None else times["Eligible"]
        reason, run = self._run_time(row, times)
        cancel = math.inf
        if reason == _cancelled.DROPPED and self.keep_cancelled:
            cancel = _withdrawn(submit, times["Start"], times["End"])
            reason = "" if math.isfinite(cancel) else _cancelled.UNTOLD
        if reason:
            self.dropped[reason] += 1
            return
        if submit is None:
            raise InputError(
                f"{row.where}: job {listed([name])} ran, but its Submit time is not known; correct or remove the line"
            )
        need = self._tres(row)
        nodes, cpus = self._size(row, need)
        if not nodes:
            self.dropped["no nodes"] += 1
            return
        if nodes > MOST_NODES:
            raise InputError(f"{row.where}: job {listed([name])} has {nodes} nodes, {MOST_NODES:,} at most; correct it")
        walltime = self._walltime(row)
        if math.isfinite(cancel):
            self.kept += 1
            self.whole_arrays += "[" in name
            run = walltime if math.isfinite(walltime) else cancel
        # JobIDRaw is a number for array tasks and components too.
        job = (row["JobIDRaw"] or name, submit, run, nodes, times["Start"], walltime, _priority(row), cancel)
        self.demands.append(_demands(row, need, nodes, cpus))
        for column, value in zip(self.jobs.values(), (*job, *self._who(row)), strict=True):
            column.append(value)

    def _who(self, row: Row) -> tuple[str, ...]:
        """What tells users, groups, queues, accounts and qualities of service apart; numbers keep their names too."""
        user, group, account = row["User"], row["Group"], row["Account"]
        uid, gid = row["UID"], row["GID"]
        if uid and user:
            self.shown["user"].setdefault(uid, user)
        if gid and group:
            self.shown["group"].setdefault(gid, group)
        return uid or user, gid or group or account, row["Partition"], account, row["QOS"]

    def _tres(self, row: Row) -> dict[str, str]:
        """What was requested, and over that what was given."""
        found: dict[str, str] = {}
        for column in ("ReqTRES", "AllocTRES"):
            text = row[column]
            if text not in self.tres:
                self.tres[text] = values.tres(text, row.where, column)
            found |= self.tres[text]
        return found

    def _size(self, row: Row, need: dict[str, str]) -> tuple[int | None, int | None]:
        """Nodes and CPUs; they are taken out of `need`."""
        cpus = _first_count(row, _CPUS, need.pop("cpu", ""))
        nodes = _first_count(row, _NODES, need.pop("node", ""))
        if nodes is None and cpus:
            self.cpus_for_nodes += 1
            nodes = cpus
        return nodes, cpus

    def _moment(self, row: Row, column: str) -> float | None:
        text = row[column]
        if text == "0" and column != "Submit":
            return None  # the database's own word for "not yet"
        found = values.moment(text, row.where, column)
        if found is None:
            return None
        seconds, way = found
        if self.way is None:
            self.way = way, row.where.rpartition(": ")[2]
        elif way != self.way[0]:
            raise InputError(
                f"{row.where}: {column} is {way}, but times from {self.way[1]} on were {self.way[0]}; "
                "write all in one way (SLURM_TIME_FORMAT)"
            )
        return seconds

    def _run_time(self, row: Row, times: dict[str, float | None]) -> tuple[str, float]:
        """Why a job is of no use ("" if it is), and how long it ran."""
        state = (row["State"].split() or [""])[0].rstrip("+").upper()
        if state in _WAITING:
            return _WAITING[state], 0.0
        start, end = times["Start"], times["End"]
        if row["ElapsedRaw"]:
            run = values.fitting(_number(row, "ElapsedRaw"), row["ElapsedRaw"], row.where, "ElapsedRaw")
        elif row["Elapsed"]:
            run = values.duration(row["Elapsed"], row.where, "Elapsed")
        else:
            run = end - start if start is not None and end is not None else 0.0
        if "Start" in row.values and start is None:
            return _cancelled.DROPPED if state.startswith("CANCELLED") else "never started", 0.0
        if not run > 0:
            return _cancelled.DROPPED if state.startswith("CANCELLED") else "run time not positive", 0.0
        return "", run

    def _walltime(self, row: Row) -> float:
        column = "TimelimitRaw" if row["TimelimitRaw"] else "Timelimit"
        limit = values.time_limit(row[column], row.where, column)
        if math.isinf(limit):
            self.endless[row[column] or "none given"] += 1
        return limit

    def notes(self, columns: set[str]) -> list[str]:
        """What the user should know of the jobs."""
        notes = []
        if not {"Timelimit", "TimelimitRaw"} & columns:
            notes.append("no column Timelimit: unless a model adds walltimes, nothing says when a job ends")
        elif self.endless:
            words = ", ".join(f"{count:,} {word}" for word, count in self.endless.items())
            notes.append(
                f"{counted(self.endless.total(), 'job')} without a time limit ({words}): the walltime is infinite"
            )
        if self.cpus_for_nodes:
            notes.append(
                f"{counted(self.cpus_for_nodes, 'job')} without a number of nodes: each CPU is taken as a node"
            )
        if self.way and self.way[0] == values.CALENDAR:
            notes.append("dates without a time zone are taken as UTC: a change to summer time shows as an hour's jump")
        if any("memory" in needs for needs in self.demands):
            notes.append(_source.MEMORY_NOTE)
        notes += _cancelled.kept_notes(self.kept)
        if self.whole_arrays:
            notes.append(
                f"{self.whole_arrays:,} of these stand for several array tasks each, but are one job here: "
                "`sacct --array` lists each task"
            )
        return notes


def _withdrawn(submit: float | None, start: float | None, end: float | None) -> float:
    """How long after its arrival a job was cancelled that never ran; infinite where that is not known."""
    if submit is None or end is None or end <= submit or (start is not None and start < end):
        return math.inf
    return end - submit


def _number(row: Row, column: str) -> float:
    try:
        number = float(row[column])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{row.where}: {column} is {brief(row[column])}; it must be a number")
    return number


def _priority(row: Row) -> float:
    return 0.0 if row["Priority"].lower() in values.UNKNOWN else _number(row, "Priority")


def _first_count(row: Row, columns: tuple[str, ...], fallback: str) -> int | None:
    """The first of the columns that is above 0, else what TRES says."""
    for column in columns:
        number = values.count(row[column], row.where, column)
        if number:
            return number
    return values.count(fallback, row.where, "TRES")


def _demands(row: Row, need: dict[str, str], nodes: int, cpus: int | None) -> dict[str, int]:
    """A job's totals of memory, burst buffers, licences and generic resources (GPUs)."""
    found: Counter[str] = Counter()
    for name, amount in need.items():
        kind, _, which = name.partition("/")
        if kind == "bb":
            found["burst_buffer"] += values.memory(amount, nodes, cpus, row.where, name)
        elif name == "gres/gpumem":  # an amount, though its kind is otherwise counted
            found["gres_gpumem"] += values.memory(amount, nodes, cpus, row.where, name)
        elif kind == "mem":
            found["memory"] += values.memory(amount, nodes, cpus, row.where, name)
        elif kind in {"license", "gres"} and ":" not in which:  # gres/gpu:a100 is part of gres/gpu
            found[re.sub(r"\W", "_", f"{kind}_{which}")] += values.count(amount, row.where, name) or 0
    if "mem" not in need and row["ReqMem"]:
        found["memory"] = values.memory(row["ReqMem"], nodes, cpus, row.where, "ReqMem")
    large = [name for name, amount in found.items() if amount > INT64_MAX]
    if large:
        raise InputError(f"{row.where}: {listed(large[:1])} is more than can be counted in 64 bits; correct it")
    return dict(found)


_RENUMBERED = {"requeued job": ", the later run", "component": " of heterogeneous jobs"}


def _ids(names: list[str], last: int) -> tuple[list[int], list[str]]:
    """Whole numbers: a job's own where it has one, else a new one beyond `last`, with notes on who got those."""
    plain = [int(name) if re.fullmatch(r"[0-9]{1,18}", name) else None for name in names]
    first, taken, ids = last + 1, set(), []
    renamed: Counter[str] = Counter()
    for name, number in zip(names, plain, strict=True):
        if number is not None and number not in taken:
            taken.add(number)
            ids.append(number)
            continue
        kind = "requeued job" if number is not None else "array task" if "_" in name else "other"
        renamed["component" if "+" in name else kind] += 1
        last += 1
        ids.append(last)
    notes = [
        f"{counted(count, kind)}{_RENUMBERED.get(kind, '')}: renumbered, from {first} on; each is a job of its own"
        for kind, count in renamed.items()
    ]
    return ids, notes


def _recorded(starts: list[float | None], cancel: list[float]) -> dict[str, Any]:
    """When jobs started on the machine, where any is known to; a job cancelled before never did."""
    known = np.where(np.isinf(cancel), np.array(starts, np.float64), np.nan)  # None becomes NaN
    return {} if np.isnan(known).all() else {"recorded_start": known}


def _machine(starts: list[float | None], table: dict[str, list[Any]]) -> tuple[str | None, list[str]]:
    """As many nodes as were in use at once, by the jobs that ran."""
    ran = np.isinf(table["cancel"])
    if not ran.any() or any(starts[k] is None for k in np.flatnonzero(ran)):
        why = "for lack of a column Start" if ran.any() else "as no job ran"
        return None, [_source.unknown_size(why)]
    begin, nodes = np.array(starts, np.float64)[ran], np.array(table["nodes"], np.int64)[ran]
    most = _source.most_in_use(begin, np.array(table["run_time"])[ran], nodes)
    return f"flat:nodes={most}", [_source.inferred_size(most)]


def write(workload: Workload, path: Path) -> list[str]:
    """Write what `sacct -P` would list, with times in seconds since 1970; returns what it cannot hold."""
    content, notes = writer.content(workload, path)
    _source.save(path, content.encode())
    return notes
