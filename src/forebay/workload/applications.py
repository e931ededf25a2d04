"""Applications: what jobs do in rounds, at every size they may have.

A job of this kind runs tasks in loops. What a task takes depends on how many nodes the job has, so it is written for
each of its sizes. Nothing here knows of a machine: a task has work and bytes, and a machine makes times of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import polars as pl

from forebay.errors import InputError, wrong_type

TYPES = ("rigid", "moldable", "malleable", "evolving", "adaptive")
"""Who decides on a job's size, and when: none; the scheduler at its start; the scheduler at scheduling points; the
job by requests; both."""

STAGES = ("init", "run", "reconfiguration", "expansion")
"""When a task runs: once, before all loops; in its loop; on all nodes after the size has changed; on the nodes that
were added, after that."""

KINDS = ("compute", "read", "write", "checkpoint", "fetch")
"""What a task does: work and messages; transfers from and to the file system; into the burst buffer, and out of it."""

_SCHEMAS: dict[str, dict[str, Any]] = {
    "jobs": {"job": pl.Int64, "type": pl.String},
    "sizes": {
        "job": pl.Int64,
        "nodes": pl.Int64,  # a size that it may have; the job table has the preferred one
        "walltime": pl.Float64,  # that the user asked for at this size; inf = no limit
    },
    "loops": {
        "job": pl.Int64,
        "loop": pl.Int64,  # 0, 1, ... in the order in which they run
        "rounds": pl.Int64,
        "point": pl.Boolean,  # a scheduling point stands before each round, but for the job's first round
        "barrier": pl.Boolean,  # what runs beside is waited for before each round
    },
    "tasks": {
        "job": pl.Int64,
        "task": pl.Int64,  # 0, 1, ... in order; those of a loop, and those of a stage, side by side
        "stage": pl.String,
        "loop": pl.Int64,  # -1 in other stages than "run"
        "kind": pl.String,
        "beside": pl.Boolean,  # what follows does not wait for it
        "coupled": pl.Boolean,  # work and messages advance together, rather than one beside the other
    },
    "amounts": {
        "job": pl.Int64,
        "task": pl.Int64,
        "nodes": pl.Int64,  # of the job; in stage "expansion", those that were added
        "seconds": pl.Float64,  # on top of `flop`
        "flop": pl.Float64,  # of the node that has the most
        "communication": pl.Float64,  # bytes from each node to each other, or as many as keep the busiest port as busy
        "bytes": pl.Float64,  # that are read or written, all nodes together
        "streams": pl.Int64,  # nodes that read or write, each as much; or, striped, as many times all nodes
    },
    "requests": {
        "job": pl.Int64,
        "loop": pl.Int64,
        "round": pl.Int64,  # rounds of this loop that are over; -1 = however many
        "nodes": pl.Int64,  # its size now
        "wants": pl.Int64,  # and the one it asks for, before the round begins
    },
}
TABLES = tuple(_SCHEMAS)
"""The names of all tables."""


@dataclass(frozen=True)
class Applications:
    """Tables, each sorted by job and then in the order of its next columns."""

    jobs: pl.DataFrame
    sizes: pl.DataFrame
    loops: pl.DataFrame
    tasks: pl.DataFrame
    amounts: pl.DataFrame
    requests: pl.DataFrame

    def __post_init__(self) -> None:
        for name, schema in _SCHEMAS.items():
            table = getattr(self, name)
            if not isinstance(table, pl.DataFrame):
                raise wrong_type(f"the table of {name}", table, "a polars DataFrame")
            wrong = [f"{column} as {kind}" for column, kind in schema.items() if table.schema.get(column) != kind]
            if wrong:
                raise InputError(f"applications: the table of {name} must have {', '.join(wrong)}")
            object.__setattr__(self, name, table.select(*schema))

    def only(self, jobs: pl.Series) -> "Applications | None":
        """Those of these jobs; None if they have none."""
        kept = {one.name: getattr(self, one.name).filter(pl.col("job").is_in(jobs.implode())) for one in fields(self)}
        return Applications(**kept) if len(kept["jobs"]) else None

    def renumbered(self, old: pl.Series, new: pl.Series) -> "Applications":
        """The same jobs under other numbers, and in their order."""
        changed = {
            one.name: _by_job(getattr(self, one.name).with_columns(pl.col("job").replace_strict(old, new)))
            for one in fields(self)
        }
        return replace(self, **changed)


def empty(name: str) -> pl.DataFrame:
    """A table without rows."""
    return pl.DataFrame(schema=_SCHEMAS[name])


def table(name: str, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """A table of rows, in the order of its columns."""
    return pl.DataFrame(rows, _SCHEMAS[name], orient="row") if rows else empty(name)


def stacked(some: Sequence[Applications]) -> Applications:
    """All of them as one."""
    return Applications(**{name: _by_job(pl.concat([getattr(one, name) for one in some])) for name in _SCHEMAS})


def _by_job(rows: pl.DataFrame) -> pl.DataFrame:
    """Sorted by job; rows of each stay in their order."""
    return rows.sort("job", maintain_order=True)
