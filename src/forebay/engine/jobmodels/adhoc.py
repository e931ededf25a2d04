"""Jobs bring file systems of their own, on their nodes or on borrowed ones, whose servers may come and go.

After ADMIRE's D3.3 (2023), sections 3.2 and 3.3. What a job reads and writes goes to its servers, in seconds by their
number: nodes are exclusive, and so are the ports of a crossbar. Input and output are staged, and contend. A job whose
servers come and go is one that asks for another size: its program is that of an application.
"""

from dataclasses import replace
from typing import Annotated

import numpy as np
import polars as pl

from forebay._support.text import counted
from forebay.core.codes import PhaseKind
from forebay.core.schemas import PHASE_SCHEMA
from forebay.core.units import parse_bytes, parse_rate, parse_seconds
from forebay.engine.adhoc.demands import Served
from forebay.engine.adhoc.servers import Servers, Setting
from forebay.engine.build.program import Program, as_written
from forebay.engine.jobmodels import application, io_aware
from forebay.errors import InputError
from forebay.platforms.fabric import Fabric
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

DESCRIPTION = (
    "Jobs read and write on ad-hoc file systems of their own, whose servers may come and go; staging contends."
)

_INPUT, _OUTPUT = PhaseKind.READ, PhaseKind.WRITE
_WRITES = (PhaseKind.WRITE, PhaseKind.CHECKPOINT)
_KNOWN = (PhaseKind.READ, PhaseKind.WRITE, PhaseKind.CHECKPOINT, PhaseKind.FETCH, PhaseKind.COMPUTE)
_BUFFER = "burst_buffer"

_Bytes = Annotated[float, parse_bytes]
_Size = Annotated[int, parse_bytes]
_Rate = Annotated[float, parse_rate]
_Seconds = Annotated[float, parse_seconds]


def program(
    workload: Workload,
    platform: Platform,
    servers: str = "fixed",
    nodes: str = "borrowed",
    start: float = 0.25,
    most: float = 1.0,
    recommended: _Rate = 250e6,
    tolerance: float = 0.1,
    window: int = 3,
    operations: int = 10,
    grant: str = "free",
    redistribute: str = "partial",
    block: _Size = 2**20,
    holds: _Bytes = np.inf,
    write: _Rate = 1e9,
    read: _Rate = 50e9,
    slowdown: float = 0.0,
    hop: _Seconds = 0.0,
    hits: float = 0.0,
    batch: int = 1,
    write_back: bool = False,
    kill: bool = False,
) -> Program:
    """`servers` is none, fixed or malleable; docs/reference/adhoc.md has all parameters."""
    setting = Setting(
        servers, nodes, start, most, recommended, tolerance, window, operations, grant, redistribute, block, holds,
        write, read, slowdown, hop, hits, batch, write_back,
    )  # fmt: skip
    fabric = platform.fabric()
    _refuse(workload, platform, fabric, setting)
    plain, buffer = _written(workload, platform, fabric)
    row = plain.leg_job[plain.phase_leg]
    n, moves = len(workload), plain.bytes > 0
    compute_nodes = np.maximum(workload.jobs["nodes"].to_numpy(), 1)
    data = np.bincount(row, plain.bytes * np.isin(plain.kind, (*_WRITES, _INPUT)), n)
    movers = np.bincount(row, moves, n) > 0
    if not movers.any():
        raise InputError(
            f"{workload.name}: no job reads or writes anything; give jobs phases, or requests of {buffer} "
            "(`forebay workload convert --model burst-buffer` adds them)"
        )
    ids = workload.jobs["id"].to_numpy()
    # Jobs that only compute go through their phases too, if they have any; all others are as in alloc-only.
    busy = np.flatnonzero(movers | _has_phases(workload))
    hosts = Servers(setting, platform.nodes, fabric.port, ids[busy], compute_nodes[busy], data[busy])
    first = np.zeros(n, np.int64)
    if setting.servers != "none":
        first[busy] = np.where(movers[busy], hosts.first, 0)
    served = Served(setting, hosts, ids, busy, first[busy], compute_nodes[busy], plain)
    borrowed = first if setting.nodes == "borrowed" else np.zeros(n, np.int64)
    jobs = workload.jobs.with_columns(nodes=workload.jobs["nodes"] + borrowed)
    if buffer in jobs.columns:
        jobs = jobs.with_columns(pl.lit(0, pl.Int64).alias(buffer))
    made = application.program(
        replace(workload, jobs=jobs, phases=None, applications=served.applications(jobs["walltime"].to_numpy())),
        platform,
        kill,
    )
    made.notes[:] = [*_notes(workload, first[movers], setting, buffer), *_kept(made.notes, buffer)]
    return replace(served.finished(made), compute_nodes=workload.jobs["nodes"].to_numpy())


