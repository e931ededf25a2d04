"""A Workload: jobs as the scheduler will meet them, where they came from, and what was done to them since.

All times in seconds, all capacities in bytes. Nothing here knows of a machine: flops become seconds, and demands meet
capacities, only when a platform is chosen.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from forebay._text import plain
from forebay.core.schemas import JOB_SCHEMA, LEG_SCHEMA, PHASE_SCHEMA, TOLD
from forebay.errors import InputError

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
        # Names and notes come out of files, and go to terminals, tables and pictures: here they become harmless.
        object.__setattr__(self, "name", plain(self.name))
        object.__setattr__(self, "dropped", {plain(why): count for why, count in self.dropped.items()})
        for name in ("notes", "provenance"):
            object.__setattr__(self, name, tuple(plain(line, "\n") for line in getattr(self, name)))
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
        if self.phases is not None:  # further columns mean nothing, and job models add phases of their own
            object.__setattr__(self, "phases", self.phases.select(*PHASE_SCHEMA))

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
