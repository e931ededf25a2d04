"""What figures of a page share: their look, axes of time and of waits, rows of names. Colours follow in the browser."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from forebay._support.text import plain
from forebay.figures import _look
from forebay.report._models import Figure, Model

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
DASHED, DOTTED = (6,), (2, 4)
"""Pixels of a line and of the gaps between."""
DASHES = ((), DASHED, DOTTED, (2, 4, 6, 4))


def panel(height: int, **more: Any) -> Figure:
    """An empty figure as wide as its place, without a background of its own."""
    made = Figure(
        height=height,
        sizing_mode="stretch_width",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        toolbar_location=None,
        min_border_right=12,
        **more,
    )
    for axis in (made.x_axis, made.y_axis):
        axis.update(
            axis_label_text_font_style="normal",
            axis_label_text_font_size="12px",
            major_label_text_font_size="12px",
            minor_tick_line_color=None,
        )
    return made


def span(start: float, end: float, **more: Any) -> Model:
    """A range with these ends."""
    return Model("Range1d", start=start, end=end, **more)


def ticker(ticks: Iterable[float], **more: Any) -> Model:
    """Ticks at these places and nowhere else."""
    return Model("FixedTicker", ticks=list(ticks), **more)


def plain_label(text: str, longest: int = _look.WIDEST) -> Model:
    """A name that is shown as it is: Bokeh would take some for formulas."""
    return Model("PlainText", text=_look.shortened(plain(text), longest))


def rows(made: Figure, names: Sequence[str]) -> None:
    """A y-axis of names, the first on top."""
    made.model.update(y_range=span(len(names) - 0.4, -0.6))
    labels = {place: plain_label(name) for place, name in enumerate(names)}
    made.y_axis.update(ticker=ticker(labels), major_label_overrides=labels, major_tick_line_color=None)
    made.y_grid.update(grid_line_color=None)


def bent(seconds: np.ndarray | float) -> Any:
    """Where waits lie on their axis: even near 0, so that jobs without any have a place, then logarithmic."""
    return np.arcsinh(np.asarray(seconds, float) / LINEAR)


def bent_waits(made: Figure, longest: float, which: str = "x") -> None:
    """An axis of waits that were `bent`: x, or y."""
    longest = max(longest, 60.0)
    ticks = {0: "0", **{tick: word for tick, word in WAITS.items() if tick <= 1.05 * longest and tick >= 60}}
    made.model.update(**{f"{which}_range": span(float(bent(-5.0)), float(bent(1.3 * longest)))})
    _ticks(
        made.x_axis if which == "x" else made.y_axis, {float(bent(float(tick))): word for tick, word in ticks.items()}
    )


def log_waits(made: Figure, shortest: float, longest: float) -> None:
    """A logarithmic x-axis of waits."""
    made.model.update(x_range=span(shortest, 1.3 * longest))
    every = {1: "1 s", **WAITS}
    _ticks(made.x_axis, {float(tick): word for tick, word in every.items() if shortest <= tick <= 1.3 * longest})


def log_numbers(made: Figure, values: Sequence[float]) -> None:
    """A logarithmic x-axis of plain numbers, rather than of powers."""
    if values:
        low, high = min(values), max(values)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
        _ticks(made.x_axis, {tick: f"{tick:,.10g}" for tick in ticks})
        made.model.update(x_range=span(low / 1.08, high * 1.08))


def log_ratios(made: Figure, ratios: Sequence[float]) -> float:
    """A logarithmic x-axis of ratios around 1; its lower end, at which those of 0 and less have their place."""
    known = [ratio for ratio in ratios if ratio > 0]
    low, high = min([0.9, *known]), max([1.1, *known])
    if len(known) < len(ratios):
        low /= 2
    _ticks(made.x_axis, {tick: f"{tick:g}" for tick in _look.ratio_ticks(low, high)})
    margin = (high / low) ** 0.03
    made.model.update(x_range=span(low / margin, high * margin))
    return float(low / margin)


def _ticks(axis: Model, words: Mapping[float, str]) -> None:
    axis.update(ticker=ticker(words), major_label_overrides=words)


def formatted(axis: Model, code: str) -> None:
    """Write the ticks of an axis by a line of JavaScript, of `tick`."""
    axis.update(formatter=Model("CustomJSTickFormatter", code=f"return {code};"))


def look(place: int) -> dict[str, Any]:
    """The line of a policy: no two look the same."""
    turn, colour = divmod(place, len(COLOURS))
    return {"line_color": COLOURS[colour], "line_dash": DASHES[turn % len(DASHES)], "line_width": 1.8}


def filled(colour: str) -> dict[str, str]:
    """A dot of one colour, its edge too."""
    return {"fill_color": colour, "line_color": colour}
