"""A moment as a JSON file: jobs that ended, run and wait, with what is known of them then and nothing later.

It is what a live queue is read into, and what a trace at a time can be written as. The page of predictions describes
its keys.
"""

import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay._predict import _closed
from forebay._predict._world import Site, World
from forebay._run.case import case_of
from forebay._support.reading import read_bytes
from forebay.core.schemas import MORE, NAMED
from forebay.errors import InputError, brief
from forebay.learn import asked_of
from forebay.platforms._declared.problems import Problems
from forebay.platforms._declared.toml import build
from forebay.workload import Workload, job_table
from forebay.workload.dependencies import dependency_table
from forebay.workload.formats._json_values import parse
from forebay.workload.names import numbered

KEY, FORMAT = "snapshot", 1
_LOOK = 4096
_NAMED = {"partition": "queue", "user": "user", "group": "group", "account": "account", "qos": "qos"}
_NAMED |= {"features": "features", "gpu": "gpu"}
_Count = Annotated[int, Field(ge=1, le=2**31)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Word = str | int | None


class _Job(BaseModel):
    """A job; further keys are amounts of resources."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, Annotated[int, Field(ge=0, lt=2**63)]]

    id: int
    submit: _Finite
    nodes: _Count
    start: _Finite | None = None
    end: _Finite | None = None
    begin: _Finite | None = None
    held: bool = False
    walltime: Annotated[float, Field(gt=0)] | None = None
    exclusive: bool | None = None
    priority: _Finite = 0.0
    name: str | None = None
    user: _Word = None
    group: _Word = None
    partition: _Word = None
    account: _Word = None
    qos: _Word = None
    features: _Word = None
    gpu: _Word = None


class _After(BaseModel):
    """A job that waits for another."""

    model_config = ConfigDict(extra="forbid", strict=True)

    job: int
    parent: int
    kind: Literal["after", "afterany", "afterok", "afternotok"] = "afterany"
    delay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    any: bool = False


class _Down(BaseModel):
    """Nodes that are down."""

    model_config = ConfigDict(extra="forbid", strict=True)

    nodes: str
    since: _Finite | None = None
    until: _Finite | None = None


class _Snapshot(BaseModel):
    """All of the file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    snapshot: int
    now: _Finite
    jobs: list[_Job]
    epoch: _Finite = 0.0
    platform: str | None = None
    machine: dict[str, Any] | None = None
    policy: str | None = None
    after: list[_After] = []
    down: list[_Down] = []
    reservations: list[dict[str, Any]] = []


def found(given: Any) -> Mapping[str, Any] | None:
    """The document, if this is a snapshot: a dictionary, or a file that says so in its first lines."""
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, str | PathLike) or not str(given).lower().endswith(".json") or not Path(given).is_file():
        return None
    with Path(given).open("rb") as file:
        if f'"{KEY}"'.encode() not in file.read(_LOOK):
            return None
    document = parse(read_bytes(Path(given)), str(given))
    return document if isinstance(document, Mapping) else None


def world_of(given: Any, document: Mapping[str, Any], platform: Any, policy: Any, seed: int) -> tuple[World, float]:
    """The moment that a snapshot has, and when it is."""
    where = str(given) if isinstance(given, str | PathLike) else "the snapshot"
    known = _checked(document, where)
    if not known.jobs:
        raise InputError(f"{where}: jobs is empty; give those that run and wait, and those that ended to learn from")
    w = _workload(known, where)
    chosen = platform if platform is not None else _machine(known, where)
    if chosen is None:
        raise InputError(f'{where} names no platform; add "platform", or name one: --platform flat:nodes=100')
    case = case_of(w, chosen, policy if policy is not None else known.policy, seed, None, None)
    if not case.platform.sharing:
        _check_room(known, case.platform.nodes, where)
    rows = {job.id: job for job in known.jobs}
    order = [rows[number] for number in w.jobs["id"]]
    start, end = (
        np.array([math.nan if value is None else value for value in column])
        for column in zip(*((job.start, job.end) for job in order), strict=True)
    )
    left = np.where(np.isnan(start), end, np.nan)
    down = [one.model_dump() | {"since": known.now if one.since is None else one.since} for one in known.down]
    closed = _closed.closed_of(down, known.reservations, case.platform, where)
    site = Site(case.platform, policy if policy is not None else known.policy or case.policy, None, seed, closed)
    end = np.where(np.isnan(start), np.nan, end)
    begin = np.array([math.inf if job.held else job.submit if job.begin is None else job.begin for job in order])
    times = w.jobs["submit"].to_numpy(), start, end, left
    return World(case.workload, site, asked_of(case.workload), *times, begin), known.now


def _machine(known: _Snapshot, where: str) -> Any:
    """The machine that it describes, or names."""
    if known.machine is None:
        return known.platform
    return build(known.machine, Problems(f"{where}: machine"), "machine")


