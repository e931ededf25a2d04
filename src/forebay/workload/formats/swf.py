"""Standard Workload Format 2.2 (Parallel Workloads Archive): a job a line, 18 numbers; comments begin with `;`."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.errors import InputError
from forebay.workload import _cancelled, _source, dependencies
from forebay.workload._bad_lines import BadLines
from forebay.workload._checks.jobs import checked
from forebay.workload.formats import _swf_lines as lines
from forebay.workload.names import only
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "Standard Workload Format 2.2, as in the Parallel Workloads Archive"
SUFFIXES = (".swf", ".swf.gz")

_EXACT = 2**53  # a double tells whole numbers below this one apart
_CANCELLED = 5  # SWF's status of a job that was cancelled, before it started or while it ran
_KIB = 1024  # bytes of the unit in which SWF asks for memory
_UNTOLD = ("account", "qos", "gpu", "features", "exclusive", "array", "het")  # what SWF has no word for; -1 is unknown
_WORDS = {
    "id": "job number",
    "preceding": "preceding job",
    "nodes": "number of processors",
    "memory": "memory asked for in all, in bytes,",
}


def matches(head: bytes) -> bool:
    """Whether a file that begins so looks like SWF: a comment, or a line of 18 numbers."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    numbers = [word for word in first.split()[: lines.N_FIELDS] if lines.is_number(word)]
    return first.startswith(b";") or len(numbers) == lines.N_FIELDS


def read(path: Path, cancelled: str = "drop", skip_bad_lines: bool = False) -> Workload:
    """The jobs of an SWF file, packed or not.

    Processors are field 8, else 5; the walltime is field 9, else the run time; the demand `memory` is field 10 times
    the processors. A job with a preceding job (field 17) may start only when that has ended, and the think time (field
    18) after it. Only a record without run time or processors is left out; one of status 5 with a wait, after which
    it was cancelled, is kept for `cancelled="keep"`. Other waits are kept as `recorded_start`, and what headers call
    queues, users and groups as names.
    Submits move so that the first job arrives at 0; the epoch keeps what they were.
    """
    source = _source.load(path)
    bad = BadLines(path, skip_bad_lines)
    content = lines.parse(source.data, path, bad)
    records = len(content.lines) + bad.count
    columns, dropped = _columns(content, cancelled == "keep")
    content.table.clear()  # kept, it adds a sixth to the peak memory
    columns = _checked(columns, bad)
    dropped |= bad.dropped()
    if not len(columns["id"]):
        why = f": {counted(records, 'record')} left out ({_source.dropped_text(dropped)})" if records else ""
        raise InputError(f"{path}: holds no job{why}; an SWF file has a line of 18 numbers for each job")
    demands = [*_resources(content), *(["memory"] if "memory" in columns else [])]
    notes = [*bad.notes(), *content.notes, *_estimate_notes(columns), *_clear_unknown(columns, demands)]
    notes += [_source.MEMORY_NOTE] if "memory" in columns else []
    waits, remarks = _preceding(columns)
    notes += remarks
    jobs = job_table(columns)
    notes += _source.order_notes(jobs["submit"])
    jobs, first = _source.in_order(jobs)
    start = _leading_number(content.header.get("UnixStartTime", ""))
    made = Workload(
        name=source.stem(SUFFIXES),
        jobs=jobs,
        epoch=start + first,
        platform=_platform(content),
        records=records,
        dropped=dropped,
        notes=tuple(notes),
        provenance=(f"read {source.name} (SWF, {counted(records, 'record')})",),
        sha256=source.sha256,
        names=only(content.names, jobs),
        dependencies=waits,
    )
    return checked(made, path)


