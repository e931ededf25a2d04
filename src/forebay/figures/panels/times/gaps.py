"""Policies against what no policy can have less of, and bounds against the largest: in times that one."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan

_BESIDE = 3
"""Panels in a row."""


def plan(rows: pl.DataFrame, words: str) -> Plan:
    """A panel a metric, a row a policy or a bound; from 1, which is the largest bound, a line leads to each dot.

    `rows` has metric, row, ratio, and `best`, the ratio of the best schedule found or null. A ratio of null has no dot:
    the run is not one that bounds are for, or the bound is 0.
    """
    metrics = rows["metric"].unique(maintain_order=True).to_list()
    names = rows["row"].unique(maintain_order=True).to_list()
    ends = [value for name in ("ratio", "best") for value in rows[name].drop_nulls().to_list() if value > 0]

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        for place, (axis, metric) in enumerate(zip(axes, metrics, strict=True)):
            axis.axvline(1.0, color="black", lw=0.8)
            for one in rows.filter(pl.col("metric") == metric).iter_rows(named=True):
                _dot(axis, names.index(one["row"]), one["ratio"], one["best"])
            _style.ratio_axis(axis, min([0.9, *ends]), max([1.1, *ends]))
            _style.rows_axis(axis, names)
            if place % beside:
                axis.set_yticklabels([])
            axis.set_title(_look.shortened(metric, _look.WIDEST), loc="left", fontsize=7)
            axis.grid(True, axis="x")
            if place + beside >= len(metrics):
                axis.set_xlabel(words)

    beside = min(_BESIDE, max(len(metrics), 1))
    high = -(-len(metrics) // beside)
    width = _style.COLUMN if beside == 1 else _style.PAGE
    height = high * (0.75 + 0.22 * max(len(names), 3))
    cells = None if high * beside == len(metrics) else range(len(metrics))
    return Plan(width, height, (1,) * high, paint, {"": rows}, columns=beside, cells=cells)


def _dot(axis: Any, row: int, ratio: float | None, best: float | None) -> None:
    if ratio is None or ratio <= 0:  # a ratio of 0 has no place on a logarithmic axis
        return
    axis.plot([1.0, ratio], [row, row], color=_look.BLUE, lw=1.6, solid_capstyle="butt")
    axis.plot(ratio, row, "o", ms=4, color=_look.BLUE)
    if best is not None:
        axis.plot(best, row, "|", ms=8, mew=1.4, color=_look.ORANGE)
