"""What failures leave in a schedule: nodes that fail and are down, and the time that jobs lost, saved and recovered."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forebay.figures import _style
from forebay.metrics.accounts import outages
from forebay.results import Result, first_ids, spent

MANY = 100
"""More failures than this have smaller marks."""

_DOWN = {"facecolor": "#f0f0f0", "edgecolor": "#a0a0a0", "hatch": "xxxxxx", "linewidth": 0}
_LOOKS: dict[str, dict[str, Any]] = {
    "lost": {"facecolor": (1, 1, 1, 0.65), "edgecolor": "#404040", "hatch": "//////", "linewidth": 0},
    "recovery": {"facecolor": (1, 1, 1, 0.4), "edgecolor": "#404040", "hatch": "......", "linewidth": 0},
    "checkpoint": {"facecolor": (0, 0, 0, 0.5), "edgecolor": "none", "linewidth": 0},
}
"""Above the colour of the job, which shines through."""
_ABOVE = 2.1
"""Above rectangles and the borders between them, below numbers."""
DOWN, PARTS = "-down", "-parts"
"""What the files are called after the picture."""


def shown(result: Result, boxes: pl.DataFrame, few: bool, end: float) -> dict[str, pl.DataFrame]:
    """What there is to mark, by the names of the files: nodes down until the end, and of few jobs parts of boxes."""
    found = {DOWN: _in_lanes(result, outages(result).with_columns(pl.col("end").fill_null(end)))}
    if few:
        found[PARTS] = _parts(result, boxes)
    return {name: frame for name, frame in found.items() if not frame.is_empty()}


def _in_lanes(result: Result, nodes: pl.DataFrame) -> pl.DataFrame:
    """With the lanes of each node, where these are of cores."""
    first = first_ids(result)
    if first is None:
        return nodes
    node = nodes["node"].to_numpy()
    return nodes.with_columns(first_node=first[node], last_node=first[node + 1] - 1)


def _parts(result: Result, boxes: pl.DataFrame) -> pl.DataFrame:
    """Those parts of a schedule's rectangles in which a job did no useful work, and `what` they are instead."""
    what = pl.col("what").cast(pl.String).str.replace("lost_to_.*", "lost")
    other = spent(result.log).filter(pl.col("what") != "useful").select("job", "start", "end", what=what)
    both = boxes.join(other.cast({"job": boxes.schema["job"]}), on="job", suffix="_part", maintain_order="left_right")
    start, end = pl.max_horizontal("start", "start_part"), pl.min_horizontal("end", "end_part")
    found = both.select("job", "first_node", "last_node", "what", start=start, end=end)
    return found.filter(pl.col("start") < pl.col("end")).select(
        "job", "first_node", "last_node", "start", "end", "what"
    )


def mark(axis: Any, found: Mapping[str, pl.DataFrame], unit: float) -> list[Any]:
    """Draw nodes that are down, when they failed, and parts of rectangles; gives handles for a legend."""
    handles: list[Any] = []
    if DOWN in found:
        nodes = found[DOWN]
        if "first_node" not in nodes.columns:
            nodes = nodes.with_columns(first_node="node", last_node="node")
        lay_over(axis, nodes, unit, _DOWN)
        middle = nodes.select((pl.col("first_node") + pl.col("last_node")) / 2).to_series()
        look: dict[str, Any] = {"marker": "x", "color": "black", "linestyle": "none", "markeredgewidth": 0.9}
        size = 4.0 if nodes.height <= MANY else 2.0
        axis.plot(nodes["start"].to_numpy() / unit, middle.to_numpy(), markersize=size, zorder=4, **look)
        handles += [Line2D([], [], markersize=4, label="node fails", **look), Patch(label="down", **_DOWN)]
    for what, look in _LOOKS.items() if PARTS in found else ():
        chosen = found[PARTS].filter(pl.col("what") == what)
        if not chosen.is_empty():
            lay_over(axis, chosen, unit, look)
            handles.append(Patch(label=what, **look))
    return handles


def lay_over(axis: Any, boxes: pl.DataFrame, unit: float, look: Mapping[str, Any]) -> None:
    """Give parts of rectangles another look."""
    axis.add_collection(PolyCollection(_style.corners(boxes, unit), zorder=_ABOVE, **look))
