"""Moving averages of waits over time, recorded and simulated."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _dates, _style
from forebay.figures._plan import Legend, Plan

_KINDS = ("recorded", "simulated")


def plan(averages: pl.DataFrame, window: float | None, epoch: float | None) -> Plan:
    """Mean waits of jobs submitted in the `window` seconds before each moment; the CSV has a row a moment."""

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        look = _paint(axes[0], averages, window, epoch)
        legend([Line2D([], [], label=label, **style) for label, style in look.items()], 2)

    return Plan(_style.PAGE, 2.6, (1,), paint, {"": averages})


def _paint(axis: Any, averages: pl.DataFrame, window: float | None, epoch: float | None) -> Any:
    look = _style.looks(list(_KINDS))
    if averages.is_empty() or window is None:
        axis.set(xticks=[], yticks=[])
        _style.note(axis, "all jobs were submitted at once")
        return look
    times = averages["time"].to_numpy()
    start, end = float(times[0]), max(float(times[-1]), float(times[0]) + 1.0)
    unit = _style.clock(axis, start, end)
    _dates.calendar(axis, epoch, start, end, unit)
    highest = max(float(averages[kind].max() or 0.0) for kind in _KINDS)  # type: ignore[arg-type]
    size, name = _unit(highest / 2)
    for kind, style in look.items():
        mark = {"marker": "o", "ms": 2.5} if len(times) <= 2 else {}
        axis.plot(times / unit, averages[kind].to_numpy() / size, **style, **mark)
    axis.set_ylim(0, 1.05 * (highest / size or 1.0))
    axis.set_ylabel(f"mean wait ({name}) of jobs\nsubmitted in {_span(window)} before")
    axis.grid(True)
    return look


def _span(window: float) -> str:
    """The window in a few words."""
    if window == 14 * 86400:
        return "two weeks"
    size, name = _unit(window)
    return f"{window / size:.3g} {name}"


def _unit(seconds: float) -> tuple[float, str]:
    return next(((size, name) for size, name in _UNITS if seconds >= size), (1.0, "s"))


_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))
