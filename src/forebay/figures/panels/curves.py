"""Measured points with the polynomials that show their trend, levels to compare them with, and ranges behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forebay.figures import _header, _look, _style


@dataclass(frozen=True)
class Points:
    """Measured means with their deviations, and the degree of the polynomial that is fitted to them."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    deviation: Sequence[float]
    degree: int = 2


@dataclass(frozen=True)
class Panel:
    """One picture beside others: points, levels (label, height) and ranges (label, least, largest)."""

    x_label: str
    y_label: str
    points: Sequence[Points] = ()
    levels: Sequence[tuple[str, float]] = ()
    ranges: Sequence[tuple[str, float, float]] = ()
    title: str = ""
    least: float | None = None  # of the y-axis
    largest: float | None = None


def draw(panels: Sequence[Panel], path: Path, columns: int = 2) -> list[Path]:
    """All panels; the same label looks the same in each. The CSV has a row a point, level or end of a range."""
    look = _looks(panels)
    rows = -(-len(panels) // columns)
    width = _style.PAGE if columns > 1 else 1.15 * _style.COLUMN
    with _style.page(width, 0.5 + 2.0 * rows) as figure:
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for axis, panel in zip(axes, panels, strict=False):
            _panel(axis, panel, look)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        _style.legend(figure, _handles(panels, look), 4)
        return _style.write(figure, path, {"": _table(panels)}, _header.caption)


def _looks(panels: Sequence[Panel]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each label; a level has the colour of the points whose label ends like its own."""
    labels = dict.fromkeys(points.label for panel in panels for points in panel.points)
    levels = dict.fromkeys(label for panel in panels for label, _ in panel.levels)
    look = {label: (_look.PALETTE[k % 7], _look.MARKERS[k % 8]) for k, label in enumerate(labels)}
    for k, label in enumerate(levels):
        end = label.rpartition(", ")[2]
        same = next((one for one in labels if one.endswith(end)), None)
        look[label] = (look[same][0] if same else _look.PALETTE[(len(labels) + k) % 7], "")
    return look


def _panel(axis: Any, panel: Panel, look: dict[str, tuple[str, str]]) -> None:
    for _, least, largest in panel.ranges:
        axis.axhspan(least, largest, color=_look.GREEN, alpha=0.18, lw=0)
    for points in panel.points:
        colour, marker = look[points.label]
        x, y = np.array(points.x), np.array(points.y)
        axis.errorbar(x, y, points.deviation, color=colour, ls="", marker=marker, ms=2.5, elinewidth=0.5, alpha=0.8)
        if len(x) > points.degree:
            fine = np.linspace(x.min(), x.max(), 200)
            axis.plot(fine, np.polyval(np.polyfit(x, y, points.degree), fine), color=colour)
    for label, height in panel.levels:
        axis.axhline(height, color=look[label][0], ls=_look.DASHES[1])
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.title:
        axis.set_title(panel.title, loc="left", fontweight="bold")
    if panel.least is not None or panel.largest is not None:
        axis.set_ylim(panel.least, panel.largest)
    axis.grid(True)


def _handles(panels: Sequence[Panel], look: dict[str, tuple[str, str]]) -> list[Any]:
    handles: list[Any] = []
    for label, (colour, marker) in look.items():
        dash = "-" if marker else _look.DASHES[1]
        handles.append(Line2D([], [], color=colour, marker=marker or None, ms=3, ls=dash, label=label))
    ranges = dict.fromkeys(label for panel in panels for label, _, _ in panel.ranges)
    return handles + [Patch(color=_look.GREEN, alpha=0.18, lw=0, label=label) for label in ranges]


def _table(panels: Sequence[Panel]) -> pl.DataFrame:
    rows: list[tuple[str, str, str, float | None, float, float | None]] = []
    for panel in panels:
        where = (panel.title, panel.y_label.replace("\n", " "))
        for points in panel.points:
            rows += [
                (*where, points.label, x, y, deviation)
                for x, y, deviation in zip(points.x, points.y, points.deviation, strict=True)
            ]
        rows += [(*where, label, None, height, None) for label, height in panel.levels]
        rows += [(*where, label, None, end, None) for label, *ends in panel.ranges for end in ends]
    schema = {"panel": pl.String, "what": pl.String, "label": pl.String} | dict.fromkeys(
        ("x", "y", "deviation"), pl.Float64
    )
    return pl.DataFrame(rows, schema, orient="row")
