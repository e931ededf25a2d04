"""A number over a parameter, a line a policy with its intervals; small multiples over whatever else varies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D

from forebay.figures import _look, _style
from forebay.figures._plan import Legend, Plan
from forebay.figures._sweeps import amounts

_PANEL = 1.55
"""Inches that a panel is wide at least, and about as high, beside others."""
_AXIS, _WIDE = 0.45, 5.0
"""Inches that the numbers of an axis take, and from which on a figure is a page wide."""
_CATEGORY = 0.5
"""Of the way to the next category, what its marks take side by side."""
_APART, _MOST_APART = 0.014, 0.07
"""Of a numeric axis, how far marks of two lines at one value are apart, for each interval to be seen; and of all."""
_MARGIN, _BESIDE = 0.05, 0.045
"""Of a numeric axis, what is left free at its ends, and what the mark of a level line takes on the right."""
_NAME, _UPRIGHT = 10, 18
"""Letters of a name that are worth showing side by side, and those of one that is written upwards."""


@dataclass(frozen=True)
class Point:
    """A mean over seeds, and half of its interval; at no x, it is the same for all of them."""

    panel: str
    line: str
    x: float | None
    n: int
    mean: float
    half: float | None = None


@dataclass(frozen=True)
class Across:
    """The x-axis: its title, the values in a unit of summaries; or names, at 0, 1, 2 and so on."""

    title: str
    values: Sequence[float]
    unit: str = ""
    names: Sequence[str] = ()


def plan(points: Sequence[Point], across: Across, title: str, unit: str, width: float | None = None) -> Plan:
    """The lines of `points`, whose number has a title and a unit of summaries."""
    panels = list(dict.fromkeys(one.panel for one in points))
    inches = width or (_style.PAGE if len(panels) > 1 else _style.COLUMN)
    rows, columns = grid(len(panels), inches)
    lines = list(dict.fromkeys(one.line for one in points))
    height = 2.7 if len(panels) == 1 else 0.75 + 1.45 * rows
    height += 0.14 * max(0, -(-len(lines) // 2) - 2) if inches < _WIDE else 0.0
    if across.names:
        letters, upright = _letters(across, inches / columns - _AXIS)
        height += 0.06 * min(letters, max(map(len, across.names))) if upright else 0.0
    paint = _Painter(points, across, (title, unit), panels, lines, columns, inches)
    cells = range(len(panels))
    return Plan(inches, height, [1.0] * rows, paint, {"": _table(points, across)}, columns=columns, cells=cells)


@dataclass(frozen=True)
class _Painter:
    """Draws the panels side by side, `columns` of them on so many inches, all with the same axes."""

    points: Sequence[Point]
    across: Across
    number: tuple[str, str]  # its title and unit
    panels: Sequence[str]
    lines: Sequence[str]
    columns: int
    inches: float

    def __call__(self, axes: Sequence[Any], legend: Legend) -> None:
        looks = {
            line: look | {"marker": _look.MARKERS[place % len(_look.MARKERS)], "ms": 3.4}
            for place, (line, look) in enumerate(_style.looks(self.lines).items())
        }
        sloping, level = (
            [line for line in self.lines if any(one.line == line and (one.x is None) == flat for one in self.points)]
            for flat in (False, True)
        )
        ends = [max(one.mean + sign * (one.half or 0.0), 0.0) for one in self.points for sign in (-1, 1)]
        size, word = amounts.unit_of(self.number[1], max(ends))
        for place, (axis, panel) in enumerate(zip(axes, self.panels, strict=True)):
            mine = [one for one in self.points if one.panel == panel]
            for at, line in enumerate(sloping):
                found = [one for one in mine if one.line == line and one.x is not None]
                _draw(axis, found, self.across, size, looks[line], (at - (len(sloping) - 1) / 2, len(sloping)))
            for at, line in enumerate(level):
                found = [one for one in mine if one.line == line and one.x is None]
                _draw_level(axis, found, self.across, size, looks[line], at)
            amounts.level_axis(axis, [one.mean / size for one in self.points], [end / size for end in ends])
            _x_axis(axis, self.across, self.inches / self.columns - _AXIS, len(level))
            self._name(axis, place, amounts.titled(self.number[0], word))
        if len(self.lines) > 1:
            handles = [Line2D([], [], label=line, **look) for line, look in looks.items()]
            legend(handles, 4 if self.inches >= _WIDE else 3)

    def _name(self, axis: Any, place: int, title: str) -> None:
        """Titles and numbers of the axes stand at the left and below alone."""
        axis.grid(True, axis="both" if not self.across.names else "y")
        if len(self.panels) > 1:
            letters = int((self.inches / self.columns - 0.2) / 0.062)
            axis.set_title(_look.shortened(self.panels[place], letters), loc="left", pad=3, fontsize=7)
        lowest, first = place + self.columns >= len(self.panels), place % self.columns == 0
        axis.tick_params(labelbottom=lowest, labelleft=first)
        axis.set_xlabel(x_title(self.across) if lowest else "")
        axis.set_ylabel(title if first else "")


def _draw(
    axis: Any, points: Sequence[Point], across: Across, size: float, look: Mapping[str, Any], place: tuple[float, int]
) -> None:
    """A line through means, `place` being how many lines it is from the middle one, and of how many."""
    found = sorted(points, key=lambda one: one.x or 0.0)
    if found:
        at = np.array([one.x or 0.0 for one in found])
        style = {**look, "linestyle": "none"} if across.names else look
        _bars(axis, _beside(at, across, *place), found, size, style)


def _draw_level(
    axis: Any, points: Sequence[Point], across: Across, size: float, look: Mapping[str, Any], place: int
) -> None:
    """A line from end to end, with its mark and its interval at the right, beside those of others."""
    for one in points:
        axis.axhline(one.mean / size, **{key: value for key, value in look.items() if key not in ("marker", "ms")})
        at = np.array([_at(across, 1 + _BESIDE * (place + 1))])
        _bars(axis, at, [one], size, {**look, "linestyle": "none"})


def _bars(axis: Any, x: np.ndarray, points: Sequence[Point], size: float, style: Mapping[str, Any]) -> None:
    mean, half = (np.array([value / size for value in values]) for values in zip(*map(_ends, points), strict=True))
    down = np.minimum(half, mean.clip(0))
    axis.errorbar(x, mean, [down, half], elinewidth=0.7, capsize=1.8, capthick=0.7, **style)


def _at(across: Across, share: float) -> float:
    """Where so much of a numeric axis lies below, in the unit that it is drawn in."""
    unit, _ = amounts.unit_of(across.unit, max(across.values))
    low, high = across.values[0] / unit, across.values[-1] / unit
    if amounts.spaced(across.values):
        return float(low * (high / low) ** share)
    return low + share * ((high - low) or 1.0)


def _beside(x: np.ndarray, across: Across, place: float, n: int) -> np.ndarray:
    """Values in the unit of the axis, moved a little: to the left of those of the middle line, or to the right."""
    if across.names:
        return x + _CATEGORY * place / n
    unit, _ = amounts.unit_of(across.unit, max(across.values))
    moved = _at(across, place * min(_APART, _MOST_APART / n))
    first = across.values[0] / unit
    return np.asarray(x / unit * (moved / first) if amounts.spaced(across.values) else x / unit + (moved - first))


def grid(panels: int, inches: float, least: float = _PANEL) -> tuple[int, int]:
    """Rows and columns of panels, the last row as full as can be."""
    rows = -(-panels // min(panels, max(1, int(inches / least)), 4))
    return rows, -(-panels // rows)


def _ends(one: Point) -> tuple[float, float]:
    return one.mean, one.half or 0.0


def x_title(across: Across) -> str:
    """The title of an axis, with the unit that it is drawn in."""
    return amounts.titled(across.title, amounts.unit_of(across.unit, max(across.values, default=0.0))[1])


def _letters(across: Across, inches: float) -> tuple[int, bool]:
    """Letters of a name below its category, and whether they are written upwards."""
    letters = int(inches / len(across.names) / 0.06)
    return (_UPRIGHT, True) if letters < min(_NAME, max(map(len, across.names))) else (letters, False)


def _x_axis(axis: Any, across: Across, inches: float, levels: int) -> None:
    """Ticks at the values themselves, as far as there is room for them."""
    if across.names:
        letters, upright = _letters(across, inches)
        axis.set_xticks(range(len(across.names)), [_look.shortened(name, letters) for name in across.names])
        axis.tick_params(axis="x", rotation=90 if upright else 0)
        axis.set_xlim(-0.5, len(across.names) - 0.5)
        return
    unit, _ = amounts.unit_of(across.unit, max(across.values))
    values = [value / unit for value in across.values]
    logarithmic = amounts.spaced(values)
    if logarithmic:
        axis.set_xscale("log")
    at = np.log(values) if logarithmic else np.array(values)
    span = float(at[-1] - at[0]) or 1.0
    kept, texts, end = [], [], -np.inf
    for value, place in zip(values, inches * (at - at[0]) / span, strict=True):
        text = amounts.tick_text(value)
        if place - 0.031 * len(text) >= end:
            kept.append(value)
            texts.append(text)
            end = place + 0.031 * len(text) + 0.06
    axis.set_xticks(kept, texts)
    axis.minorticks_off()
    axis.set_xlim(_at(across, -_MARGIN), _at(across, 1 + _MARGIN + _BESIDE * levels))


def _table(points: Sequence[Point], across: Across) -> pl.DataFrame:
    """As drawn; x is empty where a line is level."""
    schema: dict[str, Any] = {"panel": pl.String, "line": pl.String, "x": pl.String if across.names else pl.Float64}
    schema |= {"n": pl.Int64, "mean": pl.Float64, "half_95": pl.Float64}
    names = across.names
    rows = [
        (one.panel, one.line, names[int(one.x)] if names and one.x is not None else one.x, one.n, one.mean, one.half)
        for one in points
    ]
    return pl.DataFrame(rows, schema, orient="row")
