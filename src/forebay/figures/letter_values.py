"""Letter-value plot of waiting times (Hofmann, Wickham & Kafadar 2017): a box plot that goes on into the tails.

Boxes hold the middle half of jobs, the middle three quarters, seven eighths, ... as far as there are enough jobs beyond
a box for its ends to be trusted; jobs beyond the last one are dots.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan, save
from forebay.figures._waits import letter_values, waiting_times
from forebay.results import Result

DESCRIPTION = "waiting times: a box plot with further boxes for the tails (letter values), a row a policy"


def draw(results: Mapping[str, Result], path: Path) -> list[Path]:
    """A row a result. The CSV has each box: the share of jobs in it and its two ends; share 0 is the median."""
    return save(plan(results), path, results)


def plan(results: Mapping[str, Result]) -> Plan:
    """One panel, a row a result."""
    waits = {label: waiting_times(result) for label, result in results.items()}

    def set_up(axis: Any, least: float, largest: float) -> None:
        _style.waits_axis(axis, "x", largest)
        axis.set_xlim(left=-6)

    return plan_values(waits, "waiting time", set_up)


def draw_values(
    values: Mapping[str, np.ndarray],
    path: Path,
    label: str,
    set_up: Callable[[Any, float, float], None],
) -> list[Path]:
    """The files of such a figure of any numbers."""
    return save(plan_values(values, label, set_up), path)


def plan_values(values: Mapping[str, np.ndarray], label: str, set_up: Callable[[Any, float, float], None]) -> Plan:
    """The same of any numbers; `set_up` gives the axis its scale, from the least and the largest of them."""
    boxes = pl.concat([_table(name, some) for name, some in values.items()])
    least = min((float(some.min()) for some in values.values() if some.size), default=0.0)
    largest = max((float(some.max()) for some in values.values() if some.size), default=0.0)

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        (axis,) = axes
        for row, (name, some) in enumerate(values.items()):
            _row(axis, row, boxes.filter(pl.col("result") == name), some)
        if not any(some.size for some in values.values()):
            _style.note(axis, "no job started")
        set_up(axis, least, largest)
        _style.rows_axis(axis, list(values))
        axis.set_xlabel(label)
        axis.grid(True, axis="x")

    return Plan(_style.COLUMN, 0.75 + 0.24 * max(len(values), 3), (1,), paint, {"": boxes})


def _table(label: str, values: np.ndarray) -> pl.DataFrame:
    rows = [(label, values.size, *box) for box in letter_values(values)]
    schema = {"result": pl.String, "n": pl.Int64, "share": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def _row(axis: Any, row: int, boxes: pl.DataFrame, values: np.ndarray) -> None:
    """Outermost box first, so that thicker ones lie on it; paler the further out."""
    found = boxes.select("low", "high").rows()
    if not found:
        return
    rectangles, colours = [], []
    blue, white = np.array(to_rgb(_look.BLUE)), np.ones(3)
    for place in range(len(found) - 1, 0, -1):
        (low, high), half = found[place], 0.4 * 0.8 ** (place - 1)
        rectangles.append([(low, row - half), (high, row - half), (high, row + half), (low, row + half)])
        share = 1 - 0.8 * (place - 1) / max(len(found) - 1, 1)
        colours.append(share * blue + (1 - share) * white)
    axis.add_collection(PolyCollection(rectangles, facecolors=colours, edgecolors="white", linewidths=0.3))
    low, high = found[-1]
    beyond = np.unique(values[(values < low) | (values > high)])
    axis.plot(beyond, np.full(beyond.size, row), "o", ms=1.6, mew=0, color=_look.GREY, clip_on=False)
    middle = found[0][0]
    axis.plot([middle, middle], [row - 0.42, row + 0.42], color="black", lw=1.4, solid_capstyle="butt")
