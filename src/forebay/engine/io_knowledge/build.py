"""What a policy is to know of jobs' I/O, from what they do, from what users say, or from earlier jobs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from forebay.core.codes import EXACT, KNOWN, LEARNED, STATED
from forebay.core.running import KNOWN_IO
from forebay.engine.build.program import Program
from forebay.engine.io_knowledge.alone import alone, rate_alone
from forebay.engine.io_knowledge.tables import IoKnowledge, make_knowledge
from forebay.errors import InputError, nearest
from forebay.platforms.platform import Platform
from forebay.workload.workload import Workload

IO_BYTES, IO_SECONDS, IO_PERIOD = COLUMNS = ("io_bytes", "io_seconds", "io_period")
"""Columns of a workload in which users, or counters of earlier runs, say what a job reads and writes."""

Programs = Callable[[Workload], Program]


def knowledge_of(
    policy: Any, name: str, workload: Workload, platform: Platform, program: Program, made_of: Programs
) -> IoKnowledge | None:
    """What a policy with a parameter `known` sees; None for others, and where applications tell all. `name` is its.

    `made_of` makes the program of another workload, as the run's job model does.
    """
    known = getattr(policy, "known", None)
    if known is None:
        return None
    if known not in KNOWN:
        raise InputError(f"policy {name!r}: known is {known!r}: {nearest(str(known), KNOWN)}")
    if program.rounds is not None and known != EXACT:
        raise InputError(
            f"policy {name!r} has known={known}, and jobs of {workload.name} have applications, which tell what they "
            "do at each size; write known=exact, or leave the applications out"
        )
    if program.rounds is not None and len(program.rounds.row) and (program.rounds.row >= 0).all():
        return None
    table = _stated(workload, platform, made_of) if known == STATED else alone(program, platform.fabric())
    if getattr(policy, "needs_times", False):
        _refuse_idle(table, name, workload, known, program)
    if known != LEARNED:
        return make_knowledge(len(table))._replace(jobs=table)
    return _learned(table, workload)


def _refuse_idle(table: np.ndarray, name: str, workload: Workload, known: str, program: Program) -> None:
    """Refuse a workload in which no job does any I/O: an order by it would look like an answer."""
    if program.rounds is not None or table["io"].any():
        return
    columns = [name for name in COLUMNS if name in workload.jobs.columns]
    fix = "attach some (`forebay workload convert --model io-share`)"
    if columns and known != STATED:
        fix = f"write known=stated to go by its column {columns[0]}, or {fix}"
    elif known == STATED:
        fix = f"give a column {IO_BYTES} or {IO_SECONDS}, or {fix}"
    raise InputError(
        f"policy {name!r} weighs what jobs read and write, and no job of {workload.name} does in this run; {fix}"
    )


def _column(workload: Workload, name: str) -> np.ndarray | None:
    """A column of what jobs say; NaN where one says nothing."""
    if name not in workload.jobs.columns:
        return None
    column = workload.jobs[name]
    if not column.dtype.is_numeric():
        raise InputError(f"{workload.name}: column {name} holds text; give numbers, or rename it")
    values: np.ndarray = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
    bad = values < 0
    if bad.any():
        job = int(np.argmax(bad))
        raise InputError(
            f"{workload.name}: job {workload.jobs['id'][job]} has {name} {values[job]:g}; give 0 or more, or nothing"
        )
    return values


def _stated(workload: Workload, platform: Platform, made_of: Programs) -> np.ndarray:
    """What users say: that jobs run for their walltime and move what they ask for, unless columns say more."""
    jobs = workload.jobs.with_columns(run_time=pl.col("walltime"), flop=pl.lit(0.0))
    program, fabric = made_of(replace(workload, jobs=jobs)), platform.fabric()
    found = alone(program, fabric)
    walltime = workload.jobs["walltime"].to_numpy()
    found["seconds"] = np.where(np.isfinite(walltime), walltime, found["seconds"])
    size, seconds, period = (_column(workload, name) for name in COLUMNS)
    if size is not None and fabric.write is not None:
        capacity = dict(zip(fabric.names, fabric.capacity.tolist(), strict=True))
        rate = rate_alone((fabric.write,), np.maximum(program.nodes, 1).astype(float), capacity)
        found["bytes"] = np.where(np.isnan(size), found["bytes"], size)
        found["io"] = np.where(np.isnan(size), found["io"], size / rate)
    if seconds is not None:
        found["io"] = np.where(np.isnan(seconds), found["io"], seconds)
    if period is not None:
        found["period"] = np.where(np.isnan(period), found["period"], period)
    found["io"] = np.minimum(found["io"], found["seconds"])
    return found


def _learned(table: np.ndarray, workload: Workload) -> IoKnowledge:
    """Nothing is known before jobs have ended: a job is taken to run for its walltime, and to move nothing."""
    users, learner = np.unique(workload.jobs["user"].to_numpy(), return_inverse=True)
    knowledge = make_knowledge(len(table), len(users) + 1)
    blank = np.zeros(len(table), KNOWN_IO)
    blank["seconds"], blank["period"] = workload.jobs["walltime"].to_numpy(), np.inf
    unknown = workload.jobs["user"].to_numpy() < 0
    return knowledge._replace(jobs=blank, exact=table, learner=np.where(unknown, len(users), learner).astype(np.int64))
