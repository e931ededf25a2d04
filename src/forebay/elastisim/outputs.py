"""ElastiSim's own tables, written from a run of ours."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from forebay._support.text import as_csv
from forebay.elastisim.configuration import OUTPUTS
from forebay.elastisim.project import Project
from forebay.errors import InputError, nearest
from forebay.results import Result

Sample = tuple[float, float, float]
"""A time, and the bytes/s that are then read from the file system and written to it."""
_NONE = "none"


@dataclass(frozen=True)
class Run:
    """A project, what became of its jobs, and what was sensed on the way."""

    project: Project
    result: Result
    samples: Sequence[Sample] = ()


def _number(value: float | None) -> str:
    """As C++ streams write it: six digits that count. -1 is what never was."""
    return "-1" if value is None else f"{value:.6g}"


def _job_statistics(run: Run) -> Iterator[Sequence[str]]:
    """A row a job, by number."""
    yield ("ID", "Type", "Submit Time", "Start Time", "End Time", "Wait Time", "Makespan", "Turnaround Time", "Status")
    times = ("submission_time", "starting_time", "finish_time", "waiting_time", "execution_time", "turnaround_time")
    for number, success, *values in run.result.jobs.sort("job_id").select("job_id", "success", *times).iter_rows():
        status = "completed" if success else "killed"
        yield (str(number), run.project.facts[number].type, *map(_number, values), status)


def _node_utilization(run: Run) -> Iterator[Sequence[str]]:
    """A row a node at first, and whenever one comes to a job or leaves it.

    Nodes expect a job that has been resized, also while it runs on them: so ElastiSim writes it.
    """
    yield ("Time", "Node", "State", "Running jobs", "Expected jobs")
    names, holder = run.project.machine.names, np.full(run.project.machine.platform.nodes, -1, np.int64)
    yield from (("0", name, "free", _NONE, _NONE) for name in names)
    resized: set[int] = set()
    for time, job, kind, nodes in _changes(run.result):
        comes, expected = kind in ("start", "acquire"), str(job) if job in resized else _NONE
        if kind in ("acquire", "release"):
            resized.add(job)
            expected = str(job) if comes else _NONE
        for node in np.flatnonzero(holder == job) if nodes is None else nodes:
            holder[node] = job if comes else -1
            state = "allocated" if comes else "free"
            yield (_number(time), names[node], state, str(job) if comes else _NONE, expected)


def _changes(result: Result) -> Iterator[tuple[float, int, str, list[int] | None]]:
    """When a job gets nodes or gives some back, and which; at its end all that it has."""
    placed: dict[int, list[int]] = {}
    for row, low, high in result.placements.iter_rows():
        placed.setdefault(row, []).extend(range(low, high + 1))
    log = result.log.with_row_index("row").filter(pl.col("resource") == "nodes")
    kinds = ("start", "acquire", "release", "end")
    for row, time, job, kind in log.select("row", "time", "job", "kind").iter_rows():
        if kind in kinds:
            yield time, job, kind, placed.get(row) if kind != "end" else None


def _pfs_utilization(run: Run) -> Iterator[Sequence[str]]:
    """A row each sensing interval."""
    yield ("Time", "Read", "Write", "Read (rel.)", "Write (rel.)")
    read_most, write_most = run.project.machine.file_system
    for time, read, write in run.samples:
        yield tuple(map(_number, (time, read, write, read / read_most, write / write_most)))


WRITERS: dict[str, Callable[[Run], Iterator[Sequence[str]]]] = {
    "job_statistics": _job_statistics,
    "node_utilization": _node_utilization,
    "pfs_utilization": _pfs_utilization,
}


def table(name: str, run: Run) -> str:
    """A table as CSV."""
    titles, *rows = WRITERS[name](run)
    return as_csv(pl.DataFrame(rows, schema=dict.fromkeys(titles, pl.String), orient="row"))


def choose(asked: str | None, project: Project, senses: bool) -> tuple[list[str], list[str]]:
    """The tables to write, those asked for by name or else by the configuration; and notes on others of these.

    `senses`: whether the run can look at the file system while it goes on.
    """
    wanted = (
        list(project.configuration.outputs)
        if asked is None
        else [name.strip() for name in dict.fromkeys(asked.split(","))]
    )
    for name in wanted:
        if name not in OUTPUTS:
            raise InputError(f"--elastisim-output: unknown table {name!r}; {nearest(name, WRITERS)}")
    missing: dict[str, list[str]] = {}
    for name in wanted:
        if why := _missing(name, project, senses):
            missing.setdefault(why, []).append(name)
    notes = [f"not written: {', '.join(names)} ({why})" for why, names in missing.items()]
    if notes and asked is not None:
        raise InputError(f"--elastisim-output: {notes[0]}")
    return [name for name in wanted if not _missing(name, project, senses)], notes


def _missing(name: str, project: Project, senses: bool) -> str | None:
    """Why a table cannot be written; None if it can."""
    if name not in WRITERS:
        return f"tables that are: {', '.join(WRITERS)}"
    if name != "pfs_utilization":
        return None
    if not project.configuration.sensing:
        return "the configuration has no sensing, or no sensing_interval"
    if not all(project.machine.file_system):
        return "the platform has no file system"
    return None if senses else "it is sensed where an algorithm schedules, not under a policy"
