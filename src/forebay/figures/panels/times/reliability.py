"""Reliability: how often the truth lay up to each level of a prediction."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan


def plan(levels: pl.DataFrame) -> Plan:
    """Observed shares against levels: on the diagonal each interval covers what it says."""

    def paint(axes: Sequence[Any], legend: Legend) -> None:
        axis = axes[0]
        axis.plot([0, 100], [0, 100], color="0.6", lw=1, ls="--")
        axis.plot(100 * levels["level"], 100 * levels["observed"], color=_look.PALETTE[0], marker="o", ms=4)
        axis.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
        axis.set_xlabel("level of the prediction (%)")
        axis.set_ylabel("waits over by then (%)")
        axis.grid(True)
        styles = [{"color": _look.PALETTE[0], "marker": "o", "ms": 4}, {"color": "0.6", "ls": "--", "lw": 1}]
        names = ["observed", "as it should be"]
        legend([Line2D([], [], label=name, **style) for name, style in zip(names, styles, strict=True)], 2)

    return Plan(_style.COLUMN, 3.6, (1,), paint, {"": levels})
