"""Slurm's accounting: `sacct -P` output, CSV with its column names in a header, or `sacct --json`; any columns do that
suffice."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.schemas import MORE
from forebay.errors import InputError, listed
from forebay.workload import _cancelled, _source, _suggest, dependencies
from forebay.workload import _scontrol as scontrol
from forebay.workload._bad_lines import BadLines
from forebay.workload._checks.jobs import checked
from forebay.workload._source import machine_nodes
from forebay.workload.formats import _sacct_depends as depends
from forebay.workload.formats import _sacct_json as document
from forebay.workload.formats import _sacct_values as values
from forebay.workload.formats import _sacct_writer as writer
from forebay.workload.formats._sacct_jobs import CODED, Found, ids
from forebay.workload.formats._sacct_rows import is_header, is_headless, listing
from forebay.workload.formats._sacct_table import WAYS
from forebay.workload.names import numbered
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "Slurm accounting: `sacct -P` output, CSV with its column names in a header, or `sacct --json`"
SUFFIXES = (".sacct", ".sacct.gz")

COMMAND = """\
SLURM_TIME_FORMAT=%s sacct -P -a -X -D -S 2025-02-01 -E 2025-04-01 --format=JobID,JobIDRaw,UID,User,GID,Group,\\
Account,Partition,QOS,Priority,Submit,Eligible,Start,End,ElapsedRaw,Timelimit,NNodes,NCPUS,ReqMem,\\
ReqTRES,AllocTRES,Constraints,Reason,State > site.sacct
"""
"""What lists all that is of use, as every page has it."""

_OTHERS = (".csv", ".csv.gz", ".txt", ".txt.gz", ".json", ".json.gz")  # what such files are called, too
_OF = {"requeued job": ", the later run", "component": " of heterogeneous jobs"}
_OPTIONAL = {"cores": 0, "memory": 0, "gpus": 0, "exclusive": -1, "array": -1, "het": -1}
"""Columns that a table has only where a job says something else."""

Progress = Callable[[int, int], None]


def matches(head: bytes) -> bool:
    """Whether a file that begins so has sacct's column names in its first line, or a job where they should be."""
    first = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    return claims(head) or is_header(first) or is_headless(first)


def claims(head: bytes) -> bool:
    """Whether a file that begins so is what `sacct --json` or `scontrol show job` prints, whatever its name."""
    return document.looks_so(head) or scontrol.looks_so(head)


def read(
    path: Path, cancelled: str = "drop", skip_bad_lines: bool = False, progress: Progress | None = None
) -> Workload:
    """The jobs of a sacct listing, packed or not: those that started; steps are left out.

    A job arrives when it was eligible, else when submitted; one that waits for others, when it was submitted. The
    machine is as large as the most nodes in use at once. With `cancelled="keep"`, jobs that never started are kept if
    it is known when they were cancelled: at their end.
    """
    source = _source.load(path)
    if scontrol.looks_so(source.data[:4096]):
        source = scontrol.listing_of(source)
    lists = document.listing(source) if document.looks_so(source.data[:4096]) else listing(source)
    found = Found(lists.columns, lists.unit, cancelled == "keep", named=depends.SINGLETON.encode() in source.data)
    bad = BadLines(path, skip_bad_lines, lists.unit)
    mended: list[int] = []
    for block in lists.blocks:
        mended += block.mended
        bad.add(found.add(block))
        if progress is not None:
            progress(block.done, len(source.data))
    table = found.table()
    dropped = dict(found.dropped) | bad.dropped()
    if not len(table):
        why = f": {counted(found.records, 'record')} left out ({_source.dropped_text(dropped)})"
        raise InputError(f"{path}: holds no job{why if found.records else ''}; list jobs that have started")
    jobs, names, renamed = _jobs(table, found)
    waits, remarks = _dependencies(table, jobs["id"])
    ran = table["cancel"].is_infinite()
    platform, sized = _machine(table.filter(ran))
    jobs, first = _source.in_order(jobs)
    made = Workload(
        name=source.stem((*SUFFIXES, *_OTHERS)),
        jobs=jobs,
        epoch=first,
        platform=platform,
        records=found.records,
        dropped=dropped,
        notes=(*bad.notes(), *_mended(mended), *renamed, *_notes(found, jobs), *remarks, *sized),
        provenance=(f"read {source.name} (sacct, {counted(found.records, 'record')})",),
        sha256=source.sha256,
        names={name: known for name, known in names.items() if known},
        dependencies=waits,
    )
    more = _suggest.note(made, int(machine_nodes(platform) or 0))
    return checked(replace(made, notes=(*made.notes, *more)), path)


