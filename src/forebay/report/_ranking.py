"""The numbers of every policy, shortest mean wait first."""

from typing import Any

import polars as pl

from forebay._support.text import counted
from forebay.errors import ForebayError
from forebay.metrics._listing import own_among
from forebay.metrics._numbers import change_percent, killed_unlike, number, shown
from forebay.report import tables
from forebay.report._folder import Runs
from forebay.report.page import Section

NONE = "-"
WHAT = (
    "A wait is turnaround less the time on nodes doing work that counted; a slowdown is turnaround divided by the run "
    "time alone, at the size asked for."
)
_RANKED = (
    ("mean_wait", "mean wait"),
    ("mean_turnaround_time", "mean turnaround"),
    ("median_wait", "median wait"),
    ("p95_wait", "p95 wait"),
    ("max_wait", "longest wait"),
    ("mean_bounded_slowdown_10min", "bounded slowdown (10 min)"),
)
TITLES = dict(_RANKED)
_LATER = (("n_killed", "killed"), ("n_waiting_over_a_day", "waiting > 1 day"))


def ranking(runs: Runs) -> str:
    """The numbers of every policy, shortest mean wait first."""
    resources = [(f"utilisation_{name}", f"{words(name)} used") for name in runs.documents[0]["resources"]]
    own = [(name, words(name)) for name in own_among(runs.numbers)]
    later = [column for column in _LATER if any(round(numbers.get(column[0]) or 0) for numbers in runs.numbers)]
    columns = [*_RANKED, *resources, *later, *own]
    rows = [
        [label, *(value(name, numbers.get(name)) for name, _ in columns)]
        for label, numbers in zip(runs.labels, runs.numbers, strict=True)
    ]
    table = tables.table(["policy", *(title for _, title in columns)], rows, range(1, len(columns) + 1))
    kills = killed_unlike(dict(zip(runs.labels, runs.numbers, strict=True)))
    said = tables.paragraph(f"{kills}.") if kills else ""
    return tables.paragraph(f"{WHAT} {_over(runs)}".strip()) + table + said + _not_run(runs) + _least(runs)


def _over(runs: Runs) -> str:
    """What numbers are means over, where that is not simply all jobs of each run."""
    words = [f"the trace and {counted(runs.copies, 'shaken copy', 'shaken copies')} of it"] if runs.copies else []
    words += ["the jobs that ran under every policy"] if runs.not_run is not None else []
    return f"Numbers are means over {', and over '.join(words)}." if words else ""


def _not_run(runs: Runs) -> str:
    """Jobs that did not run under every policy, and why."""
    if runs.not_run is None:
        return ""
    rows = [[row["policy"], row["reason"], f"{row['jobs']:,}"] for row in runs.not_run.iter_rows(named=True)]
    return tables.table(["policy", "why jobs did not run under it", "jobs"], rows, (2,))


def _least(runs: Runs) -> str:
    """What no policy can have less of, and how many times as much each has."""
    if runs.bounds is None:
        return ""
    mine = runs.bounds.filter((pl.col("metric") == "mean_wait") & (pl.col("least") > 0))
    if mine.is_empty():
        return ""
    times = [f"{one['policy']} {one['ratio']:.3g}" for one in mine.drop_nulls("ratio").iter_rows(named=True)]
    least = value("mean_wait", mine["least"][0])
    return tables.paragraph(f"No policy can have a mean wait below {least}. Times that: {', '.join(times)}.")


def words(name: str) -> str:
    """A name as prose has it."""
    return name.replace("_", " ")


def value(name: str, given: Any) -> str:
    """A number of a summary in its unit."""
    try:
        return shown(name, given)
    except ForebayError:  # a metric that is not installed here
        return number(given)


def percent(share: float | None, decided: bool = False) -> str:
    """A change: "+12 %"; a bound of a decided verdict with enough digits to see its sign."""
    return NONE if share is None else f"{change_percent(share, decided)} %".replace("-", "\N{MINUS SIGN}")


def means(runs: Runs) -> list[Section]:
    """Mean waits with their intervals over jobs, in hours."""
    if len(runs.documents) < 2:
        return []
    dots = []
    for label, document in zip(runs.labels, runs.documents, strict=True):
        summary = document.get("summary") or {}
        mean, half = summary.get("mean_wait"), summary.get("ci95_wait") or 0.0
        if mean is not None:
            dots.append(tables.Dot(label, mean / 3600, (mean - half) / 3600, (mean + half) / 3600))
    if not dots:
        return []
    return [tables.dots("Mean waits", "means", dots, "mean wait (h), with its 95 % interval over jobs")]
