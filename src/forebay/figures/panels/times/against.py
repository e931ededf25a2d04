"""The simulated wait of each job against the recorded one, on axes that have a place for jobs that did not wait."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan
from forebay.figures._waits import dots

_KINDS = ("recorded", "simulated")


def plan(recorded: np.ndarray, simulated: np.ndarray) -> Plan:
    """A dot for all jobs that waited alike in both, the larger the more they are; on the line, waits are the same.

    The CSV has a row a dot, with its jobs and their mean waits.
    """
    table = dots(recorded, simulated)

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        _paint(axes[0], table)

    return Plan(_style.COLUMN, 3.3, (1,), paint, {"": table})


def _paint(axis: Any, table: pl.DataFrame) -> None:
    longest = max((float(table[kind].max() or 0.0) for kind in _KINDS), default=0.0)  # type: ignore[arg-type]
    for which in "xy":
        _style.waits_axis(axis, which, longest)
    end = 1.3 * max(longest, 60.0)
    axis.set(xlim=(-1.5, end), ylim=(-1.5, end))  # half of a dot at 0 is inside
    even = np.concatenate([[0.0], np.geomspace(1.0, end, 200)])
    axis.plot(even, even, color="black", lw=0.8, zorder=1)
    jobs = table["jobs"].to_numpy()
    decades = np.ceil(np.log10(np.maximum(jobs, 1))).astype(int)
    for decade in np.unique(decades):  # dots of a size are one shape in the file, and not one each
        some = table.filter(pl.Series(decades == decade))
        look = {"color": _look.BLUE, "alpha": 0.55, "mew": 0, "ms": 2.2 + 1.1 * decade}
        axis.plot(some["recorded"], some["simulated"], "o", zorder=2, **look)
    axis.set_aspect("equal", adjustable="box")
    axis.set(xlabel="recorded wait", ylabel="simulated wait")
    axis.tick_params(axis="x", labelrotation=45)
    axis.grid(True)
    most = int(jobs.max(initial=0))
    if most > 1:
        axis.text(
            0.03, 0.97, f"largest dot: {most:,} jobs", transform=axis.transAxes, va="top", fontsize=6, color=_look.GREY
        )