def _jobs(table: pl.DataFrame, found: Found) -> tuple[pl.DataFrame, dict[str, dict[int, str]], list[str]]:
    """The job table, what its numbers stand for, and notes on jobs that got a number of their own."""
    numbers, renamed = ids(table["id"], table["kind"], found.largest)
    notes = [
        f"{counted(count, kind)}{_OF.get(kind, '')}: renumbered, from {found.largest + 1} on; each is a job of its own"
        for kind, count in renamed
    ]
    columns: dict[str, Any] = {"id": numbers}
    columns |= {name: table[name] for name in ("submit", "walltime", "run_time", "nodes", "priority", "cancel")}
    names = {}
    for name in CODED:
        words = list(found.codes[name])  # "" first, whose code is -1
        coded, names[name] = numbered(words, found.shown.get(name, {}))
        columns[name] = coded.gather((table[name] + 1).cast(pl.UInt32))
        if name in MORE and (columns[name] < 0).all():
            del columns[name], names[name]
    columns |= {name: table[name] for name, neutral in _OPTIONAL.items() if (table[name] != neutral).any()}
    for one, part in (("array", "array_task"), ("het", "het_offset")):
        columns |= {part: table[part]} if one in columns else {}
    if found.limits and "array" in columns:
        limits = table["array"].replace_strict(found.limits, default=-1, return_dtype=pl.Int64)
        columns |= {"array_limit": limits} if (limits > 0).any() else {}
    start = table["start"].set(table["cancel"].is_finite(), None)  # a job cancelled before never did
    columns |= {} if start.is_null().all() else {"recorded_start": start.fill_null(np.nan)}
    if (table["recorded_reason"] != "").any():
        columns["recorded_reason"] = table["recorded_reason"]
    columns |= {name.partition(" ")[2]: table[name] for name in table.columns if name.startswith("amount ")}
    return job_table(columns, own=("recorded_reason",) if "recorded_reason" in columns else ()), names, notes


def _mended(lines: list[int]) -> list[str]:
    """A remark on rows in which a name holds the delimiter or the end of a line."""
    if not lines:
        return []
    which = ", ".join(f"{line:,}" for line in lines[:3]) + (", ..." if len(lines) > 3 else "")
    who = f"{counted(len(lines), 'row was', 'rows were')} put together again (line {which})"
    return [f"{who}: a value holds the delimiter or the end of a line, and only one reading fits the columns"]


def _dependencies(table: pl.DataFrame, numbers: pl.Series) -> tuple[pl.DataFrame | None, list[str]]:
    """Who may start only after whom, and notes on what is not kept."""
    columns = ("array", "array_task", "het", "user", "job name", "depends")
    waits, lost = depends.edges(table.select(*columns, raw="raw number").with_columns(id=numbers))
    missing, unnamed = lost.pop("missing", 0), lost.pop(depends.SINGLETON, 0)
    failed = lost.pop("afternotok", 0)
    notes = dependencies.lost_notes(missing)
    if failed:
        what = counted(failed, "dependency", "dependencies")
        notes.append(f"{what} of kind afternotok: read as afterany, for here nothing tells that a job will fail")
    if unnamed:
        what = counted(unnamed, "dependency", "dependencies")
        notes.append(f"{what} of kind singleton: not read, for want of a user and a name; list JobName, too")
    notes += [
        f"{counted(count, 'dependency', 'dependencies')} of kind {kind}: not read" for kind, count in lost.items()
    ]
    if waits is not None:
        who = counted(waits["job"].n_unique(), "job waits", "jobs wait")
        notes.append(f"{who} for others, {counted(len(waits), 'dependency', 'dependencies')} in all")
    return waits, notes


def _machine(ran: pl.DataFrame) -> tuple[str | None, list[str]]:
    """As many nodes as were in use at once, by the jobs that ran."""
    if not len(ran) or ran["start"].has_nulls():
        return None, [_source.unknown_size("for lack of a column Start" if len(ran) else "as no job ran")]
    most = _suggest.most_in_use(*(ran[name].to_numpy() for name in ("start", "run_time", "nodes")))
    return f"flat:nodes={most}", [_source.inferred_size(most)]


def _notes(found: Found, jobs: pl.DataFrame) -> list[str]:
    """What the user should know of the jobs."""
    notes, counts = [], found.counts
    if not {"Timelimit", "TimelimitRaw"} & found.columns:
        notes.append("no column Timelimit: unless a model adds walltimes, nothing says when a job ends")
    elif found.endless:
        words = ", ".join(f"{count:,} {word}" for word, count in found.endless.items())
        notes.append(
            f"{counted(found.endless.total(), 'job')} without a time limit ({words}): the walltime is infinite"
        )
    if counts["running"]:
        who = counted(counts["running"], "job was", "jobs were")
        notes.append(f"{who} still running: taken to run as long as the walltime, or without one as long as so far")
    if counts["component"]:
        who = counted(
            counts["component"],
            "component of a heterogeneous job is a job of its own",
            "components of heterogeneous jobs are jobs of their own",
        )
        notes.append(f"{who}: nothing here starts those of one job together")
    if counts["cpus for nodes"]:
        who = counted(counts["cpus for nodes"], "job")
        notes.append(f"{who} without a number of nodes: each CPU is taken as a node")
    if counts["mixed"]:
        notes.append(f"{counted(counts['mixed'], 'job')} with GPUs of several types: taken as of any type")
    if len(found.clusters) > 1:
        names = listed(sorted(found.clusters))
        who = f"jobs of {len(found.clusters)} clusters ({names})"
        notes.append(f"{who} stand here as of one machine: list one with `sacct -M NAME`")
    if found.way and WAYS[found.way[0]] == values.CALENDAR:
        notes.append("dates without a time zone are taken as UTC: a change to summer time shows as an hour's jump")
    if "memory" in jobs.columns:
        notes.append(_source.MEMORY_NOTE)
    notes += _cancelled.kept_notes(counts["withdrawn"])
    if counts["whole arrays"]:
        notes.append(
            f"{counts['whole arrays']:,} of these stand for several array tasks each, but are one job here: the list "
            "of tasks is cut short; `sacct --array` lists each task"
        )
    return notes


def write(workload: Workload, path: Path) -> list[str]:
    """Write what `sacct -P` would list, with times in seconds since 1970; returns what it cannot hold."""
    content, notes = writer.content(workload, path)
    _source.save(path, content.encode())
    return notes
