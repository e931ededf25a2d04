"""Servers of ad-hoc file systems in a schedule: nodes that a job holds and does not compute on."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.patches import Patch

from forebay.figures._failures import lay_over
from forebay.results import Result

_LOOK: dict[str, Any] = {"facecolor": (1, 1, 1, 0.45), "edgecolor": "#404040", "hatch": "....", "linewidth": 0}
SERVERS = "-servers"
"""What the file is called after the picture."""


def shown(result: Result, boxes: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The parts of rectangles that are servers, by the name of the file; nothing if there are none.

    A job computes on the lowest of the nodes that it starts on. All others, and those that come later, serve.
    """
    if "compute_nodes" not in result.jobs.columns:
        return {}
    starts = result.log.lazy().filter(pl.col("kind") == "start").select(pl.col("job").cast(pl.Int64), start="time")
    own = result.jobs.lazy().select(job=pl.col("job_id").cast(pl.Int64), left="compute_nodes")
    size = pl.col("last_node") - pl.col("first_node") + 1
    at_first = boxes.lazy().join(starts.unique(), on=["job", "start"], how="semi")
    later = boxes.lazy().join(starts, on=["job", "start"], how="anti")
    before = (
        at_first.sort("job", "start", "first_node")
        .join(own, on="job", maintain_order="left")
        .with_columns(left=pl.col("left") - size.cum_sum().over("job", "start") + size)
        .filter(pl.col("left") < size)
        .with_columns(first_node=pl.col("first_node") + pl.col("left").clip(0))
    )
    columns = ("job", "first_node", "last_node", "start", "end")
    found = pl.concat([before.select(*columns), later.select(*columns)]).sort(*columns).collect()
    return {} if found.is_empty() else {SERVERS: found}


def mark(axis: Any, found: Mapping[str, pl.DataFrame], unit: float) -> list[Any]:
    """Draw them; gives a handle for a legend."""
    if SERVERS not in found:
        return []
    lay_over(axis, found[SERVERS], unit, _LOOK)
    return [Patch(label="serves", **_LOOK)]
