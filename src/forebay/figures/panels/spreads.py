"""Values of many jobs by policy: boxes of quartiles with medians, and means as dots."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forebay.figures import _header, _look, _style

WHISKER = 1.5
"""Times the box's length: how far a whisker goes at most; what lies farther out is not drawn."""


def draw(groups: Mapping[str, Mapping[str, np.ndarray]], path: Path, label: str) -> list[Path]:
    """Groups of values by policy; a policy has its boxes side by side. The CSV has the numbers of each box."""
    names = list(dict.fromkeys(name for values in groups.values() for name in values))
    rows: list[tuple[str, str, float, float, float, float, float, float]] = []
    height = 0.75 / len(groups)
    with _style.page(_style.COLUMN * 1.3, 0.8 + 0.34 * max(len(names), 3)) as figure:
        axis = figure.subplots()
        for k, (group, values) in enumerate(groups.items()):
            for row, name in enumerate(names):
                numbers = five(values[name])
                mean = float(values[name].mean())
                rows.append((name, group, *numbers, mean))
                _box(axis, row + (k + 0.5) * height - 0.375, height, numbers, mean, _look.PALETTE[k])
        _style.rows_axis(axis, names)
        axis.set_xlim(left=0)
        axis.set_xlabel(label)
        axis.grid(True, axis="x")
        handles: list[Any] = [Patch(color=_look.PALETTE[k], alpha=0.35, label=group) for k, group in enumerate(groups)]
        handles.append(Line2D([], [], color="black", lw=1.2, label="median"))
        handles.append(Line2D([], [], color="black", marker="o", ls="", ms=3, label="mean"))
        _style.legend(figure, handles, 4)
        columns = ("least", "quartile_1", "median", "quartile_3", "largest", "mean")
        schema = {"policy": pl.String, "what": pl.String} | dict.fromkeys(columns, pl.Float64)
        return _style.write(figure, path, {"": pl.DataFrame(rows, schema, orient="row")}, _header.caption)


def five(values: np.ndarray) -> tuple[float, float, float, float, float]:
    """The ends of the whiskers, and between them the quartiles."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    reach = WHISKER * (high - low)
    inside = values[(values >= low - reach) & (values <= high + reach)]
    return float(inside.min()), float(low), float(middle), float(high), float(inside.max())


def _box(axis: Any, y: float, height: float, numbers: tuple[float, ...], mean: float, colour: str) -> None:
    least, low, middle, high, largest = numbers
    half = 0.42 * height
    for begin, end in ((least, low), (high, largest)):
        axis.plot([begin, end], [y, y], color=_look.GREY, lw=0.8, zorder=2)
    axis.fill_betweenx([y - half, y + half], low, high, color=colour, alpha=0.35, lw=0, zorder=2)
    axis.plot([middle, middle], [y - half, y + half], color="black", lw=1.2, solid_capstyle="butt", zorder=3)
    axis.plot(mean, y, "o", color="black", ms=2.6, zorder=4)
