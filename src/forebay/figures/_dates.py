"""Dates on an axis of time, where the trace tells when it began: who ran the machine knows what happened in March."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from forebay.results import Result

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STEPS = (
    *(_MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * n for n in (1, 2, 4, 6, 12)),
    *(_DAY * n for n in (1, 2, 7, 14)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_MONDAY = 4 * _DAY  # the first one of 1970: weeks begin there
_MOST = 7  # dates that an axis has room for, at the width of a page; and about one an inch


def epoch_of(results: Mapping[str, Result]) -> float | None:
    """When second 0 of all results was; None where they do not tell, or differ."""
    found = {result.facts.get("epoch") for result in results.values()}
    epoch = found.pop() if len(found) == 1 else None
    return float(epoch) if isinstance(epoch, int | float) and not isinstance(epoch, bool) else None


def calendar(axis: Any, epoch: float | None, start: float, end: float, unit: float) -> None:
    """Dates in place of the time since the first job; a run of a few minutes keeps that."""
    if epoch is None or end - start < _MOST * _MINUTE:
        return
    inches = axis.figure.bbox.width / axis.figure.dpi
    most = min(_MOST, max(2, int(inches)))
    try:
        ticks = _ticks(epoch + start, epoch + end, most)
    except (ValueError, OverflowError, OSError):  # beyond the years that a calendar has
        return
    axis.set_xticks([(moment - epoch) / unit for moment, _ in ticks], [text for _, text in ticks])
    axis.set_xlabel("date (UTC)")


def _ticks(start: float, end: float, most: int = _MOST) -> list[tuple[float, str]]:
    """Round moments between two Unix times, and how to write them."""
    step = next((step for step in _STEPS if (end - start) / step <= most), None)
    if step is None:
        return _months(start, end, most)
    origin = _MONDAY if step > 2 * _DAY else 0
    first = origin - (origin - int(start)) // step * step
    moments = [float(moment) for moment in range(first, int(end) + 1, step) if moment >= start]
    if step >= _DAY:
        return [(moment, f"{_date(moment):%Y-%m-%d}") for moment in moments]
    found, before = [], None
    for moment in moments:  # the day is named once
        date = _date(moment)
        found.append((moment, f"{date:%H:%M}" if date.date() == before else f"{date:%H:%M}\n{date:%Y-%m-%d}"))
        before = date.date()
    return found


def _months(start: float, end: float, most: int = _MOST) -> list[tuple[float, str]]:
    first = _date(start)
    months = 12 * first.year + first.month - 1
    length = (end - start) / (30.4 * _DAY)
    step = next((step for step in _MONTHS if length / step <= most), _MONTHS[-1])
    found = []
    for month in range(-(-months // step) * step, months + int(length) + 2 + step, step):
        moment = datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC).timestamp()
        if start <= moment <= end:
            found.append((moment, f"{_date(moment):%Y-%m}"))
    return found


def _date(unix: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=unix)
