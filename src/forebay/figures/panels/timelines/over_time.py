"""Curves over time, a panel for each policy, all on the same axes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _look, _style
from forebay.figures._steps import Steps

COLUMNS = 3


def draw(panels: Mapping[str, Mapping[str, Steps]], path: Path, label: str) -> list[Path]:
    """The steps of each panel, by their names. The CSV has a row a step."""
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    colour = dict(zip(names, _look.PALETTE, strict=False))
    steps = [one for lines in panels.values() for one in lines.values()]
    end = max(float(times[-1]) for times, _ in steps)
    top = max(float(values.max()) for _, values in steps)
    with _style.page(_style.PAGE, 0.4 + 1.35 * -(-len(panels) // COLUMNS)) as figure:
        axes = grid(figure, len(panels))
        for axis, (title, lines) in zip(axes, panels.items(), strict=False):
            unit = _style.clock(axis, 0.0, end, ticks=5)
            for name, (times, values) in lines.items():
                axis.step(times / unit, values, where="post", color=colour[name], lw=0.7)
            axis.set_title(title, loc="left")
            axis.set_ylim(0, 1.05 * top or 1.0)
            axis.grid(True)
        tidy(axes, len(panels), label)
        _style.legend(figure, [Line2D([], [], color=colour[name], label=name) for name in names], len(names))
        return _style.write(figure, path, {"": _table(panels)}, _header.caption)


def grid(figure: Any, n: int) -> list[Any]:
    """Axes for so many panels of equal size, in rows; those left over are empty."""
    axes = list(figure.subplots(-(-n // COLUMNS), COLUMNS, squeeze=False).ravel())
    for axis in axes[n:]:
        axis.set_axis_off()
    return axes


def tidy(axes: list[Any], n: int, label: str) -> None:
    """Labels at the left and below the lowest panels alone: all panels have the same axes."""
    for place, axis in enumerate(axes[:n]):
        axis.set_ylabel(label if place % COLUMNS == 0 else "")
        if place + COLUMNS < n:
            axis.set_xlabel("")


def _table(panels: Mapping[str, Mapping[str, Steps]]) -> pl.DataFrame:
    frames = []
    for title, lines in panels.items():
        for name, (times, values) in lines.items():
            frame = pl.DataFrame({"time": times, "value": values})
            frames.append(frame.select(pl.lit(title).alias("panel"), pl.lit(name).alias("what"), "time", "value"))
    return pl.concat(frames)
