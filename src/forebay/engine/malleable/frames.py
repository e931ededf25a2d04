"""Jobs that change their size, in results."""

import numpy as np
import polars as pl

from forebay.core.codes import Flexibility, LogReason
from forebay.engine.driver.history import Record
from forebay.engine.results.left import Left, mean_nodes
from forebay.engine.results.words import lower, words
from forebay.engine.truth import Truth


def flexibility_of(truth: Truth) -> np.ndarray:
    """Who decides on each job's size; rigid, if it has no application."""
    row, kind = truth.rounds.row, truth.rounds.jobs["kind"]
    codes: np.ndarray = np.where(row >= 0, kind[row], Flexibility.RIGID) if len(row) else row
    return codes


def sizes_frame(left: Left, record: Record) -> pl.DataFrame | None:
    """Who may change the size of each job, the nodes it had on average, and how often these changed; None if nobody."""
    if (left.flexibility == Flexibility.RIGID).all():
        return None
    log = record.log
    changed = log["reason"] == LogReason.RESIZED
    moments = np.unique(np.stack([log["job"][changed].astype(float), log["time"][changed]]), axis=1)[0].astype(np.int64)
    return pl.DataFrame(
        {
            "type": words(left.flexibility, lower(Flexibility)).cast(pl.String),
            "mean_nodes": pl.Series(mean_nodes(left, record)).fill_nan(None),
            "n_resizes": np.bincount(moments, minlength=len(left.jobs)),
        }
    )
