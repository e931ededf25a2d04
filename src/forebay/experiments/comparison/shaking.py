"""The same trace, shaken: every job is submitted a little later than it was.

Scheduling is chaotic: a job that arrives a second later may send the whole schedule another way. The mean over shaken
copies is steadier than any one run, and how far they spread tells chance from difference (input shaking: Tsafrir,
Ouaknine & Feitelson 2007).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.workload._source import deadlines_later

if TYPE_CHECKING:
    from forebay.results import Result
    from forebay.workload import Workload

MOST_LATER = 600.0
"""No job is submitted more seconds later than this, nor than the mean time between two arrivals."""
MEASURES = ("wait", "waiting_time", "turnaround_time", "bounded_slowdown_10min")
"""What is kept of every job of a replica."""


@dataclass(frozen=True)
class Replica:
    """A run on a shaken copy: its numbers, and measures of every job in the order of the trace, NaN if none."""

    number: int
    summary: dict[str, Any]
    measures: dict[str, NDArray[np.float64]]


def shaken(workload: "Workload", seed: int, number: int) -> "Workload":
    """The copy of this number: the same for every policy. Times at which jobs are cancelled move with them."""
    submits = workload.jobs["submit"]
    gap = float(submits[-1] - submits[0]) / (len(workload) - 1) if len(workload) > 1 else 0.0
    most = min(gap, MOST_LATER)
    later = pl.Series(np.random.default_rng([seed, number]).uniform(0, most, len(workload)))
    if "running_since" in workload.jobs.columns:  # what runs already does so in every copy
        later = later.zip_with(workload.jobs["running_since"].is_nan(), later * 0)
    due = deadlines_later(workload.jobs, later)
    jobs = workload.jobs.with_columns(pl.col("submit") + later, pl.col("cancel") + later, *due)
    jobs = jobs.drop("recorded_start", strict=False)  # it is not known when a copy would have started
    line = f"replica {number}: submitted up to {most:.3g} s later, seed {seed}"
    return replace(workload, jobs=jobs.sort("submit", "id"), provenance=(*workload.provenance, line))


def seed_of(seed: int, number: int) -> int:
    """The seed of a replica's run, for what policies and failures draw."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def measures_of(result: "Result", ids: pl.Series) -> dict[str, NDArray[np.float64]]:
    """Measures of jobs by their numbers; NaN of those that never began."""
    from forebay.metrics._table import counted, measure

    found = counted(result).select(pl.col("job_id").cast(ids.dtype), *(measure(name).alias(name) for name in MEASURES))
    wanted = pl.LazyFrame({"job_id": ids})
    jobs = wanted.join(found, on="job_id", how="left", maintain_order="left").collect()
    return {name: jobs[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in MEASURES}
