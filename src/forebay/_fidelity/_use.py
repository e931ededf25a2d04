"""The machine's use: what jobs held when the trace was recorded, and what they hold in the simulation.

What a job holds is what the simulation gives it, nodes or cores, so that both are counted alike.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from forebay.metrics.machine import usage
from forebay.results import Result
from forebay.workload import Workload

Floats = NDArray[np.float64]
Steps = tuple[Floats, Floats]
"""Times, and the amount from each on; 0 before the first."""


@dataclass(frozen=True)
class Use:
    """Both uses over a period, the capacity, and of what: nodes or cores."""

    recorded: Steps
    simulated: Steps
    capacity: int
    unit: str
    period: tuple[float, float]

    def numbers(self) -> dict[str, Any]:
        """Mean shares in use over the period, the most in use at once, and how far the two are apart on average."""
        start, end = self.period
        if end <= start or self.capacity == 0:
            return dict.fromkeys(("recorded_use", "simulated_use", "recorded_peak", "use_difference"))
        both = np.unique(np.concatenate([self.recorded[0], self.simulated[0], [start, end]]))
        edges = both[(both >= start) & (both <= end)]
        length = np.diff(edges) / (end - start)
        recorded, simulated = (at(steps, edges[:-1]) for steps in (self.recorded, self.simulated))
        return {
            "recorded_use": float(recorded @ length) / self.capacity,
            "simulated_use": float(simulated @ length) / self.capacity,
            "recorded_peak": int(recorded.max()),
            "use_difference": float(np.abs(recorded - simulated) @ length) / self.capacity,
        }


def at(steps: Steps, times: Floats) -> Floats:
    """The amount at some times."""
    found: Floats = np.concatenate([[0.0], steps[1]])[np.searchsorted(steps[0], times, side="right")]
    return found


def use_of(w: Workload, result: Result, period: tuple[float, float]) -> Use:
    """Both uses of the first resource: nodes, or cores where jobs share nodes."""
    unit = next(iter(result.resources))
    jobs = w.jobs.with_columns(amount=amounts(w, result))
    known = jobs.filter(pl.col("recorded_start").is_not_nan() & (pl.col("run_time") > 0))
    begin, amount = known["recorded_start"].to_numpy(), known["amount"].to_numpy().astype(np.float64)
    end = begin + known["run_time"].to_numpy()
    simulated = usage(result, unit)
    return Use(
        recorded=summed(np.concatenate([begin, end]), np.concatenate([amount, -amount])),
        simulated=(simulated["time"].to_numpy(), simulated["amount"].to_numpy().astype(np.float64)),
        capacity=result.resources[unit],
        unit=unit,
        period=period,
    )


def amounts(w: Workload, result: Result) -> pl.Series:
    """What each job holds of the first resource; its nodes where it never started."""
    unit = next(iter(result.resources))
    starts = result.log.filter((pl.col("kind") == "start") & (pl.col("resource") == unit))
    held = starts.group_by("job").agg(amount=pl.col("amount").first()).with_columns(pl.col("job").cast(pl.Int64))
    jobs = w.jobs.select("id", "nodes").join(held, left_on="id", right_on="job", how="left", maintain_order="left")
    return jobs.select(amount=pl.coalesce("amount", "nodes").cast(pl.Int64))["amount"]


def summed(times: Floats, changes: Floats) -> Steps:
    """The amount after each moment at which it changes."""
    order = np.argsort(times, kind="stable")
    moments, first = np.unique(times[order], return_index=True)
    if not moments.size:
        return moments, np.zeros(0)
    return moments, np.add.reduceat(changes[order], first).cumsum()


def most_between(steps: Steps, begin: Floats, end: Floats) -> Floats:
    """The most in use from each beginning up to, not including, its end.

    Of all stretches whose length is a power of two the most is known; two of these cover any stretch.
    """
    values = np.concatenate([[0.0], steps[1]])
    first = np.searchsorted(steps[0], begin, side="right")
    last = np.maximum(np.searchsorted(steps[0], end, side="left"), first)
    levels = [values]
    while 2 ** len(levels) <= len(values):
        half = 2 ** (len(levels) - 1)
        levels.append(np.maximum(levels[-1][:-half], levels[-1][half:]))
    level = np.log2(last - first + 1).astype(np.int64)
    found = np.zeros(len(first))
    for k in np.unique(level):
        mine = level == k
        found[mine] = np.maximum(levels[k][first[mine]], levels[k][last[mine] + 1 - 2**k])
    return found
