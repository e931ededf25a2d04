"""A number against the capacity of a machine, with the target and the answer; and against what machines cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from forebay.figures import _header, _look, _style
from forebay.figures._plan import Legend, Plan, save

_FACTOR = 20  # between the largest and the least time, from which on an even axis hides the least
_SHORT = 5  # between the ends of an axis, below which 1, 2, 5 are too few numbers
_TIMES = ((86400, "d"), (3600, "h"), (60, "min"))


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
    refused: Sequence[float] = ()  # capacities at which jobs are rejected, which have no mean


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
    """The files of the curves; without a table."""
    return save(plan(curves, axes, span), path)


def plan(curves: Sequence[Curve], axes: Axes, span: tuple[float, float]) -> Plan:
    """The curves over capacity, on a logarithmic axis; the interval of each answer is a band."""
    looks = _style.looks([curve.label for curve in curves])

    def paint(panels: Sequence[Any], legend: Legend) -> None:
        (axis,) = panels
        size, unit = _x_unit(axes.x_unit, span[0])
        for place, curve in enumerate(curves):
            look = looks[curve.label]
            _band(axis, curve, span, size, look["color"])
            marker = _look.MARKERS[place % len(_look.MARKERS)]
            axis.errorbar(np.array(curve.x) / size, curve.y, curve.half, marker=marker, ms=3.5, elinewidth=0.7, **look)
        axis.axhline(axes.limit, color="black", lw=0.8, ls=_look.DASHES[1], zorder=1)
        refused = [one / size for curve in curves for one in curve.refused]
        if refused:  # marks that are not clipped take room in the margins, even where there are none
            axis.plot(refused, [0.0] * len(refused), "x", ms=5, mew=1.2, color=_look.GREY, clip_on=False, zorder=4)
        _x_axis(axis, span[0] / size, span[1] / size)
        margin = (span[1] / span[0]) ** 0.02
        axis.set_xlim(span[0] / size / margin, span[1] / size * margin)
        axis.set_xlabel(f"{axes.x}{f' ({unit})' if unit else ''}")
        _y_axis(axis, curves, axes)
        axis.grid(True)
        handles = [*_handles(curves, looks), _target(axes)]
        if refused:
            handles.append(Line2D([], [], ls="", marker="x", ms=5, color=_look.GREY, label="jobs are rejected"))
        legend(handles, 4)

    height = 3.2 + _style.for_legend([curve.label for curve in curves], 3, _style.PAGE)
    return Plan(_style.PAGE, height, (1,), paint, {})


def draw_costs(curves: Sequence[Curve], axes: Axes, path: Path) -> list[Path]:
    """All that was tried by cost and number. On the front, nothing cheaper is as good."""
    looks = _style.looks([curve.label for curve in curves])
    cost, y = (np.concatenate([getattr(curve, name) for curve in curves]) for name in ("cost", "y"))
    on_front = _on_front(cost, -y if axes.at_least else y)
    with _style.page(_style.PAGE, 3.2 + _style.for_legend([curve.label for curve in curves], 3, _style.PAGE)) as figure:
        axis = figure.subplots()
        order = np.argsort(cost[on_front], kind="stable")
        front = cost[on_front][order], y[on_front][order]
        axis.step(*front, where="post", color=_look.GREY, lw=3, alpha=0.45, zorder=1)
        for place, curve in enumerate(curves):
            marker = _look.MARKERS[place % len(_look.MARKERS)]
            axis.plot(curve.cost, curve.y, marker, ms=4, color=looks[curve.label]["color"])
        axis.axhline(axes.limit, color="black", lw=0.8, ls=_look.DASHES[1], zorder=1)
        if len(cost):
            _x_axis(axis, float(cost.min()), float(cost.max()))
        axis.set_xlabel(f"cost{f' ({axes.currency})' if axes.currency else ''}")
        _y_axis(axis, curves, axes)
        axis.grid(True)
        handles = [*_handles(curves, looks, lines=False), _target(axes)]
        handles.append(Line2D([], [], color=_look.GREY, lw=3, alpha=0.45, label="nothing cheaper is as good"))
        _style.legend(figure, handles, 3)
        table = _table(curves).with_columns(pl.Series("on_front", on_front))
        return _style.write(figure, path, {"": table}, _header.caption)


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
    size, name = _look.bytes_unit(least)
    return size, name + unit.removeprefix("bytes")


def _x_axis(axis: Any, least: float, largest: float) -> None:
    """Logarithmic; where the span is short, with round numbers at even steps."""
    _style.log_axis(axis, "x", least, largest)
    if largest / least < _SHORT:
        ticks = [tick for tick in MaxNLocator(7, steps=[1, 2, 5]).tick_values(least, largest) if tick > 0]
        kept = [tick for tick in ticks if 0.97 * least <= tick <= 1.03 * largest]
        axis.set_xticks(kept, [f"{tick:,.10g}" for tick in kept])
        axis.xaxis.minorticks_off()


def _y_axis(axis: Any, curves: Sequence[Curve], axes: Axes) -> None:
    """From 0. Times that differ by factors are on an axis that has room for all of them."""
    ends = [y + half for curve in curves for y, half in zip(curve.y, curve.half, strict=True)]
    largest = max([axes.limit, *ends]) or 1.0
    least = min([axes.limit, *(y for curve in curves for y in curve.y)])
    axis.set_ylabel(axes.y)
    if axes.y_unit != "s":
        axis.set_ylim(0, 1.08 * largest)
    elif least * _FACTOR < largest:
        _style.waits_axis(axis, "y", largest)
    else:
        axis.set_ylim(0, 1.08 * largest)
        size, unit = next(((size, name) for size, name in _TIMES if largest >= 2 * size), (1, "s"))
        ticks = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(0, largest / size)
        kept = [tick for tick in ticks if tick * size <= 1.08 * largest]
        axis.set_yticks([tick * size for tick in kept], [f"{tick:g} {unit}" for tick in kept])


def _handles(curves: Sequence[Curve], looks: dict[str, dict[str, Any]], lines: bool = True) -> list[Any]:
    handles = []
    for place, curve in enumerate(curves):
        look = dict(looks[curve.label]) if lines else {"color": looks[curve.label]["color"], "linestyle": ""}
        handles.append(Line2D([], [], marker=_look.MARKERS[place % 8], ms=3.5, label=curve.label, **look))
    return handles


def _target(axes: Axes) -> Line2D:
    return Line2D([], [], color="black", lw=0.8, ls=_look.DASHES[1], label=axes.limit_text)


def _table(curves: Sequence[Curve]) -> pl.DataFrame:
    names = ("x", "y", "half", "cost")
    rows = [
        (curve.label, *values)
        for curve in curves
        for values in zip(*(getattr(curve, name) for name in names), strict=True)
    ]
    return pl.DataFrame(rows, {"label": pl.String} | dict.fromkeys(names, pl.Float64), orient="row")
