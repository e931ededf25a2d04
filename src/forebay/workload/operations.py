"""Workload in, Workload out: parts, joins, loads, filters. Nothing is changed in place; each adds a line of provenance.

Whatever leaves the first job out moves the rest so that they begin at 0, and the epoch by as much.
"""

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from forebay._support.text import counted, plain
from forebay.core.schemas import JOB_SCHEMA, LEG_SCHEMA, NAMED, UNKNOWN, own_columns
from forebay.errors import InputError, brief, nearest
from forebay.workload import _sidecar, _source, _suggest, dates, dependencies
from forebay.workload._source import deadlines_later, in_order, later
from forebay.workload.applications import stacked
from forebay.workload.dates import Moment
from forebay.workload.names import Names, joined, numbers
from forebay.workload.names import only as names_of
from forebay.workload.workload import Workload

REFERENCE_SPEED = 1e9
"""Flop/s of a node where work is given in flop and no machine is chosen yet; that of Kopański & Rządca 2021."""

Condition = pl.Expr | Callable[[pl.DataFrame], pl.Series]
_Tables = list[pl.DataFrame | None]

_OPERATORS: dict[str, Callable[[pl.Expr, float | str], pl.Expr]] = {
    "<=": lambda column, value: column <= value,
    ">=": lambda column, value: column >= value,
    "==": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    "<": lambda column, value: column < value,
    ">": lambda column, value: column > value,
}


def slice_time(w: Workload, start: Moment, end: Moment) -> Workload:
    """Jobs submitted from `start` up to, not including, `end`: seconds, or dates such as "2025-03-01"."""
    since, until = dates.seconds_of(w, start), dates.seconds_of(w, end)
    if not since < until:
        raise InputError(f"{w.name}: a slice from {start} to {end} s is empty; give a start below the end")
    jobs = w.jobs.filter((pl.col("submit") >= since) & (pl.col("submit") < until))
    if isinstance(start, float | int) and isinstance(end, float | int):
        what = f"submitted in [{start:g}, {end:g}) s"
    else:
        ends = (dates.date_of(w, one) or "the end" for one in (since, until))
        what = f"submitted in [{', '.join(ends)}) UTC"
    if not len(jobs):
        raise InputError(f"{w.name}: no job is left ({what}); its {dates.span_text(w)}")
    return _keep(w, jobs, what)


def first(w: Workload, n: int) -> Workload:
    """The first `n` jobs to arrive, or all if there are fewer."""
    if n < 1:
        raise InputError(f"{w.name}: cannot keep the first {n} jobs; give at least 1")
    return _keep(w, w.jobs.head(n), f"first {n:,}")


def split(w: Workload, n: int) -> list[Workload]:
    """`n` parts over equal periods of time; the last includes its end. Each begins at 0 and keeps its epoch."""
    if not 1 <= n <= len(w):
        raise InputError(f"{w.name}: cannot be split into {n:,} parts; give 1 to {len(w):,}, its number of jobs")
    submit = w.jobs["submit"].to_numpy()
    edges = np.linspace(submit.min(), submit.max(), n + 1)
    part_of = np.minimum(np.searchsorted(edges, submit, side="right") - 1, n - 1)
    parts = []
    for k in range(n):
        jobs = w.jobs.filter(pl.Series(part_of == k))
        if not len(jobs):
            raise InputError(
                f"{w.name}: part {k} of {n} has no job ([{edges[k]:g}, {edges[k + 1]:g}) s); ask for fewer parts"
            )
        part = _keep(w, jobs, f"part {k} of {n}, {edges[k + 1] - edges[k]:g} s each")
        parts.append(dataclasses.replace(part, name=f"{w.name}-part-{k}"))
    return parts


def scale_load(w: Workload, factor: float) -> Workload:
    """The same jobs arriving `factor` times as fast, so that the offered load grows by it."""
    if not (factor > 0 and math.isfinite(factor)):
        raise InputError(f"{w.name}: load cannot be scaled by {factor:g}; give a number above 0")
    submit = pl.col("submit") / factor
    due = deadlines_later(w.jobs, submit - pl.col("submit"))
    jobs = w.jobs.with_columns(submit, *due).drop("recorded_start", strict=False)
    notes = w.notes
    if w.dependencies is not None and (w.dependencies["kind"] == "think").any():
        notes += ("jobs that are submitted when others end arrive as these do: their load is not scaled",)
    if "recorded_start" in w.jobs.columns:
        notes += ("recorded starts are left out: jobs did not arrive so fast when they were recorded",)
    return _with(w, f"load scaled by {factor:g}: submit times divided by it", jobs=jobs, notes=notes)