def _columns(content: lines.Content, keep_cancelled: bool) -> tuple[dict[str, Any], dict[str, int]]:
    """Columns of the usable records (and, for messages, the time `asked` for and the `line`); why others are not."""
    table = content.table
    run, asked, nodes = table["run time"], table["requested time"], table["requested processors"]
    nodes = np.where(nodes > 0, nodes, table["allocated processors"])
    withdrawn = (run <= 0) & (table["status"] == _CANCELLED)
    kept = withdrawn & (table["wait time"] > 0) & keep_cancelled
    cancel = np.where(kept, table["wait time"], np.inf)
    run = np.where(kept, np.where(asked > 0, asked, cancel), run)
    idle, nowhere = run <= 0, nodes <= 0
    counts = {
        _cancelled.UNTOLD if keep_cancelled else _cancelled.DROPPED: int((withdrawn & idle).sum()),
        "run time not positive": int((idle & ~withdrawn).sum()),
        "no processors": int((nowhere & ~idle).sum()),
    }
    columns: dict[str, Any] = {
        "id": table["job number"],
        "submit": table["submit time"],
        "walltime": np.where(asked > 0, asked, run),
        "run_time": run,
        "nodes": nodes,
        "user": table["user"],
        "group": table["group"],
        "queue": table["queue"],
        "cancel": cancel,
        "asked": asked,
        "line": content.lines,
        "preceding": table["preceding job"],
        "think": table["think time"],
        **dict(zip(_resources(content), content.requests, strict=True)),
    }
    wait = table["wait time"]
    known = (wait != -1) & ~kept
    usable = ~(idle | nowhere)
    if (known & usable).any():
        columns["recorded_start"] = np.where(known, table["submit time"] + wait, np.nan)
    if ((memory := table["requested memory"])[usable] > 0).any():  # else the trace knows nothing of it
        with np.errstate(over="ignore"):  # refused with its line, when all values are looked at
            columns["memory"] = np.where(memory > 0, np.rint(memory * (_KIB * nodes)), -1.0)
    return {name: values[usable] for name, values in columns.items()}, {why: n for why, n in counts.items() if n}


def _preceding(columns: dict[str, Any]) -> tuple[pl.DataFrame | None, list[str]]:
    """Who may start only after whom, by fields 17 and 18, which leave the columns; and notes on it."""
    parent, think = columns.pop("preceding"), columns.pop("think")
    waits = parent > 0  # jobs are numbered from 1, and -1 is not known
    if not waits.any():
        return None, []
    known = waits & np.isin(parent, columns["id"])
    who = counted(int(known.sum()), "job waits", "jobs wait")
    notes = (
        [f"{who} for the end of a preceding job (field 17), and the think time after it (18)"] if known.any() else []
    )
    notes += dependencies.lost_notes(int((waits & ~known).sum()))
    table = {"job": columns["id"][known], "parent": parent[known], "delay": np.maximum(think[known], 0.0)}
    return dependencies.dependency_table(table | {"kind": ["afterany"] * int(known.sum())}), notes


def _resources(content: lines.Content) -> list[str]:
    return _resource_names(len(content.capacities))


def _resource_names(count: int) -> list[str]:
    """Names of the resources that columns after the 18th ask for."""
    return ["burst_buffer"] if count == 1 else [f"resource_{k}" for k in range(1, count + 1)]


def _clear_unknown(columns: dict[str, Any], resources: list[str]) -> list[str]:
    """Take requests below 0, SWF's word for "not known", as none."""
    notes = []
    for name in resources:
        unknown = columns[name] < 0
        if unknown.any():
            columns[name] = np.where(unknown, 0, columns[name])
            notes.append(f"{name} of {counted(int(unknown.sum()), 'job')} is not known: taken as 0")
    return notes


def _platform(content: lines.Content) -> str | None:
    """The machine that the header describes: nodes, and a pool for each further resource."""
    processors = _leading_number(content.header.get("MaxProcs", ""))
    if not 0 < processors < _EXACT or not processors.is_integer():
        return None
    sizes = [str(capacity) for capacity in content.capacities]
    pools = "" if not sizes else f",burst_buffer={sizes[0]}B" if len(sizes) == 1 else f",pools={'/'.join(sizes)}"
    return f"flat:nodes={processors:.0f}{pools}"


