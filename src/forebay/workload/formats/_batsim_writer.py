"""A Workload as the content of a Batsim file: a profile for each job, named by its id; steps are `id.0`, `id.1`..."""

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl

from forebay._support.text import counted
from forebay.core.schemas import UNKNOWN
from forebay.errors import InputError
from forebay.workload import _source, dependencies
from forebay.workload.formats._batsim_profiles import BESIDE, FILE_SYSTEM, Step
from forebay.workload.workload import Workload

_BUFFER = "burst_buffer"  # a name by which the reader knows one

_TOLD = ("compute", "read", "write", "fetch", "checkpoint", "drain", "stage_in", "stage_out")
"""Kinds of phases that Batsim has a profile for; a drain needs our key that lets it run during what follows."""

_NEUTRAL = {
    "user": -1,
    "group": -1,
    "queue": -1,
    "priority": 0.0,
    **{key: value for key, value in UNKNOWN.items() if key != "recorded_start"},
}


def content(workload: Workload, path: Path) -> tuple[str, list[str]]:
    """The file's text, a line a job and a line a profile, and notes on what it leaves out."""
    jobs = workload.jobs
    odd = jobs.filter(~pl.all_horizontal(pl.col("submit", "run_time", "flop", "communication", "priority").is_finite()))
    if len(odd):
        raise InputError(f"{path}: job {odd['id'][0]} has a number that is not finite; JSON has no word for it")
    steps, notes = _steps(workload)
    n_nodes = _source.machine_nodes(workload.platform)
    if n_nodes is None and len(jobs):
        n_nodes = int(jobs["nodes"].to_numpy().max())
        notes.append(f"the machine's size is not known: nb_res is the widest job's {counted(n_nodes, 'node')}")
    keys = [key for key, value in _NEUTRAL.items() if key in jobs.columns and (jobs[key] != value).any()]
    entries, profiles = [], []
    for row in jobs.iter_rows(named=True):
        entries.append(_text(_entry(row, keys) | _own(row, workload.own)))
        profiles += [f"{_text(name)}: {_text(body)}" for name, body in _profiles(row, steps.get(row["id"])).items()]
    head: dict[str, Any] = {
        "description": "; ".join(workload.provenance),
        "nb_res": n_nodes,
        "epoch": _plain(workload.epoch),
    }
    head |= {"names": workload.names} if workload.names else {}
    parts = [f"{_text(key)}: {_text(value)}" for key, value in head.items()]
    parts += [f'"jobs": [\n{_lines(entries)}\n]', f'"profiles": {{\n{_lines(profiles)}\n}}']
    return "{" + _lines(parts) + "}\n", notes + _lost(workload) + _source.platform_notes(workload.platform)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(items: list[str]) -> str:
    return ",\n".join(items)


