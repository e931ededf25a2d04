"""The next day of a machine: how many jobs wait, and how much of it is in use, with bands."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forebay.figures import _dates, _look, _style
from forebay.figures._plan import Legend, Plan

_PANELS = (("waiting", "jobs that wait", 1.0), ("in_use", "nodes in use (%)", 100.0))


def plan(outlook: pl.DataFrame, at: float, epoch: float | None) -> Plan:
    """Two panels on one clock; the CSV has a row an hour."""

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        start = at if epoch is not None else 0.0
        times = outlook["seconds"].to_numpy() + start
        for axis, (name, label, size), colour in zip(axes, _PANELS, _look.PALETTE, strict=False):
            low, middle, high = (outlook[f"{name}_{place}"].to_numpy() * size for place in ("low", "middle", "high"))
            unit = _style.clock(axis, float(times[0]), float(times[-1]))
            _dates.calendar(axis, epoch, float(times[0]), float(times[-1]), unit)
            axis.fill_between(times / unit, low, high, color=colour, alpha=0.25, lw=0)
            axis.plot(times / unit, middle, color=colour)
            axis.set_ylabel(label)
            axis.set_ylim(0, 105 if size > 1 else max(1.0, 1.05 * float(high.max())))
            axis.grid(True)
        axes[0].set_xlabel("")
        legend([Line2D([], [], color="0.3", label="median"), Patch(color="0.3", alpha=0.25, label="80 %")], 2)

    return Plan(_style.PAGE, 3.6, (1, 1), paint, {"": outlook}, one_clock=True)
