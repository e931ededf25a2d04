"""Numbers as tables of the command line show them: as every reader of summaries does, pages too."""

from forebay.experiments.verdicts import change_text as change
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