def _entry(row: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    walltime = row["walltime"]
    return {
        "id": row["id"],
        "subtime": _plain(row["submit"]),
        "walltime": _plain(walltime) if math.isfinite(walltime) else -1,
        "res": row["nodes"],
        "profile": str(row["id"]),
        **{key: _plain(row[key]) for key in keys},
        **{key: _plain(row[key]) for key in ("cancel", "recorded_start") if math.isfinite(row.get(key, math.nan))},
    }


def _own(row: dict[str, Any], own: tuple[str, ...]) -> dict[str, Any]:
    """Columns of the author's own, in an object of their own; JSON has no word for what is not finite."""
    values = {name: row[name] for name in own if row[name] is not None}
    values = {
        name: value if isinstance(value, str) else _plain(value) for name, value in values.items() if _says(value)
    }
    return {"own": values} if values else {}


def _says(value: str | float) -> bool:
    return isinstance(value, str) or math.isfinite(value)


def _profiles(row: dict[str, Any], steps: list[Step] | None) -> dict[str, Any]:
    """A job's profiles: one, or a composed one and its parts."""
    name = str(row["id"])
    if steps is None:
        steps = []
        if row["run_time"] > 0 or not row["flop"]:
            steps.append(Step(row["run_time"], 0.0, 0.0))
        if row["flop"] or row["communication"]:
            steps.append(Step(0.0, row["flop"], row["communication"]))
    else:
        steps = [part for step in steps for part in _parts(step)]
    bodies = [_body(step, row["nodes"]) for step in steps]
    made = {name: bodies[0]}
    if len(bodies) > 1:
        parts = {f"{name}.{k}": body for k, body in enumerate(bodies)}
        made = {name: {"type": "composed", "repeat": 1, "seq": list(parts)}} | parts
    if "burst_buffer" in row:
        made[name]["bb"] = -(-row["burst_buffer"] // max(row["nodes"], 1))
    return made


def _parts(step: Step) -> list[Step]:
    """A step that both waits and computes is two to Batsim."""
    if step.seconds and (step.flop or step.communication):
        return [Step(step.seconds, 0.0, 0.0), Step(0.0, step.flop, step.communication)]
    return [step]


def _body(step: Step, nodes: int) -> dict[str, Any]:
    if step.kind in ("stage_in", "stage_out", "drain"):
        ends = (FILE_SYSTEM, _BUFFER) if step.kind == "stage_in" else (_BUFFER, FILE_SYSTEM)
        beside = {BESIDE: True} if step.kind == "drain" else {}
        return {"type": "data_staging", "nb_bytes": _plain(step.bytes), "from": ends[0], "to": ends[1], **beside}
    if step.kind != "compute":
        each = _plain(step.bytes / max(nodes, 1))
        reads = step.kind in ("read", "fetch")
        return {
            "type": "parallel_homogeneous_pfs",
            "bytes_to_read": each if reads else 0,
            "bytes_to_write": 0 if reads else each,
            "storage": FILE_SYSTEM if step.kind in ("read", "write") else _BUFFER,
        }
    if step.flop or step.communication:
        return {"type": "parallel_homogeneous", "cpu": _plain(step.flop), "com": _plain(step.communication)}
    return {"type": "delay", "delay": _plain(step.seconds)}


def _steps(workload: Workload) -> tuple[dict[int, list[Step]], list[str]]:
    """Phases of the jobs for which Batsim has the words: one leg, nothing given back early, bytes or time but not both.

    A phase that moves no bytes and takes no time is no step: Batsim has no profile that would read back as one.
    """
    phases = workload.phases
    if phases is None:
        return {}, []
    moves = pl.col("kind") != "compute"
    takes_time = (pl.col("seconds") != 0) | (pl.col("flop") != 0) | (pl.col("communication") != 0)
    foreign = (
        ~pl.col("kind").is_in(_TOLD) | (moves & takes_time) | (pl.col("leg") != 0) | pl.col("release").is_not_null()
    )
    untold = set(phases.filter(foreign)["job"])
    steps: dict[int, list[Step]] = defaultdict(list)
    idle = drains = 0
    for job, *values in phases.select("job", *Step._fields).iter_rows():
        step = Step(*values)
        if job in untold:
            continue
        if step.kind == "compute" or step.bytes:
            steps[job].append(step)
            drains += step.kind == "drain"
        else:
            idle += 1
    notes = []
    if untold:
        notes.append(
            f"{counted(len(untold), 'job')} with phases that Batsim has no profile for: only the total work is written"
        )
    if drains:
        what = counted(drains, "drain is", "drains are")
        notes.append(f'{what} written with "{BESIDE}": true, which Batsim itself does not know: there the job waits')
    if idle:
        notes.append(f"{counted(idle, 'phase moves', 'phases move')} nothing: not written")
    return steps, notes


def _lost(workload: Workload) -> list[str]:
    jobs = workload.jobs
    notes = []
    others = [name for name in _source.demands(workload) if name != "burst_buffer" and (jobs[name] != 0).any()]
    notes += [f"{name} is not written: Batsim has no word for it" for name in others]
    if workload.legs is not None:
        notes.append("legs are not written: a Batsim job starts once")
    notes += _source.application_notes(workload)
    notes += dependencies.lost_in(workload, "Batsim")
    if "burst_buffer" in jobs.columns:
        odd = int((jobs["burst_buffer"] % jobs["nodes"].clip(1) != 0).sum())
        if odd:
            notes.append(
                f"burst buffer of {counted(odd, 'job')} does not divide by the nodes: rounded up, a node at a time"
            )
    return notes


def _plain(value: float) -> float:
    """Whole numbers without a point, as Batsim's own files have them."""
    return int(value) if value == int(value) and abs(value) < 2**53 else value
