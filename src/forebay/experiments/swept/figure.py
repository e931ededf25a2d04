"""Figures of a sweep: which one suits what varies, and what it shows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forebay._support.text import counted, plain
from forebay.errors import ForebayError, InputError, brief, listed, nearest
from forebay.experiments.statistics import spread
from forebay.experiments.swept.dimensions import Dimension, dimensions, only
from forebay.experiments.swept.runs import AXES, Swept, as_written

if TYPE_CHECKING:
    from forebay.figures._plan import Plan
    from forebay.figures._sweeps.lines import Across

LINES, HEATMAP = FIGURES = ("sweep-lines", "sweep-heatmap")
_USE = "utilisation_"
_TITLES = {"mean_bounded_slowdown_10min": "bounded slowdown (10 min)", "mean_turnaround_time": "mean turnaround"}
_MOST = 16
"""Panels that a page has room for."""
_LINES = 12
_POLICY = "policy"


@dataclass(frozen=True)
class Wanted:
    """What a user asks of a figure; what is left open follows from what varies."""

    metric: str = "mean_wait"
    figure: str | None = None
    x: str | None = None
    y: str | None = None
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    width: float | None = None  # inches


@dataclass(frozen=True)
class Drawn:
    """A figure before it is drawn, and in words what it shows."""

    plan: "Plan"
    figure: str
    title: str
    basis: str

    @property
    def caption(self) -> str:
        """What it shows, and on what that rests."""
        return f"{self.title}: {self.basis}"


@dataclass(frozen=True)
class _Layout:
    """Which dimension goes where; the others are panels."""

    figure: str
    x: Dimension | None
    y: Dimension | None
    others: Sequence[Dimension]

    @property
    def inside(self) -> list[str]:
        """Names of what a panel shows."""
        return [one.name for one in (self.x, self.y) if one is not None]


def draw(swept: Swept, wanted: Wanted) -> Drawn:
    """The figure that a user asks for; refuses what is not there by the nearest name."""
    if wanted.metric not in swept.numbers:
        raise InputError(f"the runs have no number {brief(wanted.metric)}: {nearest(wanted.metric, swept.numbers)}")
    some = only(swept, wanted.where)
    layout = _layout(some, wanted)
    cells = _cells(some, layout, wanted.metric)
    if not cells:
        raise InputError(f"no run has a {wanted.metric}; choose another --metric, or other runs")
    made = (_heatmap if layout.figure == HEATMAP else _lines)(layout, cells, wanted)
    over = " and ".join(map(_words, layout.inside))
    title = f"{_title(wanted.metric)} over {over}" if over else _title(wanted.metric)
    return Drawn(made, layout.figure, title, _basis(swept, layout, cells))


def save(drawn: Drawn, name: str, path: str | Path, width: float | None) -> list[Path]:
    """The files of a figure; above one that has no width of a paper, the sweep's name and what it shows."""
    from forebay.figures import _plan

    return _plan.draw(drawn.plan, path, width, [name, drawn.basis])


def _layout(swept: Swept, wanted: Wanted) -> _Layout:
    found = dimensions(swept)
    if wanted.figure is not None and wanted.figure not in FIGURES:
        raise InputError(f"unknown figure of a sweep {brief(wanted.figure)}: {nearest(wanted.figure, FIGURES)}")
    for option in ("x", "y"):
        name = getattr(wanted, option)
        if name is not None and name not in found:
            known = nearest(name, found) if found else "nothing does"
            raise InputError(f"--{option}: runs do not differ in {brief(name)}; {known}")
    numeric = [one for one in found.values() if one.numbers is not None]
    rest = [name for name in found if name != _POLICY and name not in {one.name for one in numeric}]
    map_suits = len(numeric) == 2 and not rest and wanted.x is None
    figure = wanted.figure or (HEATMAP if wanted.y is not None or map_suits else LINES)
    axes: tuple[Dimension | None, Dimension | None]
    if figure == HEATMAP:
        axes = _two(found, numeric, wanted)
    elif wanted.y is not None:
        raise InputError("--y is of sweep-heatmap: lines have their number there; leave it out")
    else:
        axes = found[wanted.x] if wanted.x is not None else _longest(found, numeric), None
    chosen = {one.name for one in axes if one is not None}
    others = [one for one in found.values() if one.name not in {_POLICY, *chosen} and not _of_policies(swept, one)]
    return _Layout(figure, axes[0], axes[1], others)


