"""A Workload: jobs as the scheduler will meet them, where they came from, and what was done to them since.

All times in seconds, all capacities in bytes. Nothing here knows of a machine: flops become seconds, and demands meet
capacities, only when a platform is chosen.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from forebay.errors import InputError

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
"""Columns of every job table. Any further Int64 column, but for those of TOLD, is a demand (a job's total) on the
resource of that name."""

TOLD = ("told_input", "told_output", "told_data")
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

RELEASED = pl.col("release").str.extract(r"^([^=]*)")
"""The resource that a phase gives back."""

RELEASED_PART = pl.col("release").str.extract(r"^[^=]*=([1-9][0-9]*)$").cast(pl.Int64, strict=False)
"""How much of it, where that is written and makes sense; else null."""


@dataclass(frozen=True)
class Workload:
    """Jobs in order of arrival, with everything a run needs to know of their origin."""

    name: str
    jobs: pl.DataFrame
    legs: pl.DataFrame | None = None
    phases: pl.DataFrame | None = None
    epoch: float = 0.0  # Unix time of second 0
    platform: str | None = None  # the machine it was recorded on or made for, as `--platform` takes it
    records: int = 0  # lines or entries read, used or not
    dropped: dict[str, int] = field(default_factory=dict)  # why records were left out -> how many
    notes: tuple[str, ...] = ()  # what a reader or operation wants its user to know, a sentence each
    provenance: tuple[str, ...] = ()  # the source, then each operation, in order
    sha256: str = ""  # of the source's bytes

    def __post_init__(self) -> None:
        for frame, schema, word in (
            (self.jobs, JOB_SCHEMA, "job"),
            (self.legs, LEG_SCHEMA, "leg"),
            (self.phases, PHASE_SCHEMA, "phase"),
        ):
            if frame is None:
                continue
            missing = [name for name in schema if name not in frame.columns]
            if missing:
                raise InputError(f"{self.name}: the {word} table lacks {', '.join(missing)}; see forebay.workload")
            wrong = [name for name, dtype in schema.items() if frame.schema[name] != dtype]
            if wrong:
                wants = ", ".join(f"{name} as {schema[name]}" for name in wrong)
                raise InputError(f"{self.name}: the {word} table must have {wants}")

    def __len__(self) -> int:
        return len(self.jobs)

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of the pooled resources, besides nodes, that jobs ask for."""
        of_legs = [] if self.legs is None else [name for name in self.legs.columns if name not in LEG_SCHEMA]
        of_jobs = [name for name in self.jobs.columns if name not in JOB_SCHEMA and name not in TOLD]
        return tuple(dict.fromkeys(of_jobs + of_legs))


def job_table(columns: dict[str, Any]) -> pl.DataFrame:
    """A job table from the columns that a reader has; the rest takes its neutral value."""
    neutral = {"flop": 0.0, "communication": 0.0, "user": -1, "group": -1, "queue": -1, "priority": 0.0}
    neutral |= {"cancel": math.inf}
    frame = pl.DataFrame(columns)
    for name, value in neutral.items():
        if name not in frame.columns:
            frame = frame.with_columns(pl.lit(value).alias(name))
    known = [pl.col(name).cast(dtype) for name, dtype in JOB_SCHEMA.items()]
    extra = [pl.col(name).cast(pl.Int64) for name in frame.columns if name not in JOB_SCHEMA]
    return frame.select(*known, *extra)
