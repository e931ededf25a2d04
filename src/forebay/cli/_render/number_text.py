"""Numbers as tables of the command line show them: as every reader of summaries does, pages too."""

from typing import TYPE_CHECKING

from forebay.experiments.verdicts import BETTER, WORSE
from forebay.metrics._numbers import (
    NONE,
    change_percent,
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
    "WAIT",
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


WAIT = "turnaround less the time on nodes doing work that counted; slowdown: turnaround / run time alone"
"""What a wait is, once a page."""


def change(verdict: "Verdict", narrow: bool = False) -> str:
    """A change with its interval: "-12 % (-18 to -6)"; for narrow tables without."""
    if verdict.change is None:
        return NONE
    text = f"{change_percent(verdict.change)} %"
    if narrow or verdict.low is None or verdict.high is None or verdict.low == verdict.high:
        return text
    low, high = (change_percent(end, verdict.word in (BETTER, WORSE)) for end in (verdict.low, verdict.high))
    return f"{text} ({low} to {high})"