def _of_policies(swept: Swept, one: Dimension) -> bool:
    """Whether it is a parameter of policies alone: lines then show it."""
    if one.name in AXES:
        return False
    place = f"{{{one.name}}}"
    mine = swept.table.filter(pl.col(one.name).is_not_null())
    inside = {axis: mine[as_written(axis)].str.contains(place, literal=True) for axis in AXES}
    return bool(inside[_POLICY].all()) and not any(inside[axis].any() for axis in AXES if axis != _POLICY)


def _longest(found: Mapping[str, Dimension], numeric: Sequence[Dimension]) -> Dimension | None:
    """What has most values: of numbers, else of names, the policy last; None where runs differ in nothing."""
    for some in (numeric, [one for one in found.values() if one.name != _POLICY], list(found.values())):
        if some:
            return max(some, key=lambda one: len(one.values))
    return None


def _two(found: Mapping[str, Dimension], numeric: Sequence[Dimension], wanted: Wanted) -> tuple[Dimension, Dimension]:
    """The parameters of a map: those that are asked for, and others with most values."""
    given = [found[name] for name in (wanted.x, wanted.y) if name is not None]
    for one in given:
        if one.numbers is None:
            raise InputError(f"{one.name} is no number, and a map needs two; draw {LINES}, or name another parameter")
    if len({one.name for one in given}) < len(given):
        raise InputError(f"--x and --y are both {given[0].name}; name two parameters")
    left = sorted((one for one in numeric if one not in given), key=lambda one: -len(one.values))
    if len(given) + len(left) < 2:
        known = listed([one.name for one in numeric]) or "none"
        raise InputError(f"a map is over two parameters that are numbers; those that vary: {known}. Draw {LINES}")
    x = found[wanted.x] if wanted.x is not None else left.pop(0)
    y = found[wanted.y] if wanted.y is not None else left.pop(0)
    return x, y


Key = tuple[str, str, Any, Any]
"""Panel, line, and the values at x and y."""


def _cells(swept: Swept, layout: _Layout, metric: str) -> dict[Key, list[float]]:
    """The number of every run, by where it is drawn; in the order of the sweep."""
    found: dict[Key, list[float]] = {}
    for row, line in zip(swept.table.iter_rows(named=True), _labels(swept, layout), strict=True):
        if row[metric] is not None:
            panel = ", ".join(filter(None, (_piece(one, row[one.column]) for one in layout.others)))
            x, y = (None if one is None else row[one.column] for one in (layout.x, layout.y))
            found.setdefault((plain(panel), plain(line), x, y), []).append(float(row[metric]))
    return found


def _piece(one: Dimension, value: Any) -> str:
    if value is None:
        return ""
    return str(value) if one.name in AXES else f"{one.name} = {value}"


def _labels(swept: Swept, layout: _Layout) -> list[str]:
    """What the line of each run is called: its policy, without what the axes show if policies differ all the same."""
    if layout.x is not None and layout.x.name == _POLICY:
        return [""] * len(swept.table)
    left = [name for name in swept.parameters if name not in layout.inside]
    full = []
    for row in swept.table.select(as_written(_POLICY), *left).iter_rows(named=True):
        text = row[as_written(_POLICY)]
        for name in left:
            text = text.replace(f"{{{name}}}", str(row[name]))
        full.append(text)
    names = "|".join(map(re.escape, layout.inside))
    short = [re.sub(rf"(?<=[:,])\w+=\{{(?:{names})\}}(?:,|$)", "", text).rstrip(":,") for text in full]
    return short if len(set(short)) == len(set(full)) else full


