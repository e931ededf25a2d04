"""Small multiples: where lines are too many to distinguish, each has a panel, with all others in grey behind it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import NullLocator

from forebay.figures import _look

MANY = 8
"""More results than this are no longer lines of one panel."""
OTHERS = "#d2d2d2"
ROW = 0.98
"""Inches of a row of panels."""
_WIDE, _APART = 16, 0.24  # results in rows of four, and how far apart numbers of an axis are, as a share of it
_LETTERS = {4: 27, 5: 21}

Line = tuple[np.ndarray, np.ndarray]
"""x and y as they are drawn; corners of steps included."""


def columns(n: int) -> int:
    """Panels side by side on a page."""
    return 4 if n <= _WIDE else 5


def rows(n: int) -> int:
    """Of panels, one for each of n results."""
    return -(-n // columns(n))


def cells(n: int, blocks: int = 1) -> list[int]:
    """Where panels stand in a grid that is counted row by row; each block begins a row."""
    size = rows(n) * columns(n)
    return [block * size + place for block in range(blocks) for place in range(n)]


def steps(x: np.ndarray, y: np.ndarray) -> Line:
    """The corners of a line that keeps its value until the next x."""
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def paint(axes: Sequence[Any], lines: Mapping[str, Line], set_up: Callable[[Any], None], **style: Any) -> None:
    """A panel for each line, the others in grey. `set_up` gives each the same axes; only outer ones are numbered."""
    wide = columns(len(lines))
    for place, (axis, (label, (x, y))) in enumerate(zip(axes, lines.items(), strict=True)):
        others = [np.column_stack(line) for name, line in lines.items() if name != label]
        # As pixels: repeated in each panel, the others would make a file of many megabytes.
        axis.add_collection(LineCollection(others, colors=OTHERS, linewidths=0.5, zorder=1, rasterized=True))
        axis.plot(x, y, zorder=3, **{"color": _look.BLUE, "lw": 1.3, **style})
        set_up(axis)
        axis.set_title(_look.shortened(label, _LETTERS[wide]), loc="left", pad=2, fontsize=7)
        axis.tick_params(labelsize=6, labelleft=place % wide == 0, labelbottom=place + wide >= len(lines))
        axis.grid(True)


def name_axes(axes: Sequence[Any], x: str, y: str) -> None:
    """Titles of the axes that all panels have, once: below the last row, and beside the middle one."""
    wide, n = columns(len(axes)), len(axes)
    axes[(rows(n) - 1) // 2 * wide].set_ylabel(y)
    first = (rows(n) - 1) * wide
    axes[(first + n - 1) // 2].set_xlabel(x)


def thin_out(axis: Any, which: str) -> None:
    """Keep the largest number of an axis, and of the others those that have room in a small panel."""
    own = getattr(axis, f"{which}axis")
    low, high = own.get_transform().transform(np.array(getattr(axis, f"get_{which}lim")()))
    ticks = [tick.get_text() for tick in own.get_ticklabels()]
    kept: list[tuple[float, str]] = []
    last = np.inf
    for value, text in sorted(zip(own.get_majorticklocs().tolist(), ticks, strict=True), reverse=True):
        at = float((own.get_transform().transform(np.array([value]))[0] - low) / (high - low))
        if last - at >= _APART:
            kept.append((value, text))
            last = at
    own.set_ticks([value for value, _ in kept], [text for _, text in kept])
    own.set_minor_locator(NullLocator())
