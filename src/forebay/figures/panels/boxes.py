"""Ratios of several policies over parts of a workload: a box of quartiles each, and every part a dot on it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _look, _style
from forebay.figures.panels.tails import GOLDEN

WHISKER = 1.5
"""Times the box's length: how far a whisker goes at most, as Tukey drew it."""


def draw(table: pl.DataFrame, path: Path, label: str, published: Mapping[str, float]) -> list[Path]:
    """`table` has a row a dot: policy, ratio, and whatever else identifies it; it becomes the CSV.

    `published` are medians, drawn beside ours.
    """
    names = table["policy"].unique(maintain_order=True).to_list()
    with _style.page(_style.COLUMN, 0.95 + 0.3 * max(len(names), 3)) as figure:
        axis = figure.subplots()
        axis.axvline(1, color="black", lw=0.7, zorder=1)
        for row, name in enumerate(names):
            values = np.sort(table.filter(pl.col("policy") == name)["ratio"].to_numpy())
            _box(axis, row, values)
            if name in published:
                axis.plot(published[name], row, "D", color=_look.ORANGE, ms=3.6, mec="white", mew=0.5, zorder=5)
        ratios = table["ratio"].to_numpy()
        if ratios.size and 0 < 10 * ratios.min() < ratios.max():
            _style.log_axis(axis, "x", float(ratios.min()), float(ratios.max()))
        _style.rows_axis(axis, names)
        axis.set_xlabel(label)
        axis.grid(True, axis="x")
        handles = [Line2D([], [], color=_look.BLUE, marker="o", ls="", ms=3.5, label="a part")]
        handles.append(Line2D([], [], color="black", lw=1.4, label="median"))
        if published:
            handles.append(Line2D([], [], color=_look.ORANGE, marker="D", ls="", ms=4, label="published median"))
        _style.legend(figure, handles, 3)
        return _style.write(figure, path, {"": table}, _header.caption)


def _box(axis: Any, row: int, values: np.ndarray) -> None:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    reach = WHISKER * (high - low)
    ends = values[(values >= low - reach) & (values <= high + reach)]
    grey = {"color": _look.GREY, "lw": 0.8, "zorder": 2}
    for begin, end in ((ends[0], low), (high, ends[-1])):
        axis.plot([begin, end], [row, row], **grey)
    axis.fill_betweenx([row - 0.3, row + 0.3], low, high, color=_look.BLUE, alpha=0.2, lw=0, zorder=2)
    apart = ((np.arange(values.size) + 1) * GOLDEN) % 1 - 0.5
    axis.plot(values, row + 0.5 * apart, "o", ms=2.6, mew=0, alpha=0.75, color=_look.BLUE, zorder=3)
    axis.plot([middle, middle], [row - 0.32, row + 0.32], color="black", lw=1.4, solid_capstyle="butt", zorder=4)
