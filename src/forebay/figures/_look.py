"""Colours that everybody can distinguish, and short texts: what figures and reports share. Nothing here draws."""

import math

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
