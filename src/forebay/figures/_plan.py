"""A figure before it is drawn: its panels and what goes into them. It becomes files, or fills a user's Axes."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forebay._support.files import as_path
from forebay._support.text import counted
from forebay.errors import InputError, wrong_type
from forebay.figures import _header, _look, _style
from forebay.results import Result

_SMALL = 4
"""Panels beside and below each other that any width has room for."""

Legend = Callable[[Sequence[Any], int], None]
"""Puts handles above everything, in at most so many columns."""


@dataclass(frozen=True)
class Plan:
    """What a figure consists of. `paint` draws into Axes from top to bottom: a panel for each of `heights`.

    A grid has several panels in a row, in those of its `cells` that are named; they are counted row by row.
    """

    width: float  # inches
    height: float
    heights: Sequence[float]  # of the panels, in proportion
    paint: Callable[[Sequence[Any], Legend], None]
    data: Mapping[str, pl.DataFrame]  # behind the picture, by what follows its name
    one_clock: bool = False  # whether panels share their x-axis
    title: str = ""
    columns: int = 1
    cells: Sequence[int] | None = None  # None = all
    planned: float | None = None  # the width that it had before it was given another

    def at(self, width: float) -> "Plan":
        """The same at another width; text keeps its size, and a legend has the rows that it then needs."""
        if len(self.places) > _SMALL and self.columns > 1 and width < 0.9 * self.width:
            raise InputError(
                f"{len(self.places)} panels do not fit {width:g} inches; draw fewer runs, or at the width of a page"
            )
        return replace(self, width=width, planned=self.width)

    @property
    def places(self) -> Sequence[int]:
        """The cells that have a panel."""
        return range(len(self.heights) * self.columns) if self.cells is None else self.cells


def save(plan: Plan, path: Path, results: Mapping[str, Result] | None = None) -> list[Path]:
    """Write the picture and its data; above it a line on the results that it shows."""
    width = _look.GIVEN.get()
    plan = plan if width is None else plan.at(width)
    with _style.page(plan.width, plan.height) as figure:
        grid = figure.subplots(
            len(plan.heights), plan.columns, sharex=plan.one_clock, squeeze=False, height_ratios=list(plan.heights)
        ).ravel()
        for empty in set(range(len(grid))) - set(plan.places):
            grid[empty].remove()
        plan.paint(
            grid[list(plan.places)], lambda handles, columns: _style.legend(figure, handles, columns, plan.planned)
        )
        above = _header.of(results, plan.title) if results else _header.caption
        return _style.write(figure, path, plan.data, above if width is None else None)


def draw(plan: Plan, path: str | PathLike[str], width: str | float | None, about: Sequence[str] = ()) -> list[Path]:
    """Write the figure of an answer, and its data; above one without the width of a paper, what it is about."""
    with _look.sized(None if width is None else _look.inches(width)), _header.telling(about):
        return save(plan, as_path(path, "the picture to write"))


def fill(plan: Plan, ax: Any, given: str | float | None = None) -> Any:
    """Draw into Axes of a user, or into a new figure of pyplot's. Gives the Axes: one, or an array of several.

    A new figure of a given width has our own look: text of the size that papers print. A width is that of a paper, by
    its name, or inches.
    """
    width = None if given is None else _look.inches(given)
    if width is not None and ax is not None:
        raise InputError("ax has a width of its own; leave out width, or ax")
    with nullcontext() if width is None else _style.settings():
        axes = _panels(plan if width is None else plan.at(width), ax)
        if plan.title:
            axes[0].set_title(plan.title, loc="left", fontweight="bold")
        plan.paint(axes, lambda handles, columns: _legend(axes[0], handles, columns))
        if width is not None:
            axes[0].figure.draw_without_rendering()  # ticks are made when they are first drawn, and then take settings
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def _panels(plan: Plan, ax: Any) -> list[Any]:
    from matplotlib.axes import Axes

    wanted = len(plan.places)
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(plan.width, plan.height), layout="constrained")
    if isinstance(ax, Axes):
        return [ax] if wanted == 1 else _divided(plan, ax)
    axes = list(np.ravel(np.array(ax, dtype=object)))
    if not all(isinstance(one, Axes) for one in axes):
        raise wrong_type("ax", ax, "Axes of matplotlib, such as plt.subplots makes")
    if len(axes) != wanted:
        raise InputError(
            f"the figure has {counted(wanted, 'panel')} and is given {len(axes)} Axes; give one, or {wanted}"
        )
    if plan.one_clock:
        _share(axes)
    return axes


def _divided(plan: Plan, ax: Any) -> list[Any]:
    """Panels in the place of one Axes, which goes."""
    place = ax.get_subplotspec()
    if place is None:
        raise InputError(f"the figure has {len(plan.places)} panels, and ax is in no grid to divide; use plt.subplots")
    figure = ax.figure
    axes: list[Any] = []
    ax.remove()
    grid = place.subgridspec(len(plan.heights), plan.columns, height_ratios=list(plan.heights))
    for cell in plan.places:
        shared = axes[0] if axes and plan.one_clock else None
        axes.append(figure.add_subplot(grid[divmod(cell, plan.columns)], sharex=shared))
    if plan.one_clock:
        _hide_inner(axes)
    return axes


def _share(axes: Sequence[Any]) -> None:
    """One x-axis for all, also where the user has not asked pyplot for it."""
    for one in axes[:-1]:
        if not one.get_shared_x_axes().joined(one, axes[-1]):
            one.sharex(axes[-1])
    _hide_inner(axes)


def _hide_inner(axes: Sequence[Any]) -> None:
    for one in axes[:-1]:
        one.tick_params(labelbottom=False)


def _legend(top: Any, handles: Sequence[Any], columns: int) -> None:
    """Above the uppermost panel; a title goes above the legend."""
    columns = max(1, min(columns, len(handles)))
    top.legend(
        handles=list(handles), loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, frameon=False, fontsize=7
    )
    title = top.get_title(loc="left")
    if title:
        top.set_title(title, loc="left", pad=6 + 11 * math.ceil(len(handles) / columns))
