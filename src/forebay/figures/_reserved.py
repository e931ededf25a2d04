"""Nodes that are reserved, or in maintenance, in a schedule: behind the jobs, so that those inside can be seen."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from forebay.figures import _style
from forebay.metrics.reserved import reservations
from forebay.results import Result

RESERVED = "-reserved"
"""What the file is called after the picture."""

_LOOK: dict[str, Any] = {"facecolor": "#f7f3e8", "edgecolor": "#c8b88a", "hatch": "\\\\\\\\", "linewidth": 0}


def shown(result: Result, start: float, end: float) -> dict[str, pl.DataFrame]:
    """What there is to mark in that time, by the name of the file."""
    found = reservations(result).filter((pl.col("start") < end) & (pl.col("end") > start))
    found = found.with_columns(pl.col("start", "end").clip(start, end))
    return {} if found.is_empty() else {RESERVED: found}


def mark(axis: Any, found: Mapping[str, pl.DataFrame], unit: float) -> list[Any]:
    """Draw them below all jobs; gives a handle for the legend."""
    if RESERVED not in found:
        return []
    axis.add_collection(PolyCollection(_style.corners(found[RESERVED], unit), zorder=0.5, **_LOOK))
    return [Patch(label="reserved", **_LOOK)]
