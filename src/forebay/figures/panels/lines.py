"""Numbers against a parameter, a line each, with 95 % intervals as bands: a panel a number."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _look, _style


@dataclass(frozen=True)
class Point:
    """One of a line: a mean, and half of its interval."""

    panel: str
    line: str
    x: float
    mean: float
    half: float | None = None


@dataclass(frozen=True)
class Axis:
    """The y-axis of all panels: a level that is marked, its least, and ticks.

    Up to `even` on both sides of 0 it is even, beyond that logarithmic; None: even everywhere. `same`: all panels have
    the same ends.
    """

    level: float | None = None
    least: float | None = None
    ticks: Sequence[float] = ()
    even: float | None = None
    same: bool = False


def draw(points: Sequence[Point], path: Path, x_label: str, lines: Sequence[str], how: Axis) -> list[Path]:
    """Panels side by side, on logarithmic x-axes. The CSV has the numbers as given.

    `lines` are all that figures beside this one have: each looks the same in all of them.
    """
    panels = list(dict.fromkeys(one.panel for one in points))
    schema: dict[str, Any] = dict.fromkeys(("panel", "line"), pl.String)
    schema |= dict.fromkeys(("x", "mean", "half_95"), pl.Float64)
    table = [(one.panel, one.line, one.x, one.mean, one.half) for one in points]
    there = {one.line for one in points}
    every = zip(lines, zip(_look.PALETTE, _look.MARKERS, strict=False), strict=False)
    look = {line: looks for line, looks in every if line in there}
    xs = sorted({one.x for one in points})
    with _style.page(_style.PAGE if len(panels) > 1 else 1.3 * _style.COLUMN, 3.0) as figure:
        each = figure.subplots(1, len(panels), sharey=how.same, squeeze=False)[0]
        for axis, panel in zip(each, panels, strict=True):
            _panel(axis, [one for one in points if one.panel == panel], look, how)
            axis.set_title(panel, loc="left")
            axis.set_xscale("log")
            axis.set_xticks(xs, [f"{x:g}" for x in xs])
            axis.xaxis.minorticks_off()
        figure.supxlabel(x_label, fontsize=8)
        handles = [Line2D([], [], color=c, marker=m, ms=3.4, label=name) for name, (c, m) in look.items()]
        _style.legend(figure, handles, 3)
        return _style.write(figure, path, {"": pl.DataFrame(table, schema, orient="row")}, _header.caption)


def _panel(axis: Any, points: Sequence[Point], look: dict[str, tuple[str, str]], how: Axis) -> None:
    if how.level is not None:
        axis.axhline(how.level, color="black", lw=0.8, zorder=1)
    for line, (colour, marker) in look.items():
        mine = sorted((one for one in points if one.line == line), key=lambda one: one.x)
        x, mean = [one.x for one in mine], [one.mean for one in mine]
        low, high = ([one.mean + sign * (one.half or 0.0) for one in mine] for sign in (-1, 1))
        axis.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        axis.plot(x, mean, color=colour, marker=marker, ms=3.4)
    if how.even is not None:
        axis.set_yscale("symlog", linthresh=how.even)
        axis.yaxis.minorticks_off()
    if how.ticks:
        axis.set_yticks(how.ticks, [f"{tick:,g}" for tick in how.ticks])
    if how.least is not None:
        axis.set_ylim(bottom=how.least)
    axis.grid(True)
