"""Axes of numbers in a unit that suits them: hours, per cent, terabytes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from forebay.figures import _look, _style

_TIMES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))
_SCALED = {"J": ((3.6e9, "MWh"), (3.6e6, "kWh")), "W": ((1e6, "MW"), (1e3, "kW"))}
FACTOR = 20
"""Between the largest and the least, from which on an even axis hides the least."""
_HIGH = 0.5
"""Of the largest, what the least must be above for an axis that does not begin at 0."""


def unit_of(unit: str, largest: float) -> tuple[float, str]:
    """What to divide numbers in a unit of summaries by, for the largest to be read easily, and their unit then."""
    if unit in ("bytes", "bytes/s"):
        size, name = _look.bytes_unit(largest)
        return size, name + unit.removeprefix("bytes")
    if unit == "share":
        return 0.01, "%"
    steps = _TIMES if unit == "s" else _SCALED.get(unit, ())
    return next(((size, name) for size, name in steps if largest >= 2 * size), (1.0, unit))


def titled(title: str, unit: str) -> str:
    """A title with its unit in brackets."""
    return f"{title} ({unit})" if unit else title


def level_axis(axis: Any, means: Sequence[float], ends: Sequence[float]) -> None:
    """A y-axis of means and ends of intervals: logarithmic where means differ by factors, from 0 if any is near it.

    An interval that reaches far below the least mean goes on below a logarithmic axis.
    """
    if 0 < min(means) * FACTOR < max(means):
        least, largest = max(min(ends), min(means) / 4), max(ends)
        _style.log_axis(axis, "y", least, largest)
        axis.set_ylim(0.8 * least, 1.25 * largest)
        return
    least, largest = min(ends), max(ends)
    margin = 0.08 * (largest - least if least > _HIGH * largest and largest > least else largest or 1.0)
    axis.set_ylim(least - margin if least > _HIGH * largest else 0, largest + margin)
    axis.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))


def spaced(values: Sequence[float]) -> bool:
    """Whether values, which grow, are more evenly spaced on a logarithmic axis than on an even one."""
    if len(values) < 3 or values[0] <= 0:
        return False
    even, logarithmic = np.diff(values), np.diff(np.log(values))
    return bool(logarithmic.std() / logarithmic.mean() < even.std() / even.mean())


def tick_text(value: float) -> str:
    """A number as ticks and cells show it."""
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
