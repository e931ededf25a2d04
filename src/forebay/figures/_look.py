"""Colours that everybody can distinguish, widths of papers, short texts: what is shared. Nothing here draws."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from forebay.errors import InputError, brief, nearest, wrong_type

BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
PALETTE = (BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, "#000000")  # Okabe & Ito
FILLS = (BLUE, YELLOW, GREEN, PINK, SKY, ORANGE, "#f0e442", "#bbbbbb")
DARK = (BLUE, GREEN, ORANGE)
GREY = "#888888"
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (6, 1, 2, 1)))
MARKERS = "os^Dv<>P"
WAITED = {
    "waited under 1 min": (60, "#fde725"),
    "under 1 h": (3600, "#5ec962"),
    "under 6 h": (21600, "#21918c"),
    "under 1 d": (86400, "#3b528b"),
    "longer": (math.inf, "#440154"),
}
"""Viridis: its order shows to the colour-blind and in grey too."""

WIDTHS = {"ieee-column": 3.5, "ieee-page": 7.16, "acm-column": 3.33, "acm-page": 7.0}
"""Inches: IEEE's author centre names its two; acmart's sigconf sets 506 pt of text, in columns that are 24 pt apart."""
NARROWEST, BROADEST = 2.0, 40.0
"""Of inches that a user may give."""

GIVEN: ContextVar[float | None] = ContextVar("width", default=None)
"""The width of whatever is saved now; None: each figure's own."""

_NEAR = (0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.6)
_FAR = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50)
_APART = 0.08
"""The least share of an axis of ratios between two of its ticks."""

_INCHES = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)

WIDEST = 36
"""Letters of a name beside an axis; of a longer one, the axis would have no room."""


def bytes_unit(amount: float) -> tuple[float, str]:
    """The decimal unit in which so many bytes are a number from 1 to 1000."""
    for size, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if amount >= size:
            return size, name
    return 1.0, "B"


def shortened(text: str, length: int) -> str:
    """At most so many letters: of what is longer, the middle is left out."""
    if len(text) <= length:
        return text
    end = (length - 1) // 2
    return text[: length - 1 - end] + "\N{HORIZONTAL ELLIPSIS}" + text[len(text) - end :]


def ratio_ticks(least: float, largest: float) -> list[float]:
    """Ticks of a logarithmic axis of ratios: first 1 and powers of ten, then the nearest to 1 that have room."""
    ticks = (*_FAR, 100, 200, 500, 1000) if largest / least > 2 else _NEAR
    apart, kept = (largest / least) ** _APART, list[float]()
    for tick in sorted(ticks, key=lambda tick: (tick not in (1, 10, 100, 1000, 0.1), abs(math.log(tick)))):
        if 0.97 * least <= tick <= 1.03 * largest and all(max(tick, one) / min(tick, one) >= apart for one in kept):
            kept.append(tick)
    return sorted(kept)


def inches(width: str | float) -> float:
    """The width that a user means."""
    if isinstance(width, bool) or not isinstance(width, str | int | float):
        raise wrong_type("the width", width, f"inches, or one of {', '.join(WIDTHS)}")
    name = str(width).strip().lower().replace("_", "-")
    if name in WIDTHS:
        return WIDTHS[name]
    if isinstance(width, str) and not _INCHES.fullmatch(name):
        raise InputError(
            f"the width {brief(width)} is neither a number of inches nor that of a paper: {nearest(name, WIDTHS)}"
        )
    found = float(name)
    if not (math.isfinite(found) and NARROWEST <= found <= BROADEST):
        raise InputError(f"a width of {brief(width)} inches will not do; give {NARROWEST:g} to {BROADEST:g}")
    return found


@contextmanager
def sized(width: float | None) -> Iterator[None]:
    """Whatever is saved inside the block has this width, and no line above it: in a paper, the caption has that."""
    token = GIVEN.set(width)
    try:
        yield
    finally:
        GIVEN.reset(token)
