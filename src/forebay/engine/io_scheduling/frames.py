"""What reads and writes took, in results."""

import numpy as np
import polars as pl

from forebay.core.codes import JobState
from forebay.engine.driver.history import Record
from forebay.engine.results.left import Left
from forebay.engine.truth import Truth


def measured(truth: Truth) -> np.ndarray | None:
    """What the reads and writes of each job took; None without a scheduler."""
    return truth.io.jobs.copy() if len(truth.io.jobs) else None


def transfers_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """Seconds of each job's I/O phases, and what they take alone; null for jobs without any and for those cut off.

    None where it was not asked for, by naming an I/O scheduler.
    """
    if left.io is None:
        return None
    known = (left.jobs["state"] == JobState.COMPLETED) & (left.io["alone"] > 0)
    columns = {"transfer_time": left.io["taken"], "transfer_time_alone": left.io["alone"]}
    return pl.DataFrame({name: np.where(known, column, np.nan) for name, column in columns.items()}).fill_nan(None)
