"""The columns of a workload's tables, and so the names that no resource may have."""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from forebay.results import JOBS_CSV, JOBS_MORE

JOB_SCHEMA: dict[str, Any] = {
    "id": pl.Int64,  # unique; the number in the trace
    "submit": pl.Float64,  # the first job of a trace arrives at 0
    "walltime": pl.Float64,  # what the user asked for; inf = no limit
    "run_time": pl.Float64,  # seconds on the machine, besides `flop`
    "flop": pl.Float64,  # work of each node, in flop; 0 where a trace gives seconds
    "communication": pl.Float64,  # bytes from each node to each other node
    "nodes": pl.Int64,
    "user": pl.Int64,  # -1 = unknown
    "group": pl.Int64,
    "queue": pl.Int64,
    "priority": pl.Float64,  # higher goes first, where a policy asks for it
    "cancel": pl.Float64,  # seconds after its submission at which its user withdraws it; inf = never
}
"""Columns of every job table. Any further Int64 column, but for STATED and MORE, is a demand (a job's total) on
the resource of that name; any further Float64 or String column is the author's own, see `own_columns`."""

MORE: dict[str, Any] = {
    "account": pl.Int64,  # who is charged; -1 = unknown
    "qos": pl.Int64,  # quality of service; -1 = unknown
    "recorded_start": pl.Float64,  # when the job started on the machine of the trace; NaN = unknown
    "running_since": pl.Float64,  # when a job started that runs already at second 0, up to which none is decided on
    "array": pl.Int64,  # the number of the array whose task it is; -1 = of none
    "array_task": pl.Int64,  # which of its tasks; -1 = of none
    "array_limit": pl.Int64,  # how many tasks of its array may have begun at a time; -1 = any number
    "het": pl.Int64,  # the number of the heterogeneous job whose component it is; -1 = of none
    "het_offset": pl.Int64,  # which of its components; -1 = of none
    "tasks": pl.Int64,  # equal parts of a job that gives no nodes: they may lie together on nodes; 0 = not said
    "exclusive": pl.Int64,  # 1 = shares its nodes with nobody, 0 = may; -1 = not said: 1 if it says no cores
    "gpu": pl.Int64,  # the type of its GPUs; -1 = any
    "features": pl.Int64,  # what its nodes must have: names joined by &; -1 = nothing
}
"""Columns that a job table may have besides, where a trace tells so much. What was recorded no policy sees."""

UNKNOWN: dict[str, Any] = {
    "account": -1,
    "qos": -1,
    "recorded_start": math.nan,
    "running_since": math.nan,
    **dict.fromkeys(("array", "array_task", "array_limit", "het", "het_offset"), -1),
    "tasks": 0,
    "exclusive": -1,
    "gpu": -1,
    "features": -1,
}
"""What they hold of a job of which the trace does not tell."""

WHO = ("user", "group", "queue", "account", "qos")
"""Columns of numbers that may stand for the names of persons and places: those that anonymising takes away."""

NAMED = (*WHO, "gpu", "features")
"""Columns of numbers that may stand for names."""

INSIDE = ("cores", "memory", "gpus")
"""Demands that nodes of a machine with classes have inside: a job's totals, 0 = not said. Elsewhere a pool may have
them, as any other demand."""


def own_columns(schema: Mapping[str, Any]) -> list[str]:
    """Columns of a job table that mean what their author says: numbers that may be broken, or text.

    A further column of whole numbers is a demand, so that a table tells the two apart by itself.
    """
    known = (*JOB_SCHEMA, *MORE)
    return [name for name, dtype in schema.items() if name not in known and dtype in (pl.Float64, pl.String)]


RECORDED = ("recorded_reason",)
"""Such columns that tell what became of jobs on the machine of the trace: no policy sees them."""

DEADLINE = "deadline"
"""A column of its author's own that metrics read: until when the job should have ended, on the clock of `submit`."""


def has_deadline() -> pl.Expr:
    """Whether a job has one: null, NaN and -1 mean none."""
    return pl.col(DEADLINE).is_not_nan().fill_null(False) & (pl.col(DEADLINE) != -1)


STATED = ("told_input", "told_output", "told_data")
"""Int64 columns that a job table may have besides: the bytes that a job's user says it reads, writes, and moves in
between. Without them users know what its phases move."""

LEG_SCHEMA: dict[str, Any] = {
    "job": pl.Int64,  # a job's id
    "leg": pl.Int64,  # 0, 1, ... in the order in which they run
    "walltime": pl.Float64,
    "nodes": pl.Int64,
    "carry": pl.String,  # resources kept over from the leg before, even while this one waits: "nodes burst_buffer"
}
"""Legs, for jobs that the scheduler starts in several steps. Further Int64 columns are demands, as in the job table."""

PHASE_SCHEMA: dict[str, Any] = {
    "job": pl.Int64,
    "leg": pl.Int64,
    "kind": pl.String,  # a PhaseKind in lower case: "compute", "stage_in", ...
    "seconds": pl.Float64,
    "flop": pl.Float64,  # per node, on top of `seconds`
    "communication": pl.Float64,
    "bytes": pl.Float64,  # moved by a phase that is not compute, all nodes together
    "release": pl.String,  # given back when the phase ends: "nodes", or so much of it: "burst_buffer=5000"; null = none
}
"""What a leg does, in order. A job without phases is one compute phase of its `run_time` and `flop`."""

DEPENDENCY_SCHEMA: dict[str, Any] = {
    "job": pl.Int64,  # the one that waits
    "parent": pl.Int64,  # the one that it waits for
    "kind": pl.String,  # one of DEPENDENCY_KINDS
    "delay": pl.Float64,  # seconds after the parent began or ended
    "any": pl.Boolean,  # whether one of a job's parents is enough; the same in all rows of a job
}
"""Who may start only after whom."""

DEPENDENCY_KINDS = ("after", "afterany", "afterok", "afternotok", "think")
"""A job waits until its parent has begun, ended, ended well or ended otherwise, as Slurm has it; or it is submitted
only once its parent has ended: its user has thought for the delay."""

TAKEN = frozenset((*JOB_SCHEMA, *STATED, *MORE, *LEG_SCHEMA, *JOBS_CSV, *JOBS_MORE))
"""A resource is a column of demand in job and leg tables, and in results: there these mean something else."""