def _checked(document: Mapping[str, Any], where: str) -> _Snapshot:
    if document.get(KEY) != FORMAT:
        raise InputError(f'{where}: "{KEY}" is {brief(document.get(KEY))}; this version of forebay reads {FORMAT}')
    try:
        known = _Snapshot.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {key}: {first['msg'].lower()}; it is {brief(first['input'])}") from None
    seen: set[int] = set()
    for place, job in enumerate(known.jobs):
        what = f"{where}: jobs.{place}: job {job.id}"
        if job.id in seen:
            raise InputError(f"{what} stands there twice; keep one")
        seen.add(job.id)
        times = [
            job.submit,
            job.start if job.start is not None else job.submit,
            job.end if job.end is not None else known.now,
        ]
        if not times[0] <= times[1] <= times[2] <= known.now:
            raise InputError(f"{what} has submit <= start <= end <= now broken; nothing is known of what comes later")
    for number, out in enumerate(known.down):
        since = known.now if out.since is None else out.since
        if since > known.now or (out.until is not None and out.until <= known.now):
            raise InputError(f"{where}: down.{number}: since <= now < until is broken; tell of nodes that are down now")
    for one in known.after:
        if one.job not in seen:
            raise InputError(f"{where}: after: job {one.job} waits for job {one.parent}, and is not among jobs")
    return known


def _check_room(known: _Snapshot, nodes: int, where: str) -> None:
    held = sum(job.nodes for job in known.jobs if job.start is not None and job.end is None)
    if held > nodes:
        raise InputError(
            f"{where}: running jobs hold {held:,} nodes, and the machine has {nodes:,}; name the right one"
        )


def _workload(known: _Snapshot, where: str) -> Workload:
    """The jobs as a trace; how long they run is known of those that ended."""
    jobs = sorted(known.jobs, key=lambda job: (job.submit, job.id))
    took = [
        (job.end if job.end is not None else known.now) - job.start if job.start is not None else 0.0 for job in jobs
    ]
    columns: dict[str, Any] = {
        "id": [job.id for job in jobs],
        "submit": [job.submit for job in jobs],
        "nodes": [job.nodes for job in jobs],
        "walltime": [math.inf if job.walltime is None else job.walltime for job in jobs],
        "run_time": [max(one, 1.0) for one in took],
        "priority": [job.priority for job in jobs],
    }
    names: dict[str, dict[int, str]] = {}
    for key, column in _NAMED.items():
        words = [getattr(job, key) for job in jobs]
        if any(word is not None for word in words):
            columns[column], called = numbered(["" if word is None else str(word) for word in words], {})
            names |= {column: called} if called else {}
    extra = dict.fromkeys(key for job in jobs for key in job.__pydantic_extra__)
    clash = [key for key in extra if key in MORE or key in NAMED or not key.isidentifier()]
    if clash:
        raise InputError(f"{where}: {brief(clash[0])} is no resource that a job of a snapshot can ask for")
    columns |= {key: [job.__pydantic_extra__.get(key, 0) for job in jobs] for key in extra}
    if any(job.exclusive is not None for job in jobs):
        columns["exclusive"] = [-1 if job.exclusive is None else int(job.exclusive) for job in jobs]
    own = []
    if any(job.name is not None for job in jobs):
        columns["job_name"], own = [job.name for job in jobs], ["job_name"]
    waits = None
    if known.after:
        rows = [one.model_dump() for one in known.after]
        waits = dependency_table(
            {name: [row[name] for row in rows] for name in ("job", "parent", "kind", "delay", "any")}
        )
    name = Path(where).stem if where.endswith(".json") else "snapshot"
    table = job_table(columns, own)
    return Workload(name, table, epoch=known.epoch, platform=known.platform, names=names, dependencies=waits)


def document(world: World, time: float) -> dict[str, Any]:
    """A moment of a world as a snapshot."""
    w, known = world.workload, world.at(time)
    named = {column: key for key, column in _NAMED.items() if column in w.jobs.columns}
    told = [name for name in ("id", "submit", "nodes", "walltime", "priority", *w.resources) if name in w.jobs.columns]
    jobs = []
    for place, row in enumerate(w.jobs[: known.come].iter_rows(named=True)):
        job = {name: row[name] for name in told}
        if math.isinf(row["walltime"]):
            job.pop("walltime")
        for column, key in named.items():
            if row[column] >= 0:
                job[key] = w.names.get(column, {}).get(row[column], row[column])
        if row.get("exclusive", -1) >= 0:
            job["exclusive"] = bool(row["exclusive"])
        if world.begin is not None and world.begin[place] > row["submit"]:
            job |= {"held": True} if math.isinf(world.begin[place]) else {"begin": float(world.begin[place])}
        if "job_name" in w.own and row["job_name"] is not None:
            job["name"] = row["job_name"]
        for key, value in (("start", world.start[place]), ("end", world.end[place]), ("end", world.left[place])):
            if value <= time:
                job[key] = float(value)
        jobs.append(job)
    there = w.jobs["id"][: known.come].implode()
    after = [] if w.dependencies is None else w.dependencies.filter(pl.col("job").is_in(there)).to_dicts()
    policy = world.site.policy if isinstance(world.site.policy, str) else None
    about = {KEY: FORMAT, "now": time, "epoch": w.epoch, "platform": w.platform, "policy": policy}
    return {**about, "jobs": jobs, **({"after": after} if after else {}), **_closed.document(world.site.closed)}
