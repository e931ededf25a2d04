"""Phases of jobs that read, compute and write checkpoints in turn, and write."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.core.schemas import PHASE_SCHEMA
from forebay.workload.models import _checks as checks

_Floats = NDArray[np.float64]


def in_turn(
    model: str,
    ids: NDArray[np.int64],
    read: _Floats,
    write: _Floats,
    moved: _Floats,
    writes: _Floats,
    computing: _Floats,
    communication: _Floats | None = None,
) -> pl.DataFrame:
    """Read, compute, then checkpoint and compute again and again, write; without what has nothing to move.

    `moved` bytes are those of all `writes` checkpoints of a job, `computing` its seconds; equal parts of each.
    """
    n = writes.astype(np.int64)
    per_job = 2 * n + 3
    checks.phases(model, int(per_job.sum()))
    row = np.repeat(np.arange(len(ids)), per_job)
    place = np.arange(len(row)) - (np.cumsum(per_job) - per_job)[row]
    last = per_job[row] - 1
    computes = place % 2 == 1
    size = np.where(place == 0, read[row], np.where(place == last, write[row], (moved / np.maximum(n, 1))[row]))
    size[computes] = 0.0
    kinds = np.where(place == 0, "read", np.where(place == last, "write", np.where(computes, "compute", "checkpoint")))
    said = np.zeros(len(ids)) if communication is None else communication
    frame = pl.DataFrame(
        {
            "job": ids[row],
            "leg": np.zeros(len(row), np.int64),
            "kind": kinds,
            "seconds": np.where(computes, (computing / (n + 1))[row], 0.0),
            "flop": np.zeros(len(row)),
            "communication": np.where(computes, said[row], 0.0),
            "bytes": size,
            "release": pl.Series([None] * len(row), dtype=pl.String),
        },
        schema=PHASE_SCHEMA,
    )
    return frame.filter(pl.Series(computes | (size > 0)))
