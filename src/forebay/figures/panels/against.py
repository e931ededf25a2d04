"""Runs as ratios to what they are held against: every run a dot, the run of the jobs as they are a bar."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _look, _style

BAND = 0.05
COLOURS = (_look.BLUE, _look.YELLOW, _look.GREEN, _look.PINK, _look.SKY, _look.ORANGE)


def draw(table: pl.DataFrame, path: Path, label: str, by: str = "part") -> list[Path]:
    """`table` has a row a run: job_model (a panel each), policy (a row), `by` (a colour), as_given, ratio."""
    models = table["job_model"].unique(maintain_order=True).to_list()
    policies = table["policy"].unique(maintain_order=True).to_list()
    kinds = table[by].unique(maintain_order=True).to_list()
    kinds = sorted(kinds) if by == "part" else kinds
    width = _style.PAGE if len(models) > 1 else _style.COLUMN
    with _style.page(width, 1.1 + 0.42 * max(len(policies), 2)) as figure:
        axes = figure.subplots(1, len(models), sharey=True, sharex=True, squeeze=False)[0]
        least, largest = 1 - BAND, 1 + BAND
        for axis, model in zip(axes, models, strict=True):
            mine = table.filter(pl.col("job_model") == model)
            axis.axvline(1, color="black", lw=0.7, zorder=0)
            axis.axvspan(1 - BAND, 1 + BAND, color="black", alpha=0.07, lw=0, zorder=0)
            _dots(axis, mine, policies, by, kinds)
            least = min(least, float(mine["ratio"].min()))  # type: ignore[arg-type]
            largest = max(largest, float(mine["ratio"].max()))  # type: ignore[arg-type]
            axis.set_title(model, loc="left", fontweight="bold")
            axis.set_xlabel(label)
        _style.ratio_axis(axes[0], least, largest)
        _style.rows_axis(axes[0], policies)
        for axis in axes:
            axis.tick_params(axis="y", length=0)
        _style.legend(figure, _handles(by, kinds), 6)
        return _style.write(figure, path, {"": table}, _header.caption)


def _dots(axis: Any, mine: pl.DataFrame, policies: Sequence[str], by: str, kinds: Sequence[Any]) -> None:
    step = 0.8 / max(len(kinds), 1)
    for row, policy in enumerate(policies):
        for place, kind in enumerate(kinds):
            some = mine.filter((pl.col("policy") == policy) & (pl.col(by) == kind))
            y, colour = row + step * (place - (len(kinds) - 1) / 2), COLOURS[place % len(COLOURS)]
            for given, mark in (
                (False, {"marker": "o", "ms": 3, "mew": 0, "alpha": 0.55}),
                (True, {"marker": "|", "ms": 8, "mew": 1.7}),
            ):
                values = some.filter(pl.col("as_given") == given)["ratio"].to_numpy()
                axis.plot(values, np.full(values.size, y), ls="", color=colour, **mark)


def _handles(by: str, kinds: Sequence[Any]) -> list[Any]:
    dots = []
    for place, kind in enumerate(kinds):
        words = f"part {kind}" if by == "part" else str(kind)
        dots.append(Line2D([], [], marker="o", ls="", ms=4, color=COLOURS[place % len(COLOURS)], label=words))
    dots.append(Line2D([], [], marker="|", ls="", ms=8, mew=1.7, color="black", label="as given"))
    dots.append(Line2D([], [], marker="o", ls="", ms=4, alpha=0.5, color="black", label="replicas"))
    return dots
