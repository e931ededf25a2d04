"""WfCommons' WfFormat 1.3 to 1.6: a scientific workflow as JSON, in which tasks wait for others.

Read only: it has no submission times and no limits, so a workload cannot be kept in it.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forebay._support.input_limits import JOBS, LONGEST, limit
from forebay._support.text import counted
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError, brief
from forebay.workload import _source
from forebay.workload._checks.jobs import checked
from forebay.workload._checks.rules import LENGTH
from forebay.workload.dependencies import dependency_table, refuse_circle
from forebay.workload.formats._json_values import count, member, number, parse, text
from forebay.workload.workload import Workload, job_table

DESCRIPTION = "WfCommons' WfFormat: a workflow, whose tasks wait for others; read only, known by its content"
SUFFIXES = ()

_ENDINGS = (".json", ".json.gz")
_MOST_TASKS = 10_000_000
_CLAIMS = re.compile(rb'"(schemaVersion|workflow)"\s*:')
_FOREIGN = re.compile(rb'"(nb_res|profiles|meta)"\s*:')
_SIZES = ("sizeInBytes", "size")  # of a file, in the versions that give it with the task
_CORES = ("coreCount", "cores")
_RUNTIME = ("runtimeInSeconds", "runtime")


def matches(head: bytes) -> bool:
    """Whether a file that begins so looks like WfFormat."""
    return claims(head)


def claims(head: bytes) -> bool:
    """Whether a file that begins so is WfFormat, whatever its name: Batsim's and Slurm's files are JSON, too."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return first.startswith(b"{") and bool(_CLAIMS.search(first)) and not _FOREIGN.search(first)


def write(workload: Workload, path: Path) -> list[str]:
    """Refuses: a workload is more than a workflow."""
    raise InputError(f"{path}: WfFormat has neither submission times nor limits; end the name in .parquet.zip")


def read(path: Path) -> Workload:
    """The tasks of a workflow as jobs of one node, all submitted at once; each starts when its parents ended well.

    Cores and memory are demands, which machines that share nodes know. Files become reads and writes, before and after
    the run time. There is no walltime.
    """
    source = _source.load(path)
    document = parse(source.data, str(path))
    if not isinstance(document, dict):
        raise InputError(f"{path}: is {brief(document)}; WfFormat is an object with a workflow")
    workflow = _object(member(document, "workflow", str(path)), f"{path}: workflow")
    tasks, machines = _tasks(workflow, f"{path}: workflow")
    if not tasks:
        raise InputError(f"{path}: the workflow has no tasks; is it the right file?")
    most = limit(JOBS, _MOST_TASKS)
    if len(tasks) > most:
        raise InputError(f"{path}: the workflow has {len(tasks):,} tasks; set {JOBS} if more than {most:,} are meant")
    places = {name: place for place, name in enumerate(tasks, 1)}
    waits = _waits(tasks, places, str(path))
    columns: dict[str, list[Any]] = {"id": list(places.values())}
    columns |= {name: [one[name] for one in tasks.values()] for name in ("run_time", "cores", "memory", "priority")}
    n, silent = len(tasks), columns["cores"].count(0)
    columns["cores"] = [cores or 1 for cores in columns["cores"]]  # a job that tells none has its node to itself
    if not any(columns["memory"]):
        del columns["memory"]
    jobs = job_table(columns | {"submit": [0.0] * n, "walltime": [float("inf")] * n, "nodes": [1] * n})
    phases = _phases(tasks, places)
    version = document.get("schemaVersion", "")
    made = Workload(
        name=str(document.get("name") or source.stem(_ENDINGS)),
        jobs=jobs,
        phases=phases,
        dependencies=waits,
        platform=machines,
        records=n,
        notes=tuple(_notes(jobs, phases, silent)),
        provenance=(f"read {source.name} (WfFormat {brief(version).strip(chr(39))}, {counted(n, 'task')})",),
        sha256=source.sha256,
    )
    return checked(made, path)


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: is {brief(value)}; it must be an object")
    return value


def _list(table: dict[str, Any], key: str, where: str) -> list[Any]:
    """A list that may be missing."""
    value = table.get(key) or []
    if not isinstance(value, list):
        raise InputError(f"{where}: {key!r} is {brief(value)}; it must be a list")
    return value


def _first(table: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((table[key] for key in keys if table.get(key) is not None), None)


def _tasks(workflow: dict[str, Any], where: str) -> tuple[dict[str, dict[str, Any]], str | None]:
    """What is known of each task, by its id, and the machine; from 1.5 on in two parts, before in one."""
    if "specification" not in workflow:
        tasks = _told(workflow, where, "tasks" if "tasks" in workflow else "jobs")
        return {name: _task(one, one, {}, f"{where}: task {name!r}") for name, one in tasks.items()}, _machine(workflow)
    shape = _object(workflow["specification"], f"{where}: specification")
    ran = _object(workflow.get("execution") or {}, f"{where}: execution")
    sizes = {}
    for place, one in enumerate(_list(shape, "files", where)):
        file = _object(one, f"{where}: file {place}")
        sizes[text(member(file, "id", f"{where}: file {place}"), where, "id")] = _bytes(file, f"{where}: file {place}")
    tasks, runs = _told(shape, where, "tasks"), _told(ran, where, "tasks")
    missing = next((name for name in tasks if name not in runs), None)
    if missing is not None:
        raise InputError(
            f"{where}: task {brief(missing)} has no run time: nothing under execution tells of it; take one that "
            "was run"
        )
    made = {name: _task(one, runs[name], sizes, f"{where}: task {name!r}") for name, one in tasks.items()}
    return made, _machine(ran)


def _told(table: dict[str, Any], where: str, key: str) -> dict[str, dict[str, Any]]:
    """Tasks by their ids; in old versions, by their names."""
    found: dict[str, dict[str, Any]] = {}
    for place, one in enumerate(_list(table, key, where)):
        task = _object(one, f"{where}: task {place}")
        name = text(_first(task, ("id", "name")) or "", f"{where}: task {place}", "id")
        if not name or name in found:
            raise InputError(f"{where}: task {place} has the id {brief(name)}; give each task an id of its own")
        found[name] = task
    return found


def _task(shape: dict[str, Any], ran: dict[str, Any], sizes: dict[str, int], where: str) -> dict[str, Any]:
    """All that is used of a task."""
    seconds = number(_first(ran, _RUNTIME), where, _RUNTIME[0])
    if not 0 <= seconds <= LONGEST:
        raise InputError(f"{where}: {_RUNTIME[0]!r} is {seconds:g}; it must be {LENGTH}")
    moved = {"input": 0, "output": 0}
    for link, key in (("input", "inputFiles"), ("output", "outputFiles")):
        for one in _list(shape, key, where):
            name = text(one, where, key)
            if name not in sizes:
                raise InputError(f"{where}: {key!r} names {brief(name)}, of which nothing is said; add it to the files")
            moved[link] += sizes[name]
    for one in _list(shape, "files", where):
        file = _object(one, f"{where}: a file")
        if file.get("link") not in (*moved,):
            raise InputError(f"{where}: a file has the link {brief(file.get('link'))}; it must be input or output")
        moved[str(file["link"])] += _bytes(file, f"{where}: a file")
    cores = _first(ran, _CORES)
    return {
        "run_time": seconds,
        "cores": _rounded_up(cores or 0, where, "coreCount"),
        "memory": _rounded_up(ran.get("memoryInBytes") or 0, where, "memoryInBytes"),
        "priority": number(ran.get("priority") or 0, where, "priority"),
        "parents": [text(one, where, "parents") for one in _list(shape, "parents", where)],
        "children": [text(one, where, "children") for one in _list(shape, "children", where)],
        **moved,
    }


def _rounded_up(value: Any, where: str, key: str) -> int:
    """The schema allows parts of cores and bytes."""
    return count(-(-number(value, where, key) // 1), where, key)


def _bytes(file: dict[str, Any], where: str) -> int:
    return count(_first(file, _SIZES) or 0, where, "sizeInBytes")


def _machine(table: dict[str, Any]) -> str | None:
    """The machines that ran it, if all have as many cores: jobs share them."""
    machines = table.get("machines")
    if not isinstance(machines, list) or not all(isinstance(one, dict) for one in machines):
        return None
    cores = set()
    for one in machines:
        cpu = one.get("cpu")
        count = _first(cpu, ("coreCount", "count")) if isinstance(cpu, dict) else None
        cores.add(count if isinstance(count, int) and not isinstance(count, bool) and 0 < count < 10**6 else 0)
    if len(cores) != 1:
        return None
    each = cores.pop()
    return f"flat:nodes={len(machines)},cores={each},sharing=true" if each else f"flat:nodes={len(machines)}"


def _waits(tasks: dict[str, dict[str, Any]], places: dict[str, int], where: str) -> pl.DataFrame:
    """Who waits for whom: what parents and children say together."""
    pairs: dict[tuple[int, int], None] = {}
    for name, one in tasks.items():
        for key, others in (("parents", one["parents"]), ("children", one["children"])):
            for other in others:
                if other not in places:
                    raise InputError(f"{where}: task {brief(name)}: {key!r} names {brief(other)}, which is no task")
                pair = (places[name], places[other]) if key == "parents" else (places[other], places[name])
                pairs[pair] = None
    job, parent = (np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))
    refuse_circle(job - 1, parent - 1, list(places), f"{where}: tasks")
    return dependency_table({"job": job, "parent": parent})


def _phases(tasks: dict[str, dict[str, Any]], places: dict[str, int]) -> pl.DataFrame | None:
    """Reads, the run time and writes, of tasks that have files."""
    rows = []
    for name, one in tasks.items():
        if not one["input"] and not one["output"]:
            continue
        steps = [("read", 0.0, one["input"]), ("compute", one["run_time"], 0), ("write", 0.0, one["output"])]
        rows += [
            (places[name], 0, kind, seconds, 0.0, 0.0, float(size), None)
            for kind, seconds, size in steps
            if kind == "compute" or size
        ]
    return pl.DataFrame(rows, schema=PHASE_SCHEMA, orient="row") if rows else None


def _notes(jobs: pl.DataFrame, phases: pl.DataFrame | None, silent: int) -> list[str]:
    notes = ["WfFormat has no walltimes: unless a model adds some, nothing says when a job ends"]
    if silent:
        notes.append(f"{counted(silent, 'task tells', 'tasks tell')} no cores: one each, where nodes are shared")
    if phases is not None:
        notes.append("on machines with a file system, reads and writes of files come on top of the run times")
    idle = int((jobs["run_time"] <= 0).sum())
    if idle:
        notes.append(f"{counted(idle, 'task takes', 'tasks take')} no time: kept, as others wait for them")
    if "memory" in jobs.columns:
        notes.append(_source.MEMORY_NOTE)
    return notes
