"""What held jobs back, in results."""

from collections.abc import Callable

import numpy as np
import polars as pl

from forebay.engine.causes import HeldBy
from forebay.engine.driver.history import Record

_TEXTS = dict.fromkeys(("reason", "slurm", "detail"), pl.String)
_HELD = pl.DataFrame(schema={"time": pl.Float64, "job": pl.Int64, **_TEXTS})


def held_frame(record: Record, jobs: np.ndarray, why: Callable[[int, int, int], tuple[str, str, str]]) -> pl.DataFrame:
    """From when on a job was held back, and by what: a row for each change; no rows where nothing was limited."""
    held = np.column_stack([record.held[name] for name in ("by", "row", "part")])
    if not len(held):
        return _HELD.clone()
    causes, which = np.unique(held, axis=0, return_inverse=True)
    words = [why(*one) if one[0] != HeldBy.NOTHING else ("", "", "") for one in causes.tolist()]
    columns = {name: pl.Series([word[k] for word in words])[which.ravel()] for k, name in enumerate(_TEXTS)}
    return pl.DataFrame({"time": record.held["time"], "job": jobs["id"][record.held["job"]], **columns})
