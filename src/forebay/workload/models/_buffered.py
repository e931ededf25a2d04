"""Where checkpoints go: into the burst buffer that a job has reserved, never more than that, or past it."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.workload.models import _checks as checks


def within(model: str, phases: pl.DataFrame, ids: NDArray[np.int64], reserved: NDArray[np.int64]) -> pl.DataFrame:
    """Of every checkpoint what there is room for, drained during what follows; the rest goes to the file system.

    A job's n checkpoints have an n-th of its reservation each. So none has to wait for room, however slow drains are.
    """
    numbered = phases.with_row_index("at")
    saves = pl.col("kind") == "checkpoint"
    rooms = pl.DataFrame({"job": ids, "reserved": reserved})
    saved = numbered.filter(saves).join(rooms, on="job", maintain_order="left")
    fits = pl.min_horizontal("bytes", (pl.col("reserved") // pl.len().over("job")).cast(pl.Float64))
    saved = saved.with_columns(fits=fits)
    inside = pl.col("fits")
    parts = {"checkpoint": inside, "drain": inside, "write": pl.col("bytes") - inside}
    made = [
        saved.with_columns(kind=pl.lit(kind), bytes=size).select(numbered.columns).filter(pl.col("bytes") > 0)
        for kind, size in parts.items()
    ]
    checks.phases(model, len(phases) + 2 * len(saved))
    return pl.concat([numbered.filter(~saves), *made]).sort("at", maintain_order=True).drop("at")


def past(phases: pl.DataFrame) -> pl.DataFrame:
    """Every checkpoint written straight to the file system, as one without any reservation is."""
    return phases.with_columns(pl.col("kind").replace("checkpoint", "write"))