def filter_jobs(w: Workload, condition: Condition, label: str | None = None) -> Workload:
    """Jobs for which `condition` holds: an expression, or a function of the job table that gives a boolean series."""
    try:
        jobs = w.jobs.filter(condition if isinstance(condition, pl.Expr) else condition(w.jobs))
    except pl.exceptions.PolarsError as error:
        why = str(error).partition("\n")[0]
        raise InputError(f"{w.name}: cannot filter ({why}); its columns: {', '.join(w.jobs.columns)}") from None
    return _keep(w, jobs, label or (str(condition) if isinstance(condition, pl.Expr) else "a function"))


def parse_condition(text: str, columns: Iterable[str] = JOB_SCHEMA, names: Names | None = None) -> pl.Expr:
    """`nodes<=64` or `queue==gpu` as an expression: a column, one of < <= > >= == !=, a number or a name.

    Pass a job table's columns, or its schema where some hold text, and the workload's names.
    """
    found = re.fullmatch(r"\s*(\w+)\s*(<=|>=|==|!=|<|>)\s*(\S|\S.*\S)\s*", text, re.DOTALL)
    if not found:
        raise InputError(f"{text!r} is not a condition; write a column, one of < <= > >= == !=, a number: 'nodes<=64'")
    column, operator, word = found.groups()
    texts = {name for name, dtype in columns.items() if dtype == pl.String} if isinstance(columns, Mapping) else set()
    columns = list(columns)
    if column not in columns:
        raise InputError(f"{text!r}: unknown column {column!r}; {nearest(column, columns)}")
    if column in texts:
        if operator not in ("==", "!="):
            raise InputError(
                f"{brief(text)}: {column} holds text, which is compared by == and != alone; for < give it numbers"
            )
        return _OPERATORS[operator](pl.col(column), re.sub(r"""(?s)^(["'])(.*)\1$""", r"\2", word))
    called = numbers(names or {}, column, re.sub(r"""(?s)^(["'])(.*)\1$""", r"\2", word))
    if called:
        if operator not in ("==", "!="):
            raise InputError(f"{brief(text)}: a name can be compared by == and != alone")
        return pl.col(column).is_in(called) ^ (operator == "!=")
    try:
        value = int(word) if re.fullmatch(r"[+-]?[0-9]+", word) and abs(int(word)) < 2**63 else float(word)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        if names and column in names:
            hint = nearest(word, map(plain, names[column].values()))
            raise InputError(f"{brief(text)}: no {column} is called {brief(word)}; {hint}")
        if column in NAMED:
            raise InputError(
                f"{brief(text)}: {brief(word)} is not a number, and the trace has no names of its {column}s; write a "
                "number such as 3"
            )
        raise InputError(f"{brief(text)}: {brief(word)} is not a number; write one such as 64 or 1e9")
    return _OPERATORS[operator](pl.col(column), value)


def perfect_estimates(w: Workload, speed: float = REFERENCE_SPEED) -> Workload:
    """Every user asks for just the time the job takes, on nodes of `speed` flop/s where work is given in flop."""
    if not (speed > 0 and math.isfinite(speed)):
        raise InputError(f"{w.name}: {speed:g} flop/s is no speed; give a number above 0")
    if w.legs is not None:
        raise InputError(f"{w.name}: legs have walltimes of their own; perfect estimates are for jobs without legs")
    if w.applications is not None:
        raise InputError(
            f"{w.name}: how long its jobs take depends on their sizes; perfect estimates are for jobs of one size"
        )
    line = "perfect estimates: walltime = run time"
    if (w.jobs["flop"] > 0).any():
        line += f", at {speed:g} flop/s"
    notes = w.notes
    if (w.jobs["communication"] > 0).any():
        notes += ("perfect estimates leave out the time of communication, which depends on the machine",)
    return _with(w, line, notes=notes, jobs=w.jobs.with_columns(walltime=pl.col("run_time") + pl.col("flop") / speed))


