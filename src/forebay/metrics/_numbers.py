"""Numbers as tables show them; a dash where there is none."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from forebay.core.units import format_bytes, format_seconds

NONE = "-"
_ALIKE = 0.01  # of the jobs: so many more may one policy kill than another without a remark


def seconds(value: float | None) -> str:
    """A duration: "3 h 52 min"."""
    return NONE if value is None else format_seconds(value)


def short_seconds(value: float | None) -> str:
    """A duration for narrow tables: "3h 52m"."""
    text = seconds(value).replace("min", "m")
    for unit in "smhd":
        text = text.replace(f" {unit}", unit)
    return text


def shortest_seconds(value: float | None) -> str:
    """A duration for the narrowest tables, in one unit: "3.9h"."""
    if value is None or not value >= 60:  # what no file of ours holds, NaN, neither
        return short_seconds(value)
    size, unit = next((size, unit) for size, unit in ((86400, "d"), (3600, "h"), (60, "m")) if value >= size)
    amount = value / size
    return f"{amount:.1f}{unit}" if amount < 100 else f"{amount:,.0f}{unit}"


def percent(value: float | None) -> str:
    """A share: "54.2 %"."""
    return NONE if value is None else f"{100 * value:.1f} %"


def change_percent(share: float, decided: bool = False) -> str:
    """A change in whole per cents with its sign; small ones with a digit more, and a bound of a decided verdict
    with enough digits to see its sign."""
    text = f"{100 * share:+.1f}" if abs(share) < 0.0995 else f"{100 * share:+,.0f}"
    if text not in ("+0.0", "-0.0"):
        return text
    return _first_digit(100 * share) if decided and share else "0"


def _first_digit(value: float) -> str:
    """The first digit that is not 0, cut off towards 0: "-0.008" for -0.0084 and for -0.0089."""
    places = -math.floor(math.log10(abs(value)))
    return f"{math.trunc(value * 10**places) / 10**places:+.{places}f}"


def number(value: float | None) -> str:
    """A plain number, with four digits or all before the point."""
    if value is None:
        return NONE
    return f"{value:,.2f}" if abs(value) < 99.995 else f"{value:,.1f}" if abs(value) < 999.95 else f"{value:,.0f}"


def count(value: float | None) -> str:
    """A count: "1,062"; of a mean over runs the nearest whole number."""
    return NONE if value is None else f"{round(value):,}"


def size(value: float | None) -> str:
    """Bytes: "49.9 TB"."""
    return NONE if value is None else format_bytes(int(value))


def hours_of_change(value: float, decided: bool = False) -> str:
    """Hours more or less, with their sign: "+1,240", "-3.2"; a bound of a decided verdict shows its sign, too."""
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    text = f"{value:+,.{digits}f}"
    if text not in ("+0.00", "-0.00"):
        return text
    return _first_digit(value) if decided and value else "0"


def node_hours(value: float | None) -> str:
    """Nodes x hours, with their unit."""
    return NONE if value is None else f"{number(value)} node-hours"


def shown(
    name: str,
    value: float | None,
    seconds: Callable[[float | None], str] = seconds,
    share: Callable[[float | None], str] = percent,
) -> str:
    """A number of a summary, written as its unit asks for; a table may have its own way with durations and shares."""
    from forebay.metrics._listing import about

    ways = {"s": seconds, "share": share, "jobs": count, "times": count, "bytes": size, "node-hours": node_hours}
    return ways.get(about(name).unit_of(name), number)(value)


def killed_unlike(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """A remark where policies kill unlike shares of the jobs at their walltimes; empty where they do not."""
    counts = {policy: round(numbers.get("n_killed") or 0) for policy, numbers in summaries.items()}
    n_jobs = max((numbers.get("n_jobs") or 0 for numbers in summaries.values()), default=0)
    if not counts or max(counts.values()) - min(counts.values()) <= _ALIKE * n_jobs:
        return ""
    most, least = max(counts, key=lambda one: counts[one]), min(counts, key=lambda one: counts[one])
    return (
        f"{most} kills {counts[most]:,} of {n_jobs:,} jobs at their walltimes, and {least} {counts[least]:,}: jobs "
        "that are cut off make way for others, so shorter waits may not be a gain"
    )


def wait_with_interval(summary: Mapping[str, Any]) -> str:
    """The mean wait and its 95 % interval over the jobs of the run."""
    mean, half = summary["mean_wait"], summary["ci95_wait"]
    return seconds(mean) if half is None else f"{seconds(mean)} ± {seconds(half)} (95 % interval over jobs)"
