"""What a replay has found, as tables: waits, scores, and errors by size, queue, user and account."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import polars as pl

from forebay._fidelity._use import Use
from forebay._fidelity.fit import Fit
from forebay._support.paper import Table
from forebay._support.text import about, counted
from forebay.errors import InputError, nearest
from forebay.metrics._numbers import NONE, count, percent, seconds
from forebay.results import Result

Seconds = Callable[[float | None], str]
_KINDS = ("recorded", "simulated")
_WAITS = {"mean": "mean_wait", "median": "median_wait", "p95": "p95_wait", "max": "max_wait"}
_ERRORS = {
    "mean\nrecorded": "recorded_mean_wait",
    "mean\nsimulated": "simulated_mean_wait",
    "mean\nerror": "mean_error",
    "median\nerror": "median_error",
}


class Replayed(Protocol):
    """What a replay has found, as far as tables need it."""

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Every score by its name."""

    @property
    def by(self) -> Mapping[str, pl.DataFrame]:
        """Errors by size, queue and so on."""

    @property
    def jobs(self) -> pl.DataFrame:
        """Those that were scored."""

    @property
    def use(self) -> Use:
        """Of the machine."""

    @property
    def moving(self) -> pl.DataFrame:
        """Averages of waits over time."""

    @property
    def doubts(self) -> Mapping[str, str]:
        """What cannot match."""

    @property
    def result(self) -> Result:
        """The run."""

    @property
    def reasons(self) -> pl.DataFrame | None:
        """Recorded ones, and how many jobs have the same."""

    @property
    def fit(self) -> Fit | None:
        """What was searched for."""


def tables(found: Replayed, top: int | None = None) -> dict[str, Table]:
    """All of them by name; of users and the like those with most hours of nodes, or cores."""
    some = {"waits": waits(found), "scores": Table(["score", "value"], scores(found), (1,), _about(found))}
    some |= {name: groups(found, name, top) for name, rows in found.by.items() if len(rows) > 1}
    some |= {} if found.reasons is None else {"reasons": reasons(found.reasons, _about(found))}
    return some if found.fit is None else some | {"fit": found.fit.table()}


def named(found: Replayed, name: str) -> Table:
    """The one that a user asks for."""
    every = tables(found)
    if name not in every:
        raise InputError(f"there is no table {name!r}: {nearest(name, every)}")
    return every[name]


def _about(found: Replayed) -> str:
    facts = found.result.facts
    return f"{counted(found.numbers['n_jobs'], 'job')} of {facts['workload']}, simulated under {facts['policy']}"


def sentences(found: Replayed) -> list[str]:
    """What is to be read first."""
    numbers = found.numbers
    recorded, simulated = (seconds(numbers[f"{kind}_mean_wait"]) for kind in _KINDS)
    ratio = numbers["ratio_of_means"]
    times = "" if ratio is None else f", {ratio:.2f} times as long"
    said = [
        f"On average a job waits {simulated} in the simulation and waited {recorded} by the record{times}.",
        f"The wait of a job is off by {seconds(numbers['mean_absolute_error'])} on average; "
        f"{percent(numbers['share_within_10min'])} of the waits are off by ten minutes at most.",
    ]
    if numbers["moving_error"] is not None:
        window = about(numbers["moving_window"])
        said.append(f"Moving averages of waits over {window} are off by {percent(numbers['moving_error'])} on average.")
    return said


def waits(found: Replayed, seconds: Seconds = seconds) -> Table:
    """Recorded and simulated ones."""
    rows = [[kind, *(seconds(found.numbers[f"{kind}_{name}"]) for name in _WAITS.values())] for kind in _KINDS]
    return Table(["wait", *_WAITS], rows, range(1, len(_WAITS) + 1), f"Waits of {_about(found)}")


def scores(found: Replayed) -> list[tuple[str, str]]:
    """How far they are apart, in words and numbers."""
    numbers = found.numbers

    def signed(name: str) -> str:
        value = numbers[name]
        return f"{'-' if value < 0 else '+'}{seconds(abs(value))}"

    def plain(name: str) -> str:
        return NONE if numbers[name] is None else f"{numbers[name]:.3f}"

    quantiles = ", ".join(signed(f"{name}_error") for name in ("p05", "p25", "median", "p75", "p95"))
    off = seconds(numbers["mean_absolute_error"])
    return [
        ("mean error", f"{signed('mean_error')} (simulated minus recorded); {off} off"),
        ("5, 25, 50, 75, 95 %", quantiles),
        ("within 10 min", percent(numbers["share_within_10min"])),
        ("ratio of mean waits", plain("ratio_of_means")),
        ("Wasserstein distance", seconds(numbers["wasserstein"])),
        ("Kolmogorov-Smirnov", plain("kolmogorov_smirnov")),
        ("rank correlation", plain("rank_correlation")),
        ("same order of starts", percent(numbers["start_order_agreement"])),
        ("moving averages", _moving(numbers)),
        *([] if found.reasons is None else [("same reasons", percent(numbers["reason_agreement"]))]),
        (
            f"{found.use.unit} in use",
            " recorded, ".join(percent(numbers[f"{kind}_use"]) for kind in _KINDS) + " simulated",
        ),
    ]


def _moving(numbers: Mapping[str, Any]) -> str:
    """Their mean absolute percentage error."""
    if numbers["moving_error"] is None:
        return NONE
    return f"{percent(numbers['moving_error'])} off (MAPE over {about(numbers['moving_window'])})"


def reasons(rows: pl.DataFrame, what: str) -> Table:
    """A row for each that Slurm recorded."""
    lines = [
        [row["recorded"], count(row["jobs"]), count(row["same"]), percent(row["share"]), row["mostly"]]
        for row in rows.iter_rows(named=True)
    ]
    titles = ["recorded reason", "jobs", "same", "share", "mostly simulated"]
    return Table(titles, lines, (1, 2, 3), f"Last reasons other than priority and resources: {what}")


def groups(found: Replayed, name: str, top: int | None = None, seconds: Seconds = seconds) -> Table:
    """A class of sizes a row, or those with most hours of nodes, or cores."""

    def cell(value: float) -> str:
        return f"-{seconds(-value)}" if value < 0 else seconds(value)

    rows, unit = found.by[name], found.use.unit
    shown = rows if name == "size" or top is None else rows.head(top)
    lines = [
        [row["name"], count(row["jobs"]), f"{row['node_hours']:,.0f}", *(cell(row[key]) for key in _ERRORS.values())]
        for row in shown.iter_rows(named=True)
    ]
    titles = [unit if name == "size" else name, "jobs", f"{unit.removesuffix('s')}-\nhours", *_ERRORS]
    return Table(titles, lines, range(1, len(titles)), f"Errors of waits by {name}: {_about(found)}")
