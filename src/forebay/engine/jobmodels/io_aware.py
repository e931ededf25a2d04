"""Jobs stage data in, compute with checkpoints, and stage out; transfers contend. Killed at their walltime.

The IO-Aware model of Kopański & Rządca (2021), as its authors coded it: one compute phase an hour, 1 to 10 of them;
between two a checkpoint of half the buffer request, drained to the file system beside the next phase.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from forebay.core.codes import PhaseKind
from forebay.core.schemas import PHASE_SCHEMA
from forebay.engine.build.program import Program, as_written, demands, resource_notes, work
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

SECONDS_A_PHASE = 3600.0
MOST_PHASES = 10
CHECKPOINT_SHARE = 0.5
"""Of the request. The paper's text says the whole of it; the authors' program writes half."""


def program(workload: Workload, platform: Platform, kill: bool = True) -> Program:
    """`kill=false` lets jobs run past their walltime. Jobs with phases of their own go through those."""
    if workload.phases is not None:
        others = workload.jobs.join(workload.phases, left_on="id", right_on="job", how="anti")
        phases = pl.concat([workload.phases, _as_frame(replace(workload, jobs=others), platform)])
        return as_written(replace(workload, phases=phases), platform, kill, move=True)
    if workload.legs is not None:
        return as_written(replace(workload, phases=_as_frame(workload, platform)), platform, kill, move=True)
    job, kind, seconds, size, communication = _staged(workload, platform)
    demand = demands(workload.jobs, platform)
    n = len(workload)
    return Program(
        first_leg=np.arange(n + 1),
        walltime=workload.jobs["walltime"].to_numpy(),
        demand=demand,
        carry=np.zeros(demand.shape, bool),
        kills=np.full(n, kill),
        first_phase=np.concatenate([[0], np.cumsum(np.bincount(job, minlength=n))]),
        kind=kind,
        seconds=seconds,
        bytes=size,
        communication=communication,
        release=np.full(len(job), -1),
        released=np.full(len(job), -1),
        notes=resource_notes(workload, platform),
    )


def _staged(workload: Workload, platform: Platform) -> tuple[np.ndarray, ...]:
    """The phases of every job, side by side: its row, their kinds, seconds, bytes and communication."""
    buffer = platform.fabric().buffer
    if buffer is None and workload.phases is None:
        raise InputError(
            f"job model 'io-aware' stages data, and {platform.name} has no buffer for it; add a tier of kind "
            "shared_bb or node_local, or run with --job-model alloc-only"
        )
    request = np.zeros(len(workload))
    if buffer is not None:
        request += demands(workload.jobs, platform)[:, platform.resources.index(buffer)]
    return cycles(request, work(workload, platform), workload.jobs["communication"].to_numpy())


def cycles(request: np.ndarray, seconds: np.ndarray, communication: np.ndarray) -> tuple[np.ndarray, ...]:
    """The same for jobs with these requests, seconds to compute and messages."""
    n_compute = np.clip(np.rint(seconds / SECONDS_A_PHASE), 1, MOST_PHASES).astype(np.int64)
    # stage-in, compute, then (checkpoint, drain, compute) again and again, stage-out; compute alone without data
    stages = request > 0
    n_phases = np.where(stages, 3 * n_compute, n_compute)
    job = np.repeat(np.arange(len(request)), n_phases)
    first = np.concatenate([[0], np.cumsum(n_phases)])
    cycle = np.array([PhaseKind.DRAIN, PhaseKind.COMPUTE, PhaseKind.CHECKPOINT])[(np.arange(len(job)) - first[job]) % 3]
    kind = np.where(stages[job], cycle, PhaseKind.COMPUTE)
    kind[first[:-1][stages]] = PhaseKind.STAGE_IN
    kind[first[1:][stages] - 1] = PhaseKind.STAGE_OUT
    computes = kind == PhaseKind.COMPUTE
    whole = (kind == PhaseKind.STAGE_IN) | (kind == PhaseKind.STAGE_OUT)
    return (
        job,
        kind,
        np.where(computes, (seconds / n_compute)[job], 0.0),
        np.where(computes, 0.0, request[job] * np.where(whole, 1.0, CHECKPOINT_SHARE)),
        np.where(computes, communication[job], 0.0),
    )


def _as_frame(workload: Workload, platform: Platform) -> pl.DataFrame:
    """The same as a phase table, all in leg 0."""
    job, kind, seconds, size, communication = _staged(workload, platform)
    words = [code.name.lower() for code in PhaseKind]
    return pl.DataFrame(
        {
            "job": workload.jobs["id"].to_numpy()[job],
            "leg": np.zeros(len(job), np.int64),
            "kind": [words[code] for code in kind],
            "seconds": seconds,
            "flop": np.zeros(len(job)),
            "communication": communication,
            "bytes": size,
            "release": pl.Series([None] * len(job), dtype=pl.String),
        },
        schema=PHASE_SCHEMA,
    )
