"""The machine over time: how many nodes are waited for, and how much of each resource is in use."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _dates, _look, _multiples, _steps, _style
from forebay.figures._plan import Legend, Plan, save
from forebay.metrics.machine import usage
from forebay.metrics.power import power
from forebay.results import Result

DESCRIPTION = "the machine over time: nodes waited for, and the use of each resource"
OVER_TIME = True

MOST = 120
"""Steps of a line; with more of them, means over intervals are drawn instead."""
LINES = 3
"""Use of a resource is drawn as lines of up to so many results; of more, each has a strip: lines would hide another."""
QUEUE, POWER = "queue", "power"

Curves = dict[tuple[str, str], _steps.Steps]
"""By result and panel."""


def draw(results: Mapping[str, Result], path: Path) -> list[Path]:
    """A panel for the queue and one for each resource. The CSV has a row a step drawn: nodes waited for, percent, or
    watts."""
    return save(plan(results), path, results)


def plan(results: Mapping[str, Result]) -> Plan:
    """A panel for the queue, one for each resource, and one for power where that is known."""
    spans = [_steps.over(result) for result in results.values()]
    start, end = min(low for low, _ in spans), max(high for _, high in spans)
    resources = list(dict.fromkeys(name for result in results.values() for name in result.resources))
    curves: Curves = {}
    for label, result in results.items():
        curves |= {(label, panel): _steps_of(result, panel) for panel in (QUEUE, *result.resources)}
        steps = power(result)
        curves |= {(label, POWER): (steps["time"].to_numpy(), steps["amount"].to_numpy())} if len(steps) else {}
    drawn = any(panel == POWER for _, panel in curves)
    strips, width = len(results) > LINES, None
    if strips or max(times.size for times, _ in curves.values()) > MOST:
        width = _steps.width_for(start, end, MOST)
        curves = {key: _steps.averaged(steps, start, end, width) for key, steps in curves.items()}
    many = len(results) > _multiples.MANY
    strip = 0.3 + 0.12 * len(results)
    heights = [strip if many else 1.2, *[strip if strips else 0.9] * (len(resources) + drawn)]

    def paint(rows: Sequence[Any], legend: Legend) -> None:
        unit = _style.clock(rows[-1], start, end, ticks=12)
        _dates.calendar(rows[-1], _dates.epoch_of(results), start, end, unit)
        look, counted = _style.looks(list(results)), next(iter(results.values())).unit
        top = max(values.max(initial=0.0) for (_, panel), (_, values) in curves.items() if panel == QUEUE)
        if many:
            queue = _strips(rows[0], curves, QUEUE, list(results), unit, ("Oranges", top or 1))
            rows[0].set_title(f"{counted} waited for", loc="left", pad=3)
            rows[0].figure.colorbar(queue, ax=rows[0], pad=0.01, aspect=14, format="{x:,.0f}")
        else:
            _lines(rows[0], curves, QUEUE, look, unit, end)
            rows[0].set_ylabel(f"{counted}\nwaited for")
            rows[0].yaxis.get_major_locator().set_params(integer=True)
            rows[0].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            rows[0].set_ylim(0, 1.05 * top or 1)
        picture, of_resources = None, rows[1 : 1 + len(resources)]
        for axis, name in zip(of_resources, resources, strict=True):
            if strips:
                picture = _strips(axis, curves, name, list(results), unit, ("Blues", 100.0))
                axis.set_title(f"{name.replace('_', ' ')} in use", loc="left", pad=3)
            else:
                _lines(axis, curves, name, look, unit, end)
                axis.set(ylim=(0, 104), yticks=[0, 25, 50, 75, 100], ylabel=f"{name.replace('_', ' ')}\nin use (%)")
        if picture is not None:
            rows[0].figure.colorbar(picture, ax=list(of_resources), label="in use (%)", pad=0.01, aspect=30)
        if drawn:
            _power(rows[-1], curves, results, look, strips, (unit, end))
        if picture is None:
            rows[0].figure.align_ylabels(list(rows))
        if width is not None:
            rows[-1].set_xlabel(f"{rows[-1].get_xlabel()}; means over {_style.duration(width)}")
        if not many:
            legend([Line2D([], [], label=label, **style) for label, style in look.items()], 5)

    height = 0.9 + (0 if many else 0.15 * (len(results) // 5)) + 1.1 * sum(heights)
    return Plan(_style.PAGE, height, heights, paint, {"": _table(curves)}, one_clock=True)


def _steps_of(result: Result, panel: str) -> _steps.Steps:
    if panel == QUEUE:
        return _steps.queued_nodes(result)
    steps = usage(result, panel)
    return steps["time"].to_numpy(), 100 * steps["amount"].to_numpy() / max(result.resources[panel], 1)


def _lines(
    axis: Any, curves: Curves, panel: str, look: Mapping[str, Mapping[str, Any]], unit: float, end: float
) -> None:
    for label, style in look.items():
        times, values = curves.get((label, panel), (np.zeros(0), np.zeros(0)))
        if times.size:
            x = np.concatenate([[min(0.0, times[0])], times, [max(end, times[-1])]]) / unit
            y = np.concatenate([[0.0], values, [values[-1]]])
            axis.plot(x, y, drawstyle="steps-post", **{**style, "linewidth": 1.0})
    axis.grid(True)


def _power(
    axis: Any,
    curves: Curves,
    results: Mapping[str, Result],
    look: Mapping[str, Mapping[str, Any]],
    strips: bool,
    clock: tuple[float, float],
) -> None:
    """Watts, with the cap where there is one."""
    caps = {result.facts.get("platform", {}).get("power", {}).get("cap") for result in results.values()} - {None}
    values = (steps[1].max(initial=0.0) for (_, panel), steps in curves.items() if panel == POWER)
    top = max(*values, *caps, 1.0)
    size, word = next((one for one in ((1e6, "MW"), (1e3, "kW")) if top >= one[0]), (1.0, "W"))
    shown = {key: (times, watts / size) for key, (times, watts) in curves.items() if key[1] == POWER}
    if strips:
        first = curves[next(iter(results)), QUEUE]
        shown |= {(label, QUEUE): first for label in results}
        picture = _strips(axis, shown, POWER, list(results), clock[0], ("Greens", top / size))
        axis.set_title(f"power ({word})", loc="left", pad=3)
        axis.figure.colorbar(picture, ax=axis, pad=0.01, aspect=14)
        return
    _lines(axis, shown, POWER, look, *clock)
    for cap in caps:
        axis.axhline(cap / size, color="black", lw=0.6, ls=(0, (4, 2)))
    axis.set(ylim=(0, 1.08 * top / size), ylabel=f"power\n({word})")


def _strips(axis: Any, curves: Curves, panel: str, labels: list[str], unit: float, colours: tuple[str, float]) -> Any:
    """A strip a result: the darker, the more; `colours` are a map and what is darkest."""
    times, _ = curves[labels[0], QUEUE]
    nothing = (times, np.full(times.size, np.nan))
    shares = np.stack([curves.get((label, panel), nothing)[1] for label in labels])
    width = times[1] - times[0] if times.size > 1 else unit
    edges = np.append(times, times[-1] + width) / unit
    axis.set_yticks(range(len(labels)), [_look.shortened(label, _look.WIDEST) for label in labels], fontsize=6)
    axis.tick_params(axis="y", length=0)
    rows = np.arange(len(labels) + 1) - 0.5
    picture = axis.pcolormesh(edges, rows, shares, cmap=colours[0], vmin=0, vmax=colours[1], rasterized=True)
    axis.hlines(rows[1:-1], edges[0], edges[-1], colors="white", lw=1.2)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    return picture


def _table(curves: Curves) -> pl.DataFrame:
    frames = [
        pl.DataFrame({"time": times.astype(float), "value": values.astype(float)})
        .with_columns(result=pl.lit(label), panel=pl.lit(panel))
        .select("result", "panel", "time", "value")
        for (label, panel), (times, values) in curves.items()
    ]
    return pl.concat(frames)
