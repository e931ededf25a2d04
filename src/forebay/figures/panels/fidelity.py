"""A recorded schedule beside a simulated one: how long jobs waited in each, and how much of the machine was in use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _dates, _look, _steps, _style
from forebay.figures._plan import Legend, Plan
from forebay.figures.waits import curve

MOST = 240
"""Steps of a line over time; with more of them, means over intervals are drawn instead."""


@dataclass(frozen=True)
class Machine:
    """What is in use, how much there is, over which seconds, and when second 0 was."""

    unit: str
    capacity: int
    period: tuple[float, float]
    epoch: float | None


def plan(waits: Mapping[str, np.ndarray], uses: Mapping[str, _steps.Steps], machine: Machine) -> Plan:
    """Two panels. One CSV has a row a step of the shares, the other a row a step of the use, in per cent."""
    shares = pl.concat([curve(label, values) for label, values in waits.items()])
    lines, width = _over_time(uses, machine)
    look = _style.looks(list(waits))
    longest = float(shares["wait"].max() or 0)  # type: ignore[arg-type]

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        top, below = axes
        for label, style in look.items():
            rows = shares.filter(pl.col("result") == label)
            x, y = rows["wait"].to_numpy(), rows["share_at_most"].to_numpy()
            ends = np.concatenate([[0.0], x, [2 * max(longest, 60.0)]]), np.concatenate([[0.0], y, [1.0]])
            top.plot(*ends, drawstyle="steps-post", **style)
        _style.waits_axis(top, "x", longest)
        top.set(ylim=(0, 1.02), ylabel="share of jobs waiting\nat most so long", xlabel="waiting time")
        top.grid(True)
        _paint_use(below, lines, look, machine, width)
        legend([Line2D([], [], label=label, **style) for label, style in look.items()], 2)

    return Plan(_style.PAGE, 4.4, (1.2, 1), paint, {"": shares, "-use": _table(lines)})


def _paint_use(
    axis: Any, lines: Mapping[str, _steps.Steps], look: Mapping[str, Any], machine: Machine, width: float | None
) -> None:
    unit = _style.clock(axis, *machine.period, ticks=12)
    _dates.calendar(axis, machine.epoch, *machine.period, unit)
    for label, (times, values) in lines.items():
        last = max(machine.period[1], times[-1]) if times.size else machine.period[1]
        x = np.concatenate([[machine.period[0]], times, [last]]) / unit
        y = np.concatenate([[0.0], values, values[-1:] if times.size else [0.0]])
        axis.plot(x, y, drawstyle="steps-post", **{**look[label], "linewidth": 1.0})
    highest = max((float(values.max(initial=0.0)) for _, values in lines.values()), default=0.0)
    if highest > 100:
        axis.axhline(100, color=_look.GREY, lw=0.8, ls=(0, (2, 2)))
    axis.set(ylim=(0, max(104.0, 1.05 * highest)), ylabel=f"{machine.unit}\nin use (%)")
    axis.grid(True)
    if width is not None:
        axis.set_xlabel(f"{axis.get_xlabel()}; means over {_style.duration(width)}")


def _over_time(uses: Mapping[str, _steps.Steps], machine: Machine) -> tuple[dict[str, _steps.Steps], float | None]:
    """Shares in use over the period, in per cent; means over intervals where there are too many steps to see."""
    start, end = machine.period
    end = max(end, start + 1.0)
    percent = {label: (times, 100 * values / max(machine.capacity, 1)) for label, (times, values) in uses.items()}
    if max((times.size for times, _ in percent.values()), default=0) > MOST:
        width = _steps.width_for(start, end, MOST)
        return {label: _steps.averaged(steps, start, end, width) for label, steps in percent.items()}, width
    return {label: _cut(steps, start, end) for label, steps in percent.items()}, None


def _cut(steps: _steps.Steps, start: float, end: float) -> _steps.Steps:
    """The steps within the period, with what was in use as it began."""
    times, values = steps
    begin = np.concatenate([[0.0], values])[np.searchsorted(times, start, side="right")]
    inside = (times > start) & (times <= end)
    return np.concatenate([[start], times[inside]]), np.concatenate([[begin], values[inside]])


def _table(lines: Mapping[str, _steps.Steps]) -> pl.DataFrame:
    frames = [
        pl.DataFrame({"time": times.astype(float), "in_use_percent": values.astype(float)}).select(
            pl.lit(label).alias("result"), "time", "in_use_percent"
        )
        for label, (times, values) in lines.items()
    ]
    return pl.concat(frames)