def attach_table(w: Workload, frame: pl.DataFrame, label: str = "table") -> Workload:
    """Values for jobs by their number, in a column `id`: of the job table's own columns, or of further resources.

    A column `own:deadline` becomes `deadline`, of the author's own: no demand, but numbers or text for policies.
    A job without a row keeps what it has; of a resource that is new to it, it asks 0. Rows of other jobs are noted.
    """
    if w.legs is not None:
        raise InputError(f"{w.name}: legs have demands of their own; a table can be attached to jobs without legs only")
    if w.applications is not None:
        raise InputError(f"{w.name}: its jobs have sizes and tasks of their own, which a table for jobs cannot change")
    frame = _sidecar.typed(_sidecar.resolved(frame, w.jobs), label)
    names, own = [name for name in frame.columns if name != "id"], own_columns(frame.schema)
    for name in names:
        if name in w.jobs.columns and frame.schema[name] != w.jobs.schema[name]:
            raise InputError(
                f"{label}: {name} holds {frame.schema[name]}, and {w.name} has {w.jobs.schema[name]} there"
            )
    jobs = w.jobs.join(frame, on="id", how="left", suffix=" given", maintain_order="left")
    given = [
        pl.coalesce(f"{name} given", name)
        if name in w.jobs.columns
        else pl.col(name).fill_null(UNKNOWN.get(name, 0))
        if name not in own
        else pl.col(name)
        for name in names
    ]
    jobs = jobs.with_columns(column.alias(name) for name, column in zip(names, given, strict=True))
    jobs, moved = in_order(jobs.select(*w.jobs.columns, *(name for name in names if name not in w.jobs.columns)))
    _refuse_idle(jobs, names, label)
    known = int(w.jobs["id"].is_in(frame["id"].implode()).sum())
    if not known:
        raise InputError(f"{label}: none of its rows is for a job of {w.name}; are these its job numbers?")
    new = [name for name in names if name not in (*w.jobs.columns, *own)]
    notes = [*w.notes, *_unmatched(w, len(frame), known, label, new)]
    line = f"{', '.join(names)} of {counted(known, 'job')} from {label}"
    lost = [name for name in names if name in w.names]
    if lost:  # numbers of another source would be called by names of this one
        notes.append(f"names of {', '.join(lost)} are left out: {label} gives numbers")
    kept = {name: called for name, called in w.names.items() if name not in lost}
    return _with(w, line, jobs=jobs, epoch=w.epoch + moved, notes=tuple(notes), names=kept)


def _unmatched(w: Workload, n_rows: int, known: int, label: str, new: Sequence[str]) -> list[str]:
    """Notes on rows of a table without a job, and on jobs without a row, which ask 0 of `new` resources."""
    notes = []
    if known < n_rows:
        rows = counted(n_rows - known, f"row of {label} is for a job", f"rows of {label} are for jobs")
        notes.append(f"{rows} not in the workload: not used")
    if known < len(w):
        rest = f", and 0 for {', '.join(new)}" if new else ""
        one, many = f"job has no row in {label}: it keeps its", f"jobs have no row in {label}: they keep their"
        notes.append(f"{counted(len(w) - known, one, many)} values{rest}")
    return notes


def _refuse_idle(jobs: pl.DataFrame, names: list[str], label: str) -> None:
    """A run time of 0 is right for a job whose work is in flop, and for no other."""
    idle = jobs.filter((pl.col("run_time") <= 0) & (pl.col("flop") <= 0))
    if len(idle) and {"run_time", "flop"} & set(names):
        raise InputError(
            f"{label}: job {idle['id'][0]} has no work left, neither run_time nor flop; give one of them above 0"
        )


def _check_joinable(ws: Sequence[Workload]) -> None:
    if not ws:
        raise InputError("nothing to join; name at least one workload")
    for w in ws:
        if "running_since" in w.jobs.columns:
            raise InputError(f"{w.name}: jobs run already when it begins; join the traces, then take the period of all")


def join(ws: Sequence[Workload]) -> Workload:
    """One workload of many, merged by absolute time (epoch + submit). Clashing ids are all renumbered.

    Users, groups and queues are the same in two parts if they have the same name; without names, the same number.
    """
    _check_joinable(ws)
    sources = list({w.sha256 or k: w for k, w in enumerate(ws)}.values())  # parts of one file count its records once
    base = min(w.epoch for w in ws)
    shifted, names, remarks = joined(ws, [later(w.jobs, w.epoch - base) for w in ws])
    tables: list[_Tables] = [[w.legs for w in ws], [w.phases for w in ws]]
    applications, waits = [w.applications for w in ws], [w.dependencies for w in ws]
    notes = [*(note for w in ws for note in w.notes), *remarks]
    if pl.concat([jobs["id"] for jobs in shifted]).is_duplicated().any():
        before = [jobs["id"] for jobs in shifted]
        shifted, tables = _renumbered(shifted, tables)
        after = [jobs["id"] for jobs in shifted]
        applications = [one and one.renumbered(*ids) for one, *ids in zip(applications, before, after, strict=True)]
        waits = [dependencies.renumbered(one, *ids) for one, *ids in zip(waits, before, after, strict=True)]
        notes.append("job ids of the parts clash: all jobs are renumbered from 1")
    jobs, moved = in_order(_stacked(shifted))
    platform, notes = _machine(ws, jobs, notes)
    legs, phases = ([table for table in some if table is not None] for some in tables)
    return Workload(
        name="+".join(w.name for w in ws),
        jobs=jobs,
        legs=_stacked(legs) if legs else None,
        phases=_stacked(phases) if phases else None,
        applications=stacked(some) if (some := [one for one in applications if one is not None]) else None,
        epoch=base + moved,
        platform=platform,
        records=sum(w.records for w in sources),
        dropped=dict(sum((Counter(w.dropped) for w in sources), Counter())),
        notes=tuple(dict.fromkeys(notes)),
        provenance=(*(f"{w.name}: {line}" for w in ws for line in w.provenance), f"joined {len(ws)} workloads"),
        sha256=ws[0].sha256 if len(sources) == 1 else "",
        names=names,
        dependencies=pl.concat(known) if (known := [one for one in waits if one is not None]) else None,
    )