def _lines(layout: _Layout, cells: Mapping[Key, list[float]], wanted: Wanted) -> "Plan":
    from forebay.figures._sweeps import lines

    at = _positions(layout.x)
    points = []
    for (panel, line, x, _), values in cells.items():
        seen = spread(values)
        points.append(lines.Point(panel, line, None if x is None else at[x], seen.n, seen.mean, seen.half))
    _refuse_many(len({one.panel for one in points}), len({one.line for one in points}))
    across = _across(layout.x, [one.x for one in points if one.x is not None])
    return lines.plan(points, across, _title(wanted.metric), _unit(wanted.metric), wanted.width)


def _heatmap(layout: _Layout, cells: Mapping[Key, list[float]], wanted: Wanted) -> "Plan":
    """A policy that one of the parameters does not change has the same number at all its values."""
    from forebay.figures._sweeps import heatmap

    assert layout.x is not None
    assert layout.y is not None
    xs, ys = (_positions(one) for one in (layout.x, layout.y))
    found = []
    for (panel, line, x, y), values in cells.items():
        seen, name = spread(values), ", ".join(filter(None, (line, panel)))
        found += [
            heatmap.Cell(name, across, up, seen.n, seen.mean, seen.half)
            for across in (sorted(xs.values()) if x is None else [xs[x]])
            for up in (sorted(ys.values()) if y is None else [ys[y]])
        ]
    _refuse_many(len({one.panel for one in found}), 1)
    axes = _across(layout.x, [one.x for one in found]), _across(layout.y, [one.y for one in found])
    return heatmap.plan(found, axes, _title(wanted.metric), _unit(wanted.metric), wanted.width)


def _refuse_many(panels: int, lines: int) -> None:
    if panels > _MOST:
        raise InputError(
            f"the figure would have {panels:,} panels, and {_MOST} is the most; choose by --where NAME=VALUE"
        )
    if lines > _LINES:
        raise InputError(f"the figure would have {lines:,} lines, and {_LINES} can be distinguished; choose by --where")


def _positions(one: Dimension | None) -> Mapping[Any, float]:
    if one is None:
        return {}
    return one.numbers or {value: float(place) for place, value in enumerate(one.values)}


def _across(one: Dimension | None, there: Sequence[float]) -> "Across":
    """The axis, with the values at which there is something to show."""
    from forebay.figures._sweeps.lines import Across

    if one is None:
        return Across("", [0.0], names=[""])
    if one.numbers is None:
        return Across(_words(one.name), sorted(_positions(one).values()), names=[plain(str(one)) for one in one.values])
    return Across(_words(one.name), sorted(set(there) or set(one.numbers.values())), one.unit)


def _basis(swept: Swept, layout: _Layout, cells: Mapping[Key, list[float]]) -> str:
    """Of how many runs means are, with which intervals, and how much of the sweep there is."""
    least, most = min(map(len, cells.values())), max(map(len, cells.values()))
    seeds = counted(most, "seed") if least == most else f"{least:,} to {most:,} seeds"
    shown = f"means over {seeds}" if most > 1 else "a single seed"
    if layout.figure == LINES:
        shown += ", with Student's 95 % intervals" if most > 1 else ", which has no interval"
    ended = len(swept.table)
    left = "" if ended == swept.total else f"; {ended:,} of {counted(swept.total, 'run')}: the sweep has not ended"
    return f"{shown}{left}"


def _words(name: str) -> str:
    return plain(name).replace("_", " ")


def _title(metric: str) -> str:
    if metric.startswith(_USE):
        return f"use of {_words(metric.removeprefix(_USE))}"
    return _TITLES.get(metric, _words(metric))


def _unit(metric: str) -> str:
    from forebay.metrics._listing import about

    try:
        return about(metric).unit_of(metric)
    except ForebayError:  # a metric that is not installed here
        return ""
