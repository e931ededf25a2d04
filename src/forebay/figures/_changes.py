"""Ratios to a reference with their intervals: a row a policy, half as much as far from 1 as twice as much."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan

_COLOURS = {"better": _look.BLUE, "worse": _look.ORANGE}


def plan(changes: pl.DataFrame, words: str) -> Plan:
    """One panel. `changes` has policy, change, low, high and verdict; a change of -0.5 is half as much."""
    names = changes["policy"].to_list()
    ratios = changes.select("policy", "verdict", *(pl.col(name) + 1 for name in ("change", "low", "high")))
    known = ratios.filter(pl.col("change") > 0)

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        (axis,) = axes
        axis.axvline(1.0, color="black", lw=0.8)
        for one in known.iter_rows(named=True):
            row, colour = names.index(one["policy"]), _COLOURS.get(one["verdict"], _look.GREY)
            if one["low"] is not None and one["high"] is not None:
                axis.plot([one["low"], one["high"]], [row, row], color=colour, lw=1.6, solid_capstyle="butt")
            axis.plot(one["change"], row, "o", ms=4, color=colour)
        ends = [value for name in ("change", "low", "high") for value in known[name].drop_nulls().to_list()]
        _style.ratio_axis(axis, min([0.9, *ends]), max([1.1, *ends]))
        _style.rows_axis(axis, names)
        axis.set_xlabel(words)
        axis.grid(True, axis="x")

    return Plan(_style.COLUMN, 0.75 + 0.24 * max(len(names), 3), (1,), paint, {"": changes})
