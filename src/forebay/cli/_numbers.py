"""Numbers as tables of the command line show them: as every reader of summaries does, pages too."""

from typing import TYPE_CHECKING

from forebay.metrics._numbers import (
    NONE,
    count,
    node_hours,
    number,
    percent,
    seconds,
    short_seconds,
    shortest_seconds,
    shown,
    size,
    wait_with_interval,
)

if TYPE_CHECKING:
    from forebay.experiments.verdicts import Verdict

__all__ = [
    "NONE",
    "change",
    "count",
    "node_hours",
    "number",
    "percent",
    "seconds",
    "short_seconds",
    "shortest_seconds",
    "shown",
    "size",
    "wait_with_interval",
]


def change(verdict: "Verdict", narrow: bool = False) -> str:
    """A change with its interval: "-12 % (-18 to -6)"; for narrow tables without."""
    if verdict.change is None:
        return NONE
    text = f"{_per_cent(verdict.change)} %"
    if narrow or verdict.low is None or verdict.high is None or verdict.low == verdict.high:
        return text
    return f"{text} ({_per_cent(verdict.low)} to {_per_cent(verdict.high)})"


def _per_cent(share: float) -> str:
    """Whole per cents with their sign; small ones with a digit more."""
    text = f"{100 * share:+.1f}" if abs(share) < 0.0995 else f"{100 * share:+,.0f}"
    return "0" if text in ("+0.0", "-0.0") else text
