"""Means of several policies with their 95 % intervals, and published values where there are any."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forebay.figures import _header, _look, _style

LOG_FROM = 20.0
"""Where the largest is so many times the least, the scale is logarithmic."""


@dataclass(frozen=True)
class Mean:
    """One bar: a mean, half of its interval, and the value published for it."""

    label: str
    mean: float
    half: float | None
    published: float | None


def draw(means: Sequence[Mean], path: Path, label: str, unit: float, meant: str) -> list[Path]:
    """A row a mean, in units of `unit`; `meant` says what the bars are means over. The CSV has the numbers as given."""
    table = pl.DataFrame(
        [(one.label, one.mean, one.half, one.published) for one in means],
        {"policy": pl.String, "mean": pl.Float64, "half_95": pl.Float64, "published": pl.Float64},
        orient="row",
    )
    with _style.page(_style.COLUMN, 0.95 + 0.24 * max(len(means), 3)) as figure:
        axis = figure.subplots()
        _bars(axis, means, unit)
        _style.rows_axis(axis, [one.label for one in means])
        axis.set_xlabel(label)
        axis.grid(True, axis="x")
        handles: list[Any] = [Patch(color=_look.BLUE, alpha=0.75, label=meant)]
        if any(one.published is not None for one in means):
            handles.append(Line2D([], [], color=_look.ORANGE, marker="D", ls="", ms=4, label="published"))
        _style.legend(figure, handles, 2)
        return _style.write(figure, path, {"": table}, _header.caption)


def _bars(axis: Any, means: Sequence[Mean], unit: float) -> None:
    values = [one.mean / unit for one in means]
    published = [one.published / unit for one in means if one.published is not None]
    least, largest = min([*values, *published]), max([*values, *published])
    logarithmic = 0 < LOG_FROM * least < largest
    left = least / 2 if logarithmic else 0.0
    for row, one in enumerate(means):
        axis.barh(row, one.mean / unit - left, left=left, height=0.62, color=_look.BLUE, alpha=0.75, lw=0)
        if one.half is not None:
            low, high = max((one.mean - one.half) / unit, left), (one.mean + one.half) / unit
            axis.plot([low, high], [row, row], color="black", lw=1.1, solid_capstyle="butt")
            axis.plot([low, high], [row, row], "|", color="black", ms=4, mew=0.9)
        if one.published is not None:
            axis.plot(one.published / unit, row, "D", color=_look.ORANGE, ms=3.6, mec="white", mew=0.5, zorder=4)
    if logarithmic:
        _style.log_axis(axis, "x", left, 2 * largest)
        axis.set_xlim(left, 2 * largest)
    else:
        reach = max([*published, *((one.mean + (one.half or 0)) / unit for one in means)])
        axis.set_xlim(0, 1.06 * reach)
