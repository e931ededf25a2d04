"""What all figures share: fonts, sizes, colours that everybody can distinguish, axes of time, and writing the files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from forebay._support.files import replacing
from forebay._support.text import write_csv
from forebay.errors import InputError
from forebay.figures._look import DASHES, GREY, PALETTE, WIDEST, ratio_ticks, shortened

COLUMN, PAGE = 3.5, 7.0
"""Widths in inches: a column, and both columns, of a paper."""

_HANDLE, _LETTER = 0.4, 0.055
"""Inches that an entry of a legend takes beside its text, and a letter of that."""

_METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
_SETTINGS = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same picture everywhere
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "forebay",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
    "text.parse_math": False,  # a $ in a label is a $
}
_CLOCK = (
    (1, "s", (1, 2, 5, 10, 15, 30)),
    (60, "min", (1, 2, 5, 10, 15, 30)),
    (3600, "h", (1, 2, 4, 6, 12)),
    (86400, "d", (1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365)),
)
_WAITS = {
    0: "0",
    60: "1 min",
    600: "10 min",
    3600: "1 h",
    6 * 3600: "6 h",
    86400: "1 d",
    7 * 86400: "7 d",
    30 * 86400: "30 d",
    180 * 86400: "180 d",
}


@contextmanager
def settings() -> Iterator[None]:
    """Nothing of the user's own matplotlib settings comes in, and nothing is left of ours."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


@contextmanager
def page(width: float, height: float) -> Iterator[Figure]:
    """A new figure in forebay's style. Write it inside the block too: settings count when text is placed."""
    with settings():
        # Text is wider at the resolution of the file than at that of a screen: margins are measured for the file.
        yield Figure(figsize=(width, height), dpi=mpl.rcParams["savefig.dpi"], layout="constrained")


def write(
    figure: Figure, path: Path, data: Mapping[str, pl.DataFrame], header: Callable[[Figure], None] | None = None
) -> list[Path]:
    """The picture, and a CSV for each table behind it: all of them or none. Keys follow the picture's name."""
    kind = ending(path)
    _settle(figure)
    if header is not None:
        header(figure)
    tables = [path.with_name(f"{path.stem}{key}.csv") for key in data]
    with replacing(path, *tables) as (picture, *temporary):
        figure.savefig(picture, format=kind, metadata=_METADATA[kind])
        for frame, file in zip(data.values(), temporary, strict=True):
            write_csv(frame, file, float_precision=6)
    return [path, *tables]


def _settle(figure: Figure) -> None:
    """Fix the layout: the last bits of what its solver finds differ from call to call, and would show in the file.

    With no engine left, the file is drawn once; else matplotlib would draw all of it before, to place things.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine(None)
    for axis in figure.axes:
        axis.set_position([round(edge, 5) for edge in axis.get_position().bounds])


def ending(path: Path) -> str:
    """What to write, by the file's ending."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        raise InputError(f"{path}: pictures can be written as {', '.join(_METADATA)}; end the name in one of these")
    return kind