def _refuse(workload: Workload, platform: Platform, fabric: Fabric, setting: Setting) -> None:
    """What cannot be run like this, by name."""
    if workload.applications is not None:
        raise InputError(f"{workload.name}: jobs have applications; run them with --job-model application")
    if workload.legs is not None:
        raise InputError(
            f"{workload.name}: jobs have legs of their own, and job model 'adhoc' makes one of each job; leave them out"
        )
    if fabric.read is None:
        raise InputError(
            f"job model 'adhoc' stages data from and to the file system, and {platform.name} has none; add a tier of "
            "kind pfs (or pfs=5GB/s to flat)"
        )
    for is_so, what in (
        (fabric.chunked, "a burst buffer in chunks on servers"),
        (len(platform.atoms) > 1, "nodes that are not all alike"),
        (platform.by_choice, "storage for policies to choose"),
        (len(fabric.links) > 0 and setting.servers != "none", "links between nodes that servers would share with jobs"),
    ):
        if is_so:
            raise InputError(
                f"job model 'adhoc' does not go with {platform.name}, which has {what}; take a flat machine"
            )


def _written(workload: Workload, platform: Platform, fabric: Fabric) -> tuple[Program, str]:
    """What jobs do, as their phases or their requests of burst buffer say; and the name of the latter."""
    buffer = fabric.buffer or _BUFFER
    jobs = workload.jobs
    own = pl.DataFrame(schema=PHASE_SCHEMA) if workload.phases is None else workload.phases
    request = jobs[buffer].to_numpy() if buffer in jobs.columns else np.zeros(len(jobs))
    request = np.where(_has_phases(workload), 0.0, request)
    plain = as_written(replace(workload, phases=pl.concat([own, _cycles(jobs, request)])), platform, False, move=True)
    strange = ~np.isin(plain.kind, _KNOWN) | (plain.release >= 0)
    if strange.any():
        job = jobs["id"][int(plain.leg_job[plain.phase_leg[np.argmax(strange)]])]
        raise InputError(
            f"{workload.name}: job {job} stages, drains or releases something in a phase, which job model 'adhoc' does "
            "by itself; give it phases of the kinds read, compute, checkpoint, fetch and write"
        )
    return plain, buffer


def _has_phases(workload: Workload) -> np.ndarray:
    """Jobs that have phases of their own."""
    own = pl.Series([], dtype=pl.Int64) if workload.phases is None else workload.phases["job"]
    has: np.ndarray = workload.jobs["id"].is_in(own.implode()).to_numpy()
    return has


def _cycles(jobs: pl.DataFrame, request: np.ndarray) -> pl.DataFrame:
    """Phases of jobs that ask for buffer, as in io-aware; checkpoints stay where they are."""
    asks = np.flatnonzero(request > 0)
    chosen = jobs[asks]
    seconds, flop, talks = (chosen[name].to_numpy() for name in ("run_time", "flop", "communication"))
    job, kind, share, size, message = io_aware.cycles(request[asks], seconds, talks)
    names = {PhaseKind.STAGE_IN: "read", PhaseKind.STAGE_OUT: "write"}
    words = np.array([names.get(code, code.name.lower()) for code in PhaseKind])
    computes = kind == PhaseKind.COMPUTE
    parts = np.bincount(job, computes, len(chosen))
    return pl.DataFrame(
        {
            "job": chosen["id"].to_numpy()[job],
            "leg": np.zeros(len(job), np.int64),
            "kind": words[kind].astype(object),
            "seconds": share,
            "flop": np.where(computes, (flop / np.maximum(parts, 1))[job], 0.0),
            "communication": message,
            "bytes": size,
            "release": pl.Series([None] * len(job), dtype=pl.String),
        },
        schema=PHASE_SCHEMA,
    ).filter(pl.Series(kind != PhaseKind.DRAIN))


def _kept(notes: list[str], buffer: str) -> list[str]:
    """What an application's program has to say, but for the buffer, which nobody asks for here."""
    return [note for note in notes if buffer not in note]


def _notes(workload: Workload, first: np.ndarray, setting: Setting, buffer: str) -> list[str]:
    notes = []
    if buffer in workload.jobs.columns and (workload.jobs[buffer] > 0).any():
        where = "on the file system" if setting.servers == "none" else "on their servers"
        notes.append(f"no job holds {buffer} in job model adhoc: jobs keep their data {where}")
    alone = int((first == 0).sum())
    if alone and setting.servers != "none":
        who = counted(alone, "job leaves", "jobs leave")
        notes.append(f"{who} no node of the machine to a server, and so read and write on the file system itself")
    return notes
