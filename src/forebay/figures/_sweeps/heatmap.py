"""A number over two parameters, as a map for each policy: the darker, the more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan
from forebay.figures._sweeps import amounts
from forebay.figures._sweeps.lines import Across, grid, x_title

_COLOURS = "viridis_r"
_TEXT = 0.23
"""Inches that a cell is wide, and half of that high, for its number to be written in it."""
_PANEL = 1.2
_EMPTY = {"facecolor": "#f4f4f4", "edgecolor": "#b0b0b0", "hatch": "/////", "linewidth": 0}
_BAR = 0.75
"""Inches of the scale of colours beside the maps."""


@dataclass(frozen=True)
class Cell:
    """A mean over seeds, and half of its interval."""

    panel: str
    x: float
    y: float
    n: int
    mean: float
    half: float | None = None


def plan(cells: Sequence[Cell], axes: tuple[Across, Across], title: str, unit: str, width: float | None = None) -> Plan:
    """A map for each panel, all with the same colours; the number has a title and a unit of summaries."""
    panels = list(dict.fromkeys(cell.panel for cell in cells))
    inches = width or (_style.PAGE if len(panels) > 1 else 1.2 * _style.COLUMN)
    rows, columns = grid(len(panels), inches - _BAR, _PANEL)
    up = axes[1]
    high = min(max(0.24 * len(up.values), 1.0), 2.2)
    paint = _Painter(cells, axes, (title, unit), panels, columns, ((inches - _BAR) / columns, high))
    places = range(len(panels))
    height = 0.75 + (high + 0.3) * rows
    return Plan(inches, height, [1.0] * rows, paint, {"": _table(cells)}, columns=columns, cells=places)


@dataclass(frozen=True)
class _Painter:
    """Draws the maps, `columns` of them side by side, each with so many inches, and the scale of colours."""

    cells: Sequence[Cell]
    axes: tuple[Across, Across]
    number: tuple[str, str]  # its title and unit
    panels: Sequence[str]
    columns: int
    room: tuple[float, float]

    def __call__(self, given: Sequence[Any], legend: Legend) -> None:
        across, up = self.axes
        size, word = amounts.unit_of(self.number[1], max(cell.mean for cell in self.cells))
        values = [cell.mean / size for cell in self.cells]
        scale = _scale(min(values), max(values))
        width, height = (self.room[0] - 0.35) / len(across.values), self.room[1] / len(up.values)
        for place, (axis, panel) in enumerate(zip(given, self.panels, strict=True)):
            found = _map([cell for cell in self.cells if cell.panel == panel], across, up, size)
            picture = _draw(axis, found, scale, width >= _TEXT and height >= _TEXT / 2)
            _ticks(axis.xaxis, across, width / 0.056)
            _ticks(axis.yaxis, up, np.inf if height > 0.13 else height / 0.13)
            self._name(axis, place)
        bar = given[0].figure.colorbar(picture, ax=list(given), pad=0.02, aspect=24, fraction=0.1)
        bar.set_label(amounts.titled(self.number[0], word))
        bar.outline.set_linewidth(0.6)
        if isinstance(scale, LogNorm):
            _style.log_axis(bar.ax, "y", scale.vmin, scale.vmax)

    def _name(self, axis: Any, place: int) -> None:
        """Titles and numbers of the axes stand at the left and below alone."""
        if len(self.panels) > 1:
            letters = int((self.room[0] - 0.2) / 0.062)
            axis.set_title(_look.shortened(self.panels[place], letters), loc="left", pad=3, fontsize=7)
        lowest, first = place + self.columns >= len(self.panels), place % self.columns == 0
        axis.tick_params(labelbottom=lowest, labelleft=first, length=0)
        axis.set_xlabel(x_title(self.axes[0]) if lowest else "")
        axis.set_ylabel(x_title(self.axes[1]) if first else "")


def _scale(least: float, largest: float) -> Any:
    if 0 < least * amounts.FACTOR < largest:
        return LogNorm(least, largest)
    low = least if least > 0.5 * largest else 0.0
    return Normalize(low, largest if largest > low else low + 1.0)


def _map(cells: Sequence[Cell], across: Across, up: Across, size: float) -> np.ndarray:
    """Rows of y by columns of x; NaN where there is no run."""
    found = np.full((len(up.values), len(across.values)), np.nan)
    for cell in cells:
        found[up.values.index(cell.y), across.values.index(cell.x)] = cell.mean / size
    return found


def _draw(axis: Any, found: np.ndarray, scale: Any, written: bool) -> Any:
    rows, columns = found.shape
    axis.add_patch(Rectangle((-0.5, -0.5), columns, rows, zorder=0, **_EMPTY))
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    picture = axis.pcolormesh(*edges, found, cmap=_COLOURS, norm=scale, edgecolors="white", linewidth=0.4)
    digits = max(0, 2 - int(np.log10(max(scale.vmax, 1.0))))
    for (row, column), value in np.ndenumerate(found) if written else ():
        if np.isfinite(value):
            ink = "white" if scale(value) > 0.5 else "black"
            axis.text(column, row, f"{value:,.{digits}f}", ha="center", va="center", fontsize=6, color=ink)
    axis.set(xlim=(-0.5, columns - 0.5), ylim=(-0.5, rows - 0.5))
    for spine in axis.spines.values():
        spine.set_visible(False)
    return picture


def _ticks(own: Any, across: Across, letters: float) -> None:
    """Every value, or every second and so on where there is no room for `letters` of each."""
    unit, _ = amounts.unit_of(across.unit, max(across.values))
    texts = [amounts.tick_text(value / unit) for value in across.values]
    step = max(1, int(np.ceil((max(map(len, texts)) + 1) / letters))) if np.isfinite(letters) else 1
    own.set_ticks(range(0, len(texts), step), texts[::step])
    own.set_minor_locator(NullLocator())


def _table(cells: Sequence[Cell]) -> pl.DataFrame:
    schema: Mapping[str, Any] = {"panel": pl.String} | dict.fromkeys(("x", "y"), pl.Float64) | {"n": pl.Int64}
    rows = [(cell.panel, cell.x, cell.y, cell.n, cell.mean, cell.half) for cell in cells]
    return pl.DataFrame(rows, {**schema, "mean": pl.Float64, "half_95": pl.Float64}, orient="row")
