"""Dates of a workload: the seconds of its jobs, counted from an epoch, as the calendar has them. All dates are UTC."""

import math
from datetime import UTC, datetime
from typing import Any

from forebay.errors import InputError, brief, wrong_type
from forebay.workload.workload import Workload

EARLIEST = datetime(1980, 1, 1, tzinfo=UTC).timestamp()
"""A trace that does not tell when it began counts from 0, and so seems to begin in 1970, or years later where its
beginning was cut off. No trace is so old."""

Moment = float | str | datetime
"""Seconds after a workload's first job; or a date, as text in ISO 8601 or as Python has it."""


def is_dated(w: Workload) -> bool:
    """Whether it is known when a workload began."""
    return math.isfinite(w.epoch) and w.epoch >= EARLIEST


def date_of(w: Workload, seconds: float) -> str | None:
    """A second of a workload as a date; None where it has none."""
    return date_text(w.epoch + seconds) if is_dated(w) else None


def date_text(unix: float) -> str | None:
    """A Unix time to the second, as `2025-03-01 12:00:00`; None beyond the years that a calendar has."""
    try:
        return datetime.fromtimestamp(math.floor(unix), UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return None


def parse_date(text: str) -> datetime:
    """A date as ISO 8601 writes it; without a zone it is in UTC, as in all that forebay shows."""
    try:
        date = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(f"{brief(text)} is not a date; write one such as 2025-03-01 or 2025-03-01T12:00:00") from None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def seconds_of(w: Workload, moment: Moment) -> float:
    """A moment in a workload's own seconds."""
    if isinstance(moment, str):
        moment = parse_date(moment)
    if isinstance(moment, datetime):
        if not is_dated(w):
            raise InputError(
                f"{w.name} has no dates: its trace does not tell when it began (SWF: the header UnixStartTime); "
                "give seconds after its first job, such as 7d:14d"
            )
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - w.epoch
    number: Any = moment
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise wrong_type("a moment", moment, "seconds, or a date such as 2025-03-01")
    return float(number)


def span_text(w: Workload) -> str:
    """When jobs of a workload arrive, for messages: in seconds, and in dates where it has any."""
    last = float(w.jobs["submit"].max() or 0)  # type: ignore[arg-type]
    first = float(w.jobs["submit"].min() or 0)  # type: ignore[arg-type]
    dates = f", {date_of(w, first)} to {date_of(w, last)} UTC" if is_dated(w) else ""
    return f"jobs are submitted from {first:.10g} to {last:.10g} s{dates}"
