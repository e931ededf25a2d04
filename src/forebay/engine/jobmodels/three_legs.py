"""Jobs stage in, run and stage out as three legs, each queued by itself, that carry one buffer. Killed at walltime.

The life cycle of a Slurm burst buffer: space is granted and filled before nodes are, and emptied after they are gone.
Jobs that ask for no buffer, or have legs or phases of their own, run as under io-aware.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.engine.build.program import Program
from forebay.engine.jobmodels import io_aware
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload


def program(workload: Workload, platform: Platform, kill: bool = True) -> Program:
    """`kill=false` lets jobs run past their walltime. The walltime is that of the run; staging has none."""
    buffer = platform.fabric().buffer
    if buffer is None:
        raise InputError(
            f"job model 'three-legs' stages data, and {platform.name} has no buffer for it; add a tier of kind "
            "shared_bb or node_local, or run with --job-model alloc-only"
        )
    if buffer not in workload.jobs.columns:
        return io_aware.program(workload, platform, kill)
    own = [frame["job"] for frame in (workload.legs, workload.phases) if frame is not None]
    known = pl.concat(own).unique() if own else pl.Series([], dtype=pl.Int64)
    staged = workload.jobs.filter((pl.col(buffer) > 0) & ~pl.col("id").is_in(known.implode()))
    if len(staged) == 0:
        return io_aware.program(workload, platform, kill)
    given = [] if workload.legs is None else [workload.legs]
    legs = pl.concat([*given, _legs(staged, workload, buffer)], how="diagonal")
    phases = pl.concat([*([] if workload.phases is None else [workload.phases]), _phases(staged, buffer)])
    demands = [name for name in legs.columns if name not in LEG_SCHEMA]
    legs = legs.with_columns(pl.col(demands).fill_null(0))
    return io_aware.program(replace(workload, legs=legs, phases=phases), platform, kill)


def _legs(jobs: pl.DataFrame, workload: Workload, buffer: str) -> pl.DataFrame:
    """In with the buffer alone, run with all that the job asks for, out with the buffer alone."""
    parts = []
    others = [name for name in workload.resources if name != buffer and name in jobs.columns]
    for leg, runs in enumerate((False, True, False)):
        parts.append(
            jobs.select(
                job="id",
                leg=pl.lit(leg, pl.Int64),
                walltime=pl.col("walltime") if runs else pl.lit(np.inf),
                nodes=pl.col("nodes") if runs else pl.lit(0, pl.Int64),
                carry=pl.lit("" if leg == 0 else buffer),
                **{buffer: pl.col(buffer)},
                **{name: pl.col(name) if runs else pl.lit(0, pl.Int64) for name in others},
            )
        )
    return pl.concat(parts)


def _phases(jobs: pl.DataFrame, buffer: str) -> pl.DataFrame:
    nothing, no_release = pl.lit(0.0), pl.lit(None, pl.String)
    size = pl.col(buffer).cast(pl.Float64)
    parts = []
    for leg, kind in enumerate(("stage_in", "compute", "stage_out")):
        runs = kind == "compute"
        parts.append(
            jobs.select(
                job="id",
                leg=pl.lit(leg, pl.Int64),
                kind=pl.lit(kind),
                seconds=pl.col("run_time") if runs else nothing,
                flop=pl.col("flop") if runs else nothing,
                communication=pl.col("communication") if runs else nothing,
                bytes=nothing if runs else size,
                release=no_release,
            )
        )
    return pl.concat(parts).select(*PHASE_SCHEMA)