def _leading_number(text: str) -> float:
    """The number that a header's value begins with, else 0: `128 (64 in 1994)` occurs, and `1,152` is not 1."""
    found = re.match(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?(?![\d.,])", text)
    return float(found[0]) if found else 0.0


def _checked(columns: dict[str, Any], bad: BadLines) -> dict[str, Any]:
    """The columns without `line`, and without lines whose numbers must be whole and are not, or whose id was there."""
    line = columns.pop("line")
    further = [name for name in columns if name in {"burst_buffer", "memory"} or name.startswith("resource_")]
    wrong: dict[int, str] = {}
    for name in ("id", "nodes", "user", "group", "queue", "preceding", *further):
        values = columns[name]
        for row in np.flatnonzero((values != np.floor(values)) | (np.abs(values) >= _EXACT)):
            what = f"the {_WORDS.get(name, name)} is {values[row]:.17g}"
            wrong.setdefault(int(row), f"{what}; it must be a whole number below 2^53")
    order = np.argsort(columns["id"], kind="stable")
    ids = columns["id"][order]
    for k in np.flatnonzero(ids[1:] == ids[:-1]):
        first = line[order[np.searchsorted(ids, ids[k])]]
        wrong.setdefault(
            int(order[k + 1]),
            f"is job {ids[k]:.0f}, as is line {first}; renumber one, or, where a job has a line for each of its "
            "bursts, keep its summary line only",
        )
    bad.add((int(line[row]), wrong[row]) for row in sorted(wrong))
    return {name: np.delete(values, list(wrong)) for name, values in columns.items()} if wrong else columns


def _estimate_notes(columns: dict[str, Any]) -> list[str]:
    """Times that the trace does not give."""
    kept = np.isfinite(columns["cancel"])
    count = int(((columns.pop("asked") <= 0) & ~kept).sum())
    text = f"{counted(count, 'job')} without a requested time: {_source.PERFECT}"
    return [*([text] if count else []), *_cancelled.kept_notes(int(kept.sum()))]


def write(workload: Workload, path: Path) -> list[str]:
    """Write an SWF file; returns what it cannot hold. Fields that a Workload does not know are -1.

    Jobs cancelled before they started have status 5, no run time, and the wait after which they were.
    """
    jobs = workload.jobs
    _refuse(workload, path)
    waited = _cancelled.untimed(jobs)
    unknown = pl.lit("-1")
    walltime = pl.when(pl.col("walltime").is_finite()).then(_number("walltime")).otherwise(unknown)
    known = {
        "job number": _number("id"),
        "submit time": _number("submit"),
        "wait time": pl.when(waited).then(_number("cancel")).otherwise(_wait(jobs)),
        "run time": pl.when(waited).then(unknown).otherwise(_number("run_time")),
        "status": pl.when(waited).then(pl.lit(str(_CANCELLED))).otherwise(unknown),
        "allocated processors": _number("nodes"),
        "requested processors": _number("nodes"),
        "requested time": walltime,
        "user": _number("user"),
        "group": _number("group"),
        "queue": _number("queue"),
    }
    if "memory" in jobs.columns:
        each = _text(pl.col("memory") / (_KIB * pl.col("nodes")))
        known["requested memory"] = pl.when((pl.col("memory") > 0) & _memory_fits()).then(each).otherwise(unknown)
    known |= {name: _number(name) for name in _capacities(workload)}
    if workload.dependencies is not None:
        jobs = jobs.join(
            _single(workload.dependencies), left_on="id", right_on="job", how="left", maintain_order="left"
        )
        parent = pl.col("parent").is_not_null()
        known["preceding job"] = pl.when(parent).then(_number("parent")).otherwise(unknown)
        known["think time"] = pl.when(parent).then(_number("delay")).otherwise(unknown)
    table = jobs.select(**{name: known.get(name, unknown) for name in (*lines.FIELDS, *_capacities(workload))})
    body = table.write_csv(include_header=False, separator=" ", quote_style="never")
    _source.save(path, (_header(workload) + body).encode())
    return _lost(workload)


def _single(table: pl.DataFrame) -> pl.DataFrame:
    """The dependencies that SWF has fields for: on the end of one job."""
    alone = (pl.len().over("job") == 1) & pl.col("kind").is_in(["afterany", "think"])
    return table.filter(alone).select("job", "parent", "delay")


def _wait(jobs: pl.DataFrame) -> pl.Expr:
    """The wait that was recorded, else -1."""
    if "recorded_start" not in jobs.columns:
        return pl.lit("-1")
    wait = pl.col("recorded_start") - pl.col("submit")
    return pl.when(wait.is_nan()).then(pl.lit("-1")).otherwise(_text(wait))


def _memory_fits() -> pl.Expr:
    """Whether memory for each processor, in SWF's unit, reads back to the same total: two roundings may cost a byte."""
    total = pl.col("memory")
    return (total < _EXACT) & ((total < _EXACT // 4) | (total % (_KIB * pl.col("nodes")) == 0))


def _number(name: str) -> pl.Expr:
    return _text(pl.col(name))


def _text(column: pl.Expr) -> pl.Expr:
    """Numbers as text that reads back to the same double; whole numbers without a point."""
    whole = (column == column.floor()) & (column.abs() < _EXACT)
    return pl.when(whole).then(column.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(column.cast(pl.String))


def _capacities(workload: Workload) -> dict[str, str]:
    """The resources that a header `BurstBuffer` can describe: those of a machine such as `read` names."""
    found = re.fullmatch(r"flat:nodes=\d+,(?:burst_buffer=(\d+)B|pools=(\d+(?:/\d+)+))", workload.platform or "")
    if not found:
        return {}
    one, several = found.groups()
    amounts = [one] if one else several.split("/")
    capacities = dict(zip(_resource_names(len(amounts)), amounts, strict=True))
    others = set(workload.resources) - {"memory"}  # which has a field of its own
    return capacities if others == set(capacities) <= set(workload.jobs.columns) else {}


def _header(workload: Workload) -> str:
    n_nodes = _source.machine_nodes(workload.platform)
    epoch = int(workload.epoch) if workload.epoch.is_integer() else workload.epoch
    entries = [
        ("Version", "2.2"),
        ("MaxJobs", len(workload)),
        ("MaxRecords", len(workload)),
        *([("MaxProcs", n_nodes)] if n_nodes else []),
        ("UnixStartTime", epoch),
        *([("BurstBuffer", ", ".join(_capacities(workload).values()))] if _capacities(workload) else []),
        *(
            (column.capitalize(), f"{number} {_quoted(name)}")
            for column in ("user", "group", "queue")
            for number, name in workload.names.get(column, {}).items()
        ),
        *(("Note", " ".join(line.split())) for line in workload.provenance),
    ]
    return "".join(f"; {key}: {value}\n" for key, value in entries)


def _quoted(name: str) -> str:
    """A name as one word, in quotes where it is none."""
    return name if re.fullmatch(r"[^\s\"(\\]\S*", name) and name.isprintable() else json.dumps(name)


def _refuse(workload: Workload, path: Path) -> None:
    jobs = workload.jobs
    odd = jobs.filter(~(pl.col("submit").is_finite() & pl.col("run_time").is_finite()))
    if len(odd):
        raise InputError(f"{path}: job {odd['id'][0]} has a submit or run time that is not finite; SWF cannot say so")
    unknown = jobs.filter((pl.col("flop") > 0) & (pl.col("run_time") <= 0))
    if len(unknown):
        raise InputError(
            f"{path}: job {unknown['id'][0]} ({len(unknown):,} in all) has its work in flop, SWF knows seconds only; "
            "write .json (Batsim) instead, which keeps flop"
        )


def _lost(workload: Workload) -> list[str]:
    jobs = workload.jobs
    endless = int(jobs["walltime"].is_infinite().sum())
    kept = _capacities(workload)
    others = [name for name in _source.demands(workload) if name not in kept and name != "memory"]
    lost = {name: int((jobs[name] != 0).sum()) for name in ("flop", "communication", "priority", *others)}
    lost |= {name: int((jobs[name] >= 0).sum()) for name in _UNTOLD if name in jobs.columns}
    lost |= {name: int((jobs[name] > 0).sum()) for name in ("tasks", "array_limit") if name in jobs.columns}
    notes = [
        f"{name} of {counted(count, 'job')} is not written: SWF has no field for it"
        for name, count in lost.items()
        if count
    ]
    if "memory" in jobs.columns and (large := jobs.filter(~_memory_fits())["id"].len()):
        notes.append(f"memory of {counted(large, 'job')} is not written: SWF's unit cannot hold it exactly")
    if endless:
        notes.append(f"{counted(endless, 'job')} without a walltime: read back, {_source.PERFECT}")
    notes += _cancelled.written_notes(jobs)
    if workload.legs is not None or workload.phases is not None:
        notes.append("legs and phases are not written: SWF has jobs only")
    notes += _source.application_notes(workload) + _source.own_notes(workload, "SWF")
    notes += _lost_dependencies(workload.dependencies)
    if len(jobs) and jobs["submit"].min() != 0:
        notes.append("the first job is not submitted at 0: read back, it is, and the epoch moves instead")
    return notes if kept else notes + _source.platform_notes(workload.platform)


def _lost_dependencies(table: pl.DataFrame | None) -> list[str]:
    if table is None:
        return []
    lost, thinks = len(table) - len(_single(table)), int((table["kind"] == "think").sum())
    what = counted(lost, "dependency is", "dependencies are")
    notes = [f"{what} not written: SWF has one preceding job, whose end is waited for"] if lost else []
    if thinks:
        who = counted(
            thinks, "job that is submitted when another ends is", "jobs that are submitted when others end are"
        )
        notes.append(f"{who} written as one that waits for it: read back with --closed-loop, it is the same")
    return notes
