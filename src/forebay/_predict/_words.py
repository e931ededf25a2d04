"""Predictions in tables and sentences."""

from collections.abc import Mapping
from typing import Any, Protocol

import polars as pl

from forebay._support.paper import Table
from forebay._support.text import counted
from forebay.metrics._numbers import NONE, percent, seconds
from forebay.workload.dates import date_text


class Predicted(Protocol):
    """A prediction, as far as tables and pictures need it."""

    @property
    def table(self) -> pl.DataFrame:
        """A row a job."""

    @property
    def outlook(self) -> pl.DataFrame:
        """A row an hour."""

    @property
    def waits(self) -> pl.DataFrame:
        """A row a partition."""

    @property
    def what_ifs(self) -> pl.DataFrame | None:
        """A row a job and request."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What it rests on."""


def rough(value: float) -> str:
    """A wait as one says it: to the second below a minute, to the minute below a day, else to the hour."""
    step = 1 if value < 60 else 60 if value < 86400 else 3600
    return "now" if value < 1 else seconds(round(value / step) * step)


def starts(found: Predicted) -> Table:
    """When jobs start."""
    rows = [
        [
            called(row),
            f"{row['nodes']:,}",
            NONE if row["walltime"] == float("inf") else seconds(row["walltime"]),
            rough(row["p10"]),
            rough(row["p50"]),
            rough(row["p90"]),
            *(percent(row[f"within_{hours}h"]) for hours in (1, 4, 24)),
            rough(row["slurm"]),
        ]
        for row in found.table.iter_rows(named=True)
    ]
    titles = ["job", "nodes", "walltime", "10 %", "50 %", "90 %", "in 1 h", "in 4 h", "in 24 h", "by walltimes"]
    return Table(titles, rows, range(1, len(titles)), about(found.facts))


def called(row: Mapping[str, Any]) -> str:
    return str(row["job_id"]) if row["asked"] is None else str(row["asked"])


def about(facts: Mapping[str, Any]) -> str:
    """What starts rest on."""
    when = moment(facts)
    return (
        f"Time until jobs of {facts['workload']} start, from {when} on, under {facts['policy']}: within it with a "
        f"chance of 10, 50 and 90 %, in {facts['futures']:,} futures"
    )


def moment(facts: Mapping[str, Any]) -> str:
    """When it is."""
    date = date_text(facts["epoch"] + facts["at"]) if facts.get("epoch") is not None else None
    return f"{date} UTC" if date else f"{facts['at']:,.10g} s"


def requests(found: Predicted) -> Table | None:
    """What other requests would change."""
    if found.what_ifs is None:
        return None
    names = {row["job_id"]: called(row) for row in found.table.iter_rows(named=True)}
    rows = [
        [
            names[row["job_id"]],
            row["what_if"],
            rough(row["before"]),
            *(rough(row[name]) for name in ("p10", "p50", "p90")),
        ]
        for row in found.what_ifs.iter_rows(named=True)
    ]
    return Table(["job", "with", "as it is, 50 %", "10 %", "50 %", "90 %"], rows, range(2, 6), about(found.facts))


def partitions(found: Predicted) -> Table:
    """What those wait who come."""
    rows = [
        [row["queue"], f"{row['jobs']:.0f}", *(rough(row[name]) for name in ("low", "middle", "high"))]
        for row in found.waits.iter_rows(named=True)
    ]
    titles = ["partition", "jobs that come", "wait 10 %", "50 %", "90 %"]
    return Table(titles, rows, range(1, 5), "Jobs that come within a day, and what they wait")


def sentences(found: Predicted) -> list[str]:
    """What is to be read first."""
    facts = found.facts
    said = [
        f"At {moment(facts)} {counted(facts['running'], 'job runs', 'jobs run')} on {facts['nodes_in_use']:,} of "
        f"{counted(facts['nodes'], 'node')}, and {counted(facts['waiting'], 'job waits', 'jobs wait')}."
    ]
    for row in found.table.head(3).iter_rows(named=True):
        name = f"Job {called(row)}" if row["asked"] is None else f"A job with {row['asked']}"
        said.append(f"{name} starts {_when(row)}; by walltimes alone {_within(row['slurm'])}.")
    if found.what_ifs is not None:
        for row in found.what_ifs.head(3).iter_rows(named=True):
            said.append(f"With {row['what_if']}: {rough(row['p50'])} instead of {rough(row['before'])}.")
    return said


def _within(wait: float) -> str:
    """ "in 2 h", or "at once"."""
    return "at once" if wait < 1 else f"in {rough(wait)}"


def _when(row: Mapping[str, Any]) -> str:
    """The median, with an interval where there is one."""
    low, high = rough(row["p10"]), rough(row["p90"])
    return _within(row["p50"]) if low == high else f"{_within(row['p50'])} (80 %: {low} to {high})"


def first(found: Predicted) -> str:
    """In a few words."""
    if not found.table.height:
        return "no job waits"
    row = found.table.row(0, named=True)
    return f"the first starts {_when(row)}"


def notes(facts: Mapping[str, Any]) -> list[str]:
    """What to know of it."""
    said = []
    if facts["newcomers"] == "none":
        said.append("less than a day is known: no job is expected to come, and waits may be longer")
    elif facts["newcomers"] == "as on earlier days":
        said.append("less than a week is known: newcomers are those of earlier days")
    if facts["calibrated_by"] < _FEWEST:
        what = counted(facts["calibrated_by"], "earlier wait", "earlier waits")
        said.append(f"{what} can be checked against: intervals are as drawn, and may be too narrow")
    return said


_FEWEST = 40
