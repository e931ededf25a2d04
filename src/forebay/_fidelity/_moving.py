"""Waits over time, recorded and simulated: moving averages over two weeks, and how far they are apart.

It is the measure by which simulations of ARCHER2 were published: jobs are off by hours either way, and an average that
moves says whether busy weeks are busy in both.
"""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TWO_WEEKS = 14 * 86400.0
PARTS = 14
"""Moments in a window: averages over two weeks are taken once a day."""
_LEAST = 2
"""Windows that a period has at least; of a shorter one, the window is the share of it that `_SHORTER` says."""
_SHORTER = 0.25

SCHEMA = {"time": pl.Float64, "jobs": pl.Int64, "recorded": pl.Float64, "simulated": pl.Float64}


def moving(jobs: pl.DataFrame) -> tuple[pl.DataFrame, float | None]:
    """Mean waits of the jobs submitted in the window before each moment, and the window; None where there is no time.

    The first moment is a whole window after the first submission, the last no later than the last one. Where no job
    was submitted in a window, there is no row.
    """
    rows = jobs.sort("submit", maintain_order=True)
    submit, recorded, simulated = (rows[name].to_numpy() for name in ("submit", "recorded_wait", "simulated_wait"))
    window = _window(submit)
    if window is None:
        return pl.DataFrame(schema=SCHEMA), None
    first, last = float(submit[0]), float(submit[-1])
    step = window / PARTS
    # The last moment may be the last submission itself: rounding must not take it away.
    moments = first + window + step * np.arange(int((last - first - window) / step * (1 + 1e-12)) + 1)
    before, upto = (np.searchsorted(submit, times, side="right") for times in (moments - window, moments))
    count = upto - before
    means = [_between(values, before, upto) / np.maximum(count, 1) for values in (recorded, simulated)]
    columns = {"time": moments, "jobs": count, "recorded": means[0], "simulated": means[1]}
    return pl.DataFrame(columns, SCHEMA).filter(pl.col("jobs") > 0), window


def _window(submit: Floats) -> float | None:
    span = float(submit[-1] - submit[0]) if len(submit) else 0.0
    if span <= 0:
        return None
    return TWO_WEEKS if span >= _LEAST * TWO_WEEKS else _SHORTER * span


def _between(values: Floats, first: NDArray[np.int64], end: NDArray[np.int64]) -> Floats:
    total: Floats = np.concatenate([[0.0], np.cumsum(values)])
    return total[end] - total[first]


def numbers(averages: pl.DataFrame, window: float | None) -> dict[str, Any]:
    """The mean absolute percentage error, as a share, and the window in seconds.

    Moments at which no job had waited by the record are left out: no error is a share of nothing.
    """
    known = averages.filter(pl.col("recorded") > 0)
    off = (known["simulated"] - known["recorded"]).abs() / known["recorded"]
    return {"moving_error": None if off.is_empty() else float(off.mean()), "moving_window": window}  # type: ignore[arg-type]
