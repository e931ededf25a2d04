"""A number against the capacity of a machine, with the target and the answer; and against what machines cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from forebay.figures import _header, _style


@dataclass(frozen=True)
class Curve:
    """What was tried under one label: capacities, means, half intervals and costs, and the answer if there is one."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float]
    cost: Sequence[float]
    answer: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Axes:
    """Titles and units, and the target."""

    x: str
    x_unit: str
    y: str
    y_unit: str
    limit: float
    limit_text: str
    at_least: bool = False
    currency: str = ""


def draw(curves: Sequence[Curve], axes: Axes, span: tuple[float, float], path: Path) -> list[Path]:
    """The curves over capacity, on a logarithmic axis; the interval of each answer is a band."""
    looks = _style.looks([curve.label for curve in curves])
    with _style.page(_style.PAGE, 3.2 + _style.for_legend([curve.label for curve in curves], 3, _style.PAGE)) as figure:
        axis = figure.subplots()
        size, unit = _x_unit(axes.x_unit, span[0])
        for place, curve in enumerate(curves):
            look = looks[curve.label]
            _band(axis, curve, span, size, look["color"])
            marker = _style.MARKERS[place % len(_style.MARKERS)]
            axis.errorbar(np.array(curve.x) / size, curve.y, curve.half, marker=marker, ms=3.5, elinewidth=0.7, **look)
        axis.axhline(axes.limit, color="black", lw=0.8, ls=_style.DASHES[1], zorder=1)
        _style.log_axis(axis, "x", span[0] / size, span[1] / size)
        margin = (span[1] / span[0]) ** 0.02
        axis.set_xlim(span[0] / size / margin, span[1] / size * margin)
        axis.set_xlabel(f"{axes.x}{f' ({unit})' if unit else ''}")
        _y_axis(axis, curves, axes)
        axis.grid(True)
        _style.legend(figure, [*_handles(curves, looks), _target(axes)], 3)
        return _style.write(figure, path, {"-figure": _table(curves)}, _header.told)


def draw_costs(curves: Sequence[Curve], axes: Axes, path: Path) -> list[Path]:
    """All that was tried by cost and number. On the front, nothing cheaper is as good."""
    looks = _style.looks([curve.label for curve in curves])
    cost, y = (np.concatenate([getattr(curve, name) for curve in curves]) for name in ("cost", "y"))
    on_front = _on_front(cost, -y if axes.at_least else y)
    with _style.page(_style.PAGE, 3.2 + _style.for_legend([curve.label for curve in curves], 3, _style.PAGE)) as figure:
        axis = figure.subplots()
        order = np.argsort(cost[on_front], kind="stable")
        front = cost[on_front][order], y[on_front][order]
        axis.step(*front, where="post", color=_style.GREY, lw=3, alpha=0.45, zorder=1)
        for place, curve in enumerate(curves):
            marker = _style.MARKERS[place % len(_style.MARKERS)]
            axis.plot(curve.cost, curve.y, marker, ms=4, color=looks[curve.label]["color"])
        axis.axhline(axes.limit, color="black", lw=0.8, ls=_style.DASHES[1], zorder=1)
        if len(cost):
            _style.log_axis(axis, "x", float(cost.min()), float(cost.max()))
        axis.set_xlabel(f"cost{f' ({axes.currency})' if axes.currency else ''}")
        _y_axis(axis, curves, axes)
        axis.grid(True)
        handles = [*_handles(curves, looks, lines=False), _target(axes)]
        handles.append(Line2D([], [], color=_style.GREY, lw=3, alpha=0.45, label="nothing cheaper is as good"))
        _style.legend(figure, handles, 3)
        table = _table(curves).with_columns(pl.Series("on_front", on_front))
        return _style.write(figure, path, {"": table}, _header.told)


def _on_front(cost: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """Which points no other one is better than in one way and as good in the other."""
    better = (cost[None] <= cost[:, None]) & (loss[None] <= loss[:, None])
    better &= (cost[None] < cost[:, None]) | (loss[None] < loss[:, None])
    return np.asarray(~better.any(axis=1))


def _band(axis: Any, curve: Curve, span: tuple[float, float], size: float, colour: str) -> None:
    if curve.answer is None:
        return
    low, high = curve.interval or (curve.answer, curve.answer)
    axis.axvspan(low / size, min(high, span[1]) / size, color=colour, alpha=0.13, lw=0, zorder=0)
    axis.axvline(curve.answer / size, color=colour, lw=0.8, zorder=1)


def _x_unit(unit: str, least: float) -> tuple[float, str]:
    if unit not in ("bytes", "bytes/s"):
        return 1.0, ""
    size, name = _style.bytes_unit(least)
    return size, name + unit.removeprefix("bytes")


def _y_axis(axis: Any, curves: Sequence[Curve], axes: Axes) -> None:
    """Waits on an axis that has a place for none; other numbers from 0."""
    ends = [y + half for curve in curves for y, half in zip(curve.y, curve.half, strict=True)]
    largest = max([axes.limit, *(end for end in ends if math.isfinite(end))])
    axis.set_ylabel(axes.y)
    if axes.y_unit == "s":
        _style.waits_axis(axis, "y", largest)
        axis.set_ylim(0, 1.3 * largest)
    else:
        axis.set_ylim(0, 1.08 * largest or 1.0)
    axis.yaxis.set_minor_locator(NullLocator())


def _handles(curves: Sequence[Curve], looks: dict[str, dict[str, Any]], lines: bool = True) -> list[Any]:
    handles = []
    for place, curve in enumerate(curves):
        look = dict(looks[curve.label]) if lines else {"color": looks[curve.label]["color"], "linestyle": ""}
        handles.append(Line2D([], [], marker=_style.MARKERS[place % 8], ms=3.5, label=curve.label, **look))
    return handles


def _target(axes: Axes) -> Line2D:
    return Line2D([], [], color="black", lw=0.8, ls=_style.DASHES[1], label=axes.limit_text)


def _table(curves: Sequence[Curve]) -> pl.DataFrame:
    names = ("x", "y", "half", "cost")
    rows = [
        (curve.label, *values)
        for curve in curves
        for values in zip(*(getattr(curve, name) for name in names), strict=True)
    ]
    return pl.DataFrame(rows, {"label": pl.String} | dict.fromkeys(names, pl.Float64), orient="row")
