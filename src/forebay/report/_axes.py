"""What figures of a page share: their look, axes of time and of waits, rows of names. Colours follow in the browser."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from bokeh.models import CustomJSTickFormatter, FixedTicker, PlainText, Range1d
from bokeh.plotting import figure

from forebay._text import plain
from forebay.figures import _look

WAITS = {
    10: "10 s",
    60: "1 min",
    600: "10 min",
    3600: "1 h",
    21600: "6 h",
    86400: "1 d",
    604800: "7 d",
    2592000: "30 d",
    15552000: "180 d",
}
LINEAR = 30
"""Seconds from which on an axis of waits is logarithmic rather than even."""
COLOURS = (*_look.PALETTE[:6], _look.GREY)
"""As in figures; black would vanish on a dark page."""
DASHES = ("solid", "dashed", "dotted", "dotdash")


def panel(height: int, **more: Any) -> Any:
    """An empty figure as wide as its place, without a background of its own."""
    made = figure(
        height=height,
        sizing_mode="stretch_width",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        toolbar_location=None,
        **{"tools": "", **more},
    )
    made.min_border_right = 12
    made.toolbar.logo = None
    for axis in (*made.xaxis, *made.yaxis):
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = axis.major_label_text_font_size = "12px"
        axis.minor_tick_line_color = None
    return made


def plain_label(text: str, longest: int = _look.WIDEST) -> PlainText:
    """A name that is shown as it is: Bokeh would take some for formulas."""
    return PlainText(text=_look.shortened(plain(text), longest))


def rows(made: Any, names: Sequence[str]) -> None:
    """A y-axis of names, the first on top."""
    made.y_range = Range1d(len(names) - 0.4, -0.6)
    made.yaxis.ticker = FixedTicker(ticks=list(range(len(names))))
    made.yaxis.major_label_overrides = {place: plain_label(name) for place, name in enumerate(names)}
    made.yaxis.major_tick_line_color = None
    made.ygrid.grid_line_color = None


def bent(seconds: np.ndarray | float) -> Any:
    """Where waits lie on their axis: even near 0, so that jobs without any have a place, then logarithmic."""
    return np.arcsinh(np.asarray(seconds, float) / LINEAR)


def bent_waits(made: Any, longest: float) -> None:
    """An x-axis of waits that were `bent`."""
    longest = max(longest, 60.0)
    ticks = {0: "0", **{tick: word for tick, word in WAITS.items() if tick <= 1.05 * longest and tick >= 60}}
    made.x_range = Range1d(float(bent(-5.0)), float(bent(1.3 * longest)))
    _ticks(made.xaxis, {float(bent(float(tick))): word for tick, word in ticks.items()})


def log_waits(made: Any, shortest: float, longest: float) -> None:
    """A logarithmic x-axis of waits."""
    made.x_range = Range1d(shortest, 1.3 * longest)
    every = {1: "1 s", **WAITS}
    _ticks(made.xaxis, {float(tick): word for tick, word in every.items() if shortest <= tick <= 1.3 * longest})


def log_numbers(made: Any, values: Sequence[float]) -> None:
    """A logarithmic x-axis of plain numbers, rather than of powers."""
    if values:
        low, high = min(values), max(values)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
        _ticks(made.xaxis, {tick: f"{tick:,.10g}" for tick in ticks})
        made.x_range = Range1d(low / 1.08, high * 1.08)


def _ticks(axis: Any, words: Mapping[float, str]) -> None:
    axis.ticker = FixedTicker(ticks=list(words))
    axis.major_label_overrides = dict(words)
    axis.minor_tick_line_color = None


def formatted(axis: Any, code: str) -> None:
    """Write the ticks of an axis by a line of JavaScript, of `tick`."""
    axis.formatter = CustomJSTickFormatter(code=f"return {code};")


def look(place: int) -> dict[str, Any]:
    """The line of a policy: no two look the same."""
    turn, colour = divmod(place, len(COLOURS))
    return {"line_color": COLOURS[colour], "line_dash": DASHES[turn % len(DASHES)], "line_width": 1.8}
