"""Waits of a result as plain numbers, and their letter values."""

import math

import numpy as np
import polars as pl

from forebay.metrics._table import counted, measure
from forebay.results import Result

_NORMAL_95 = 1.96
_CELLS, _BEND = 90, 30.0  # of an axis; seconds from which on `_style.waits_axis` is logarithmic


def waiting_times(result: Result) -> np.ndarray:
    """The wait of each job that counts, in seconds: it began."""
    waits = counted(result).select(measure("wait").drop_nulls()).collect().to_series()
    return waits.to_numpy().astype(float)


def depth(n: int) -> int:
    """How many letter values, the median included, are worth showing of n numbers.

    The last is the one whose 95 % interval does not yet reach over the next.
    """
    return max(1, math.floor(math.log2(n / (2 * _NORMAL_95**2))) + 1) if n else 0


def letter_values(values: np.ndarray) -> list[tuple[float, float, float]]:
    """(share of the values between, lower end, upper end), median first."""
    found = []
    for place in range(1, depth(values.size) + 1):
        tail = 0.5**place
        low, high = np.quantile(values, [tail, 1 - tail])
        found.append((1 - 2 * tail, float(low), float(high)))
    return found


def dots(recorded: np.ndarray, simulated: np.ndarray) -> pl.DataFrame:
    """Recorded against simulated waits: jobs by cells of a picture, how many, and their mean waits in seconds.

    Cells are even near 0 and logarithmic beyond, as axes of waits are: of more jobs than a picture has room for, those
    that waited about alike in both are one dot.
    """
    bent = [np.arcsinh(waits / _BEND) for waits in (recorded, simulated)]
    size = max((float(one.max(initial=0.0)) for one in bent), default=0.0) / _CELLS or 1.0
    columns = {"column": bent[0] // size, "row": bent[1] // size, "recorded": recorded, "simulated": simulated}
    cells = pl.DataFrame({name: np.asarray(values, float) for name, values in columns.items()})
    means = (pl.col(kind).mean() for kind in ("recorded", "simulated"))
    found = cells.group_by("column", "row").agg(pl.len().cast(pl.Int64).alias("jobs"), *means)
    return found.sort("column", "row").select("recorded", "simulated", "jobs")