def looks(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour, a dash and a marker for each result, so that no two look the same."""
    found = {}
    for place, label in enumerate(labels):
        turn, colour = divmod(place, len(PALETTE))
        dash = (place + turn + turn // 2) % 2 + 2 * (turn % 2)  # each colour has the first four once in 28 labels,
        dash = dash if turn < 4 else turn  # and all seven in 49
        # Dashes lie on whole lines: of two results that are the same, both are seen.
        found[label] = {"color": PALETTE[colour], "linestyle": DASHES[dash], "zorder": 2 + (dash > 0)}
    return found


def legend(figure: Figure, handles: Sequence[Any], columns: int, planned: float | None = None) -> None:
    """One small legend above everything, in so many columns, or fewer where the page is too narrow for the labels.

    A figure that was planned at another width grows by the rows that the legend has more at its own.
    """
    width = figure.get_figwidth()
    for handle in handles:
        handle.set_label(shortened(str(handle.get_label()), int((width - 1.2 * _HANDLE) / (1.2 * _LETTER))))
    labels = [str(handle.get_label()) for handle in handles]
    if planned is not None:
        more = for_legend(labels, columns, width) - for_legend(labels, columns, planned)
        figure.set_figheight(figure.get_figheight() + max(more, 0.0))
    columns = _columns(labels, columns, width)
    figure.legend(
        handles=list(handles),
        loc="outside upper center",
        ncols=max(1, min(columns, len(handles))),
        handlelength=2.2,
        columnspacing=1.2,
        borderaxespad=0.1,
    )


def _columns(labels: Sequence[str], wanted: int, width: float) -> int:
    longest = max((len(label) for label in labels), default=0)
    return max(1, min(wanted, int(width / (_HANDLE + _LETTER * longest))))


def for_legend(labels: Sequence[str], columns: int, width: float) -> float:
    """Inches to add to a page for a legend of these labels, beyond the three rows that a page has room for."""
    rows = -(-len(labels) // _columns(labels, columns, width))
    return 0.14 * max(0, rows - 3)


def clock(axis: Any, start: float, end: float, ticks: int = 9) -> float:
    """Set up an x-axis of simulated time in its best unit, and give that unit in seconds. Draw in this unit."""
    span = max(end - start, 1.0)
    size, name, step = next(
        ((size, name, step) for size, name, steps in _CLOCK for step in steps if span / (size * step) <= ticks),
        (86400, "d", 365),
    )
    words = {"s": "s", "min": "minutes", "h": "hours", "d": "days"}
    first = np.ceil(start / size / step) * step
    axis.set_xlim(start / size, (start + span) / size)
    axis.set_xticks(np.arange(first, (start + span) / size + 1e-9, step))
    axis.set_xlabel(f"time ({words[name]})")
    return float(size)


def waits_axis(axis: Any, which: str, longest: float) -> None:
    """An axis of waits: even near 0, so that jobs without any have a place, and logarithmic from some minutes on."""
    longest = max(longest, 60.0)
    words = {10: "10 s", **_WAITS} if longest <= 600 else _WAITS
    ticks = [tick for tick in words if tick <= 1.05 * longest]
    getattr(axis, f"set_{which}scale")("asinh", linear_width=30)
    getattr(axis, f"set_{which}ticks")(ticks, [words[tick] for tick in ticks])
    getattr(axis, f"{which}axis").set_minor_locator(NullLocator())
    getattr(axis, f"set_{which}lim")(0, 1.3 * longest)


def log_waits_axis(axis: Any, which: str, shortest: float, longest: float) -> None:
    """A logarithmic axis of waits above 0."""
    least = min(max(shortest, 1.0), longest / 2)
    ticks = {1: "1 s", 10: "10 s", **{tick: text for tick, text in _WAITS.items() if tick}}
    kept = [tick for tick in ticks if least <= tick <= 1.05 * longest]
    getattr(axis, f"set_{which}scale")("log")
    getattr(axis, f"set_{which}ticks")(kept, [ticks[tick] for tick in kept])
    getattr(axis, f"{which}axis").set_minor_locator(NullLocator())
    getattr(axis, f"set_{which}lim")(least, 1.5 * longest)


def log_axis(axis: Any, which: str, least: float, largest: float) -> None:
    """A logarithmic axis of plain numbers: 1, 10, 100, and between them where the span is short."""
    least = max(least, largest * 1e-9, 1e-12)
    steps = (1, 2, 5) if largest / least < 300 else (1,)
    low, high = int(np.floor(np.log10(least))), int(np.ceil(np.log10(largest)))
    ticks = [step * 10.0**power for power in range(low, high + 1) for step in steps]
    kept = [tick for tick in ticks if 0.97 * least <= tick <= 1.03 * largest]
    getattr(axis, f"set_{which}scale")("log")
    getattr(axis, f"set_{which}ticks")(kept, [f"{tick:,.10g}" for tick in kept])
    getattr(axis, f"{which}axis").minorticks_off()


def corners(boxes: pl.DataFrame, unit: float) -> np.ndarray:
    """Those of rectangles on `first_node` to `last_node` from `start` to `end`, for a collection of polygons."""
    low, high = boxes["first_node"].to_numpy() - 0.5, boxes["last_node"].to_numpy() + 0.5
    start, end = boxes["start"].to_numpy() / unit, boxes["end"].to_numpy() / unit
    return np.stack([np.stack([start, end, end, start], 1), np.stack([low, low, high, high], 1)], 2)


def rows_axis(axis: Any, labels: Sequence[str]) -> None:
    """A y-axis of names, the first on top."""
    axis.set_yticks(range(len(labels)), [shortened(label, WIDEST) for label in labels])
    axis.set_ylim(len(labels) - 0.45, -0.55)
    axis.tick_params(axis="y", length=0)


def duration(seconds: float) -> str:
    """Round numbers of seconds in their best unit."""
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {name}"
    return f"{seconds:.0f} s"


def note(axis: Any, text: str) -> None:
    """A word in the middle of a panel that has nothing to show."""
    axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", color=GREY)


def ratio_axis(axis: Any, least: float, largest: float) -> None:
    """Logarithmic: twice as much and half as much are as far from 1."""
    axis.set_xscale("log")
    ticks = ratio_ticks(least, largest)
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.xaxis.minorticks_off()
    margin = (largest / least) ** 0.03
    axis.set_xlim(least / margin, largest * margin)
