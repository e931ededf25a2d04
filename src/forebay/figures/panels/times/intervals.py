"""When jobs start: a line a job, from early to late, with its median."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan

_MOST = 30
_UNITS = ((2 * 86400.0, 86400.0, "days"), (7200.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


def plan(table: pl.DataFrame) -> Plan:
    """The first jobs of a prediction; the CSV has their quantiles."""
    shown = table.head(_MOST).drop("why", strict=False)
    height = 1.0 + 0.22 * max(len(shown), 2)

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        _paint(axes[0], shown)
        colour = _look.PALETTE[0]
        handles = [
            Line2D([], [], color=colour, lw=1.2, alpha=0.5, label="90 %"),
            Line2D([], [], color=colour, lw=4, alpha=0.5, label="50 %"),
            Line2D([], [], color=colour, marker="o", ls="", ms=4, label="median"),
            Line2D([], [], color="0.45", marker="|", ls="", ms=7, label="by walltimes"),
        ]
        legend(handles, 4)

    return Plan(_style.PAGE, height, (1,), paint, {"": shown})


def _paint(axis: Any, shown: pl.DataFrame) -> None:
    longest = max(float(shown["p95"].max() or 0.0), 1.0)  # type: ignore[arg-type]
    size, name = next((size, name) for least, size, name in _UNITS if longest >= least)
    for place, row in enumerate(shown.iter_rows(named=True)):
        colour = _look.PALETTE[0]
        axis.plot([row["p05"] / size, row["p95"] / size], [place] * 2, color=colour, lw=1.2, alpha=0.5)
        axis.plot(
            [row["p25"] / size, row["p75"] / size], [place] * 2, color=colour, lw=4, alpha=0.5, solid_capstyle="butt"
        )
        axis.plot(row["p50"] / size, place, color=colour, marker="o", ms=4)
        if row["slurm"] <= 1.2 * longest:
            axis.plot(row["slurm"] / size, place, color="0.45", marker="|", ms=7)
    words = [row["asked"] or f"job {row['job_id']}" for row in shown.iter_rows(named=True)]
    axis.set_yticks(range(len(words)), words)
    axis.set_ylim(len(words) - 0.5, -0.5)
    axis.set_xlim(left=0)
    axis.set_xlabel(f"{name} until the start")
    axis.grid(True, axis="x")
