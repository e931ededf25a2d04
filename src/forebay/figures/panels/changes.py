"""By how much policies change several numbers, with 95 % intervals: a panel a number, a row a case."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _header, _look, _style


@dataclass(frozen=True)
class Change:
    """One of them, and half of its interval."""

    panel: str
    row: str
    series: str
    mean: float
    half: float | None


def draw(changes: Sequence[Change], path: Path, rows: str = "") -> list[Path]:
    """Dots and intervals beside a line at 0; `rows` says what rows are. The CSV has the numbers as given."""
    panels, names, series = (
        list(dict.fromkeys(getattr(one, key) for one in changes)) for key in ("panel", "row", "series")
    )
    schema: dict[str, Any] = dict.fromkeys(("panel", "row", "series"), pl.String)
    schema |= dict.fromkeys(("mean", "half_95"), pl.Float64)
    table = [(one.panel, one.row, one.series, one.mean, one.half) for one in changes]
    look = dict(zip(series, zip(_look.PALETTE, _look.MARKERS, strict=False), strict=False))
    with _style.page(_style.PAGE, 0.9 + max(0.2, 0.1 + 0.11 * len(series)) * len(names)) as figure:
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _panel(axis, [one for one in changes if one.panel == panel], names, look)
            axis.set_xlabel(panel)
        _style.rows_axis(axes[0], names)
        axes[0].set_ylabel(rows)
        if len(series) > 1:
            handles = [Line2D([], [], color=c, marker=m, ms=4, lw=1.2, label=name) for name, (c, m) in look.items()]
            _style.legend(figure, handles, 4)
        return _style.write(figure, path, {"": pl.DataFrame(table, schema, orient="row")}, _header.caption)


def _panel(axis: Any, changes: Sequence[Change], names: list[str], look: dict[str, tuple[str, str]]) -> None:
    axis.axvline(0.0, color="black", lw=0.8)
    series = list(look)
    apart = 0.7 / len(series)
    for one in changes:
        y = names.index(one.row) + (series.index(one.series) - (len(series) - 1) / 2) * apart
        reach, (colour, marker) = one.half or 0.0, look[one.series]
        axis.plot([one.mean - reach, one.mean + reach], [y, y], color=colour, lw=1.2, solid_capstyle="butt")
        axis.plot(one.mean, y, marker, ms=3.6, color=colour)
    for row in range(1, len(names)):
        axis.axhline(row - 0.5, color="#e4e4e4", lw=0.5, zorder=0)
    axis.grid(True, axis="x")
