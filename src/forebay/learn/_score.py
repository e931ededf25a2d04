"""Estimators tried on a trace in order of time: a job is predicted when it is submitted, by jobs ended until then."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from forebay._support.paper import InPapers, Table
from forebay._support.text import counted, html_table
from forebay.errors import InputError
from forebay.learn._base import Estimator
from forebay.learn._load import load, names
from forebay.learn._table import asked_of
from forebay.metrics._numbers import percent, seconds
from forebay.workload import Workload, read

LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
_BANDS = {0.5: (2, 4), 0.8: (1, 5), 0.9: (0, 6)}
_FEWEST = 2


@dataclass(frozen=True)
class Scores(InPapers):
    """How well estimators predict the run times of a trace.

    Parameters
    ----------
    table
        A row an estimator: pinball losses at 0.5 and 0.9 in seconds, the shares of jobs in its 50, 80 and 90 %
        intervals, the share that ran longer than its median, and its median absolute error.
    workload
        The trace's name.
    jobs
        How many were predicted.
    at_once
        Whether jobs are taken to have started when they were submitted, as the trace does not tell when they did.
    """

    table: pl.DataFrame
    workload: str
    jobs: int
    at_once: bool = False

    def for_papers(self) -> Table:
        """The scores."""
        rows = [
            [name, *(seconds(value) for value in losses), *(percent(value) for value in shares), seconds(error)]
            for name, *losses, a, b, c, under, error in self.table.iter_rows()
            for shares in [(a, b, c, under)]
        ]
        titles = [
            "estimator",
            "loss\nat 0.5",
            "loss\nat 0.9",
            "in 50 %",
            "in 80 %",
            "in 90 %",
            "under",
            "median\nerror",
        ]
        assumed = "; they are taken to start when submitted, as the trace does not tell" if self.at_once else ""
        caption = f"Run times of {counted(self.jobs, 'job')} of {self.workload}{assumed}"
        return Table(titles, rows, range(1, len(titles)), caption)

    def document(self) -> dict[str, Any]:
        """All of it as what JSON can hold."""
        facts = {"workload": self.workload, "jobs": self.jobs, "starts_assumed": self.at_once}
        return {**facts, "estimators": self.table.to_dicts()}

    def __repr__(self) -> str:
        best = self.table.sort("pinball_50")["estimator"][0]
        return f"<Scores of {counted(self.table.height, 'estimator')} on {self.workload}: best at 0.5 is {best}>"

    def _repr_html_(self) -> str:
        return html_table(self.caption, [(row[0], ", ".join(row[1:])) for row in self.for_papers().rows])


def score(
    workload: Workload | str,
    estimators: Sequence[Any] | None = None,
    ends: np.ndarray | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Scores:
    """Try estimators on a trace, never looking ahead.

    Each job is predicted at its submission by those that had ended by then; jobs that were cancelled before they
    started count in neither.

    Parameters
    ----------
    workload
        A Workload, or what `forebay.read` takes. Its recorded starts say when jobs ended; without any, jobs are taken
        to start when they are submitted.
    estimators
        Names, specs or classes; without them, all that there are.
    ends
        When each job ended, where that is known from elsewhere, as from a simulation; NaN = never.
    progress
        Called at times with the jobs predicted so far, and all of them.

    Examples
    --------
    >>> columns = {"id": range(1, 41), "submit": range(0, 4000, 100), "walltime": [600] * 40, "run_time": [60] * 40}
    >>> jobs = fb.workload.job_table(columns | {"nodes": [1] * 40, "user": [3] * 40})
    >>> ends = jobs["submit"] + jobs["run_time"]
    >>> scores = fb.learn.score(fb.Workload("mine", jobs), ["walltime", "last-two"], ends.to_numpy())
    >>> scores.table.select("estimator", "pinball_50").rows()
    [('walltime', 270.0), ('last-two', 6.75)]
    """
    w = workload if isinstance(workload, Workload) else read(workload)
    run_times = w.jobs["run_time"].to_numpy()
    recorded = "recorded_start" in w.jobs.columns
    ended = _as_told(w, recorded) if ends is None else np.asarray(ends, float)
    known = np.flatnonzero(np.isfinite(ended))
    if len(known) < _FEWEST:
        raise InputError(f"{w.name}: {counted(len(known), 'job')} ended; to learn run times takes at least {_FEWEST}")
    table = []
    chosen = list(estimators) if estimators is not None else names()
    for place, spec in enumerate(chosen):
        call = None if progress is None else _part(progress, place, len(chosen))
        found = _predicted(w, load(spec), ended, known, call)
        called = spec if isinstance(spec, str) else getattr(spec, "__name__", type(spec).__name__)
        table.append({"estimator": called, **_numbers(found, run_times[known])})
    return Scores(pl.DataFrame(table), w.name, len(known), ends is None and not recorded)


def _part(progress: Callable[[int, int], None], place: int, parts: int) -> Callable[[int, int], None]:
    return lambda done, total: progress(place * total + done, parts * total)


def _as_told(w: Workload, recorded: bool) -> np.ndarray:
    """When jobs ended; those that were cancelled while they waited never did."""
    ran = pl.when(pl.col("cancel").is_infinite()).then("submit").otherwise(None)
    starts = pl.col("recorded_start") if recorded else ran.fill_null(float("nan"))
    return w.jobs.select(starts + pl.col("run_time")).to_series().to_numpy()


def _predicted(w: Workload, estimator: Estimator, ended: np.ndarray, known: np.ndarray, call: Any) -> np.ndarray:
    """A row of quantiles for each job that ended."""
    asked, submit, run_times = asked_of(w), w.jobs["submit"].to_numpy(), w.jobs["run_time"].to_numpy()
    found = np.empty((len(known), len(LEVELS)))
    waiting: list[tuple[float, int]] = []  # those submitted that have not been learned from, by their ends
    for place, j in enumerate(known):
        while waiting and waiting[0][0] <= submit[j]:
            i = heapq.heappop(waiting)[1]
            estimator.learn(asked[i], run_times[i])
        found[place] = estimator.likely(asked[j]).quantile(LEVELS)
        heapq.heappush(waiting, (float(ended[j]), int(j)))
        if call is not None and place % 1000 == 0:
            call(place, len(known))
    return found


def _numbers(found: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    at = {level: found[:, place] for place, level in enumerate(LEVELS)}
    spans = {f"coverage_{share * 100:.0f}": (found[:, a], found[:, b]) for share, (a, b) in _BANDS.items()}
    return {
        "pinball_50": pinball(at[0.5], truth, 0.5),
        "pinball_90": pinball(at[0.9], truth, 0.9),
        **{name: float(((low <= truth) & (truth <= high)).mean()) for name, (low, high) in spans.items()},
        "underestimated": float((truth > at[0.5]).mean()),
        "median_absolute_error": float(np.median(np.abs(at[0.5] - truth))),
    }


def pinball(guess: np.ndarray, truth: np.ndarray, level: float) -> float:
    """The loss that the quantile of this level makes least: what falls short costs `level`, what exceeds the rest."""
    short = truth - guess
    return float(np.maximum(level * short, (level - 1) * short).mean())