def _machine(ws: Sequence[Workload], jobs: pl.DataFrame, notes: list[str]) -> tuple[str | None, list[str]]:
    """The machine of all parts, and notes with what is to say of it; one that was in use is found again."""
    if len({w.platform for w in ws}) == 1:
        return ws[0].platform, notes
    ran = jobs.filter(pl.col("cancel").is_infinite())
    if all(_source.is_inferred(w.notes) for w in ws) and "recorded_start" in ran.columns and len(ran):
        most = _suggest.most_in_use(*(ran[name].to_numpy() for name in ("recorded_start", "run_time", "nodes")))
        old = _source.size_told(notes)
        return f"flat:nodes={most}", [*(note for note in notes if note not in old), _source.inferred_size(most)]
    return None, [*notes, "the parts come from different machines: name a platform when you simulate"]


def _renumbered(jobs: list[pl.DataFrame], tables: list[_Tables]) -> tuple[list[pl.DataFrame], list[_Tables]]:
    """The same tables with ids 1, 2, ... in order of (submit, part, place), everywhere a job is named."""
    submit = np.concatenate([part["submit"].to_numpy() for part in jobs])
    new = np.empty(len(submit), np.int64)
    new[np.argsort(submit, kind="stable")] = np.arange(1, len(submit) + 1)
    mine = np.split(new, np.cumsum([len(part) for part in jobs])[:-1])
    renamed = [part.with_columns(id=pl.Series(ids)) for part, ids in zip(jobs, mine, strict=True)]
    for some in tables:
        for k, table in enumerate(some):
            if table is not None:
                some[k] = table.with_columns(pl.col("job").replace_strict(jobs[k]["id"], renamed[k]["id"]))
    return renamed, tables


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Frames below one another; a resource that one of them does not know is 0 there, and who is charged unknown."""
    types: dict[str, Any] = {}
    for name, dtype in ((name, dtype) for frame in frames for name, dtype in frame.schema.items()):
        if types.setdefault(name, dtype) != dtype:
            raise InputError(
                f"the parts differ in {name}: {types[name]} and {dtype}; give it alike in all, or rename it"
            )
    whole = pl.concat(frames, how="diagonal")
    known = JOB_SCHEMA | LEG_SCHEMA
    extra = {
        name: UNKNOWN.get(name, 0) for name, dtype in whole.schema.items() if name not in known and dtype == pl.Int64
    }
    extra |= {name: UNKNOWN[name] for name in ("recorded_start", "running_since") if name in whole.columns}
    return whole.with_columns(pl.col(name).fill_null(value) for name, value in extra.items())


def only(w: Workload, jobs: pl.DataFrame) -> Workload:
    """`w` with only these of its jobs, begun at 0."""
    jobs, moved = in_order(jobs)
    legs, phases = (
        None if table is None else table.filter(pl.col("job").is_in(jobs["id"].implode()))
        for table in (w.legs, w.phases)
    )
    applications = w.applications and w.applications.only(jobs["id"])
    waits, remarks = dependencies.only(w.dependencies, jobs["id"])
    rest: dict[str, Any] = {"legs": legs, "phases": phases, "applications": applications, "dependencies": waits}
    rest["notes"] = (*w.notes, *remarks)
    return dataclasses.replace(w, jobs=jobs, **rest, epoch=w.epoch + moved, names=names_of(w.names, jobs))


def _keep(w: Workload, jobs: pl.DataFrame, what: str) -> Workload:
    if not len(jobs):
        raise InputError(f"{w.name}: no job is left ({what}); widen the choice")
    return _with(only(w, jobs), f"{what}: {len(jobs):,} of {counted(len(w), 'job')}")


def _with(w: Workload, line: str, **changes: Any) -> Workload:
    return dataclasses.replace(w, provenance=(*w.provenance, line), **changes)
