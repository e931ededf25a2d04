"""What may happen from a moment on: run times drawn for all that run and wait, and jobs that come as others came."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from forebay._predict._arrivals import Arrivals, Past
from forebay._predict._submission import changed
from forebay._predict._world import Learned, World
from forebay.core.schemas import DEADLINE, UNKNOWN
from forebay.learn import Likely
from forebay.workload import Workload
from forebay.workload import dependencies as waits
from forebay.workload._source import tells_requests

_SHORTEST = 1.0
"""A job runs for a second at least: what takes no time says nothing of a queue."""
_PAST_LIMIT = 60.0
"""A job that still runs at its walltime is about to be ended: within a minute, say."""


@dataclass(frozen=True)
class Present:
    """Jobs that run and wait at a moment, with what is likely of their run times; the future is open."""

    world: World
    time: float
    table: pl.DataFrame
    """Rows of a job table, second 0 being now: those that run, then those that wait."""
    running: int
    """How many of them run."""
    likely: list[Likely]
    past: Past

    @property
    def waiting(self) -> np.ndarray:
        """Numbers of the jobs that wait."""
        return self.table["id"].to_numpy()[self.running :]

    def with_job(self, row: pl.DataFrame, likely: Likely) -> "Present":
        """The same moment with one more job waiting, of which the trace does not know."""
        table = pl.concat([self.table, row.select(self.table.columns)])
        return replace(self, table=table, likely=[*self.likely, likely])

    def with_request(self, job: int, made: Mapping[str, Any]) -> "Present":
        """The same with another request of one job: it runs as long as it would, as far as its walltime lets it."""
        place = int(np.flatnonzero(self.table["id"].to_numpy() == job)[0])
        row = changed(self.table[place : place + 1], made)
        likely = list(self.likely)
        points = np.minimum(likely[place].seconds, float(row["walltime"][0]))
        likely[place] = Likely(points, likely[place].weights)
        return replace(self, table=pl.concat([self.table[:place], row, self.table[place + 1 :]]), likely=likely)

    @cached_property
    def dependencies(self) -> pl.DataFrame | None:
        """What waiting jobs still wait for."""
        found = self.world.workload.dependencies
        if found is None:
            return None
        open_ones = waits.only(found, self.table["id"])[0]
        return open_ones

    def workload(self, run_times: np.ndarray, more: pl.DataFrame | None = None) -> Workload:
        """One future: how long each of `table` runs, and who comes."""
        walltime = self.table["walltime"].to_numpy()
        running = np.arange(len(walltime)) < self.running
        run_times = np.maximum(run_times, _SHORTEST)
        # One that has run past its walltime, or up to it, has to have room for what is left.
        walltime = np.where(running, np.maximum(walltime, run_times), walltime)
        if not tells_requests(self.world.workload):
            walltime = run_times
        table = self.table.with_columns(run_time=pl.Series(run_times), walltime=pl.Series(walltime))
        if more is not None and len(more):
            table = pl.concat([table, more.select(table.columns)])
        table = table.sort("submit", "id", maintain_order=True)
        w = self.world.workload
        return Workload(
            f"{w.name}-ahead", table, epoch=w.epoch + self.time, names=w.names, dependencies=self.dependencies
        )

    def requested(self) -> Workload:
        """The future that Slurm's `squeue --start` assumes: all take their walltimes, and no job comes."""
        usual = np.array([float(one.quantile(0.5)) for one in self.likely])
        walltime = self.table["walltime"].to_numpy()
        longest = np.where(np.isfinite(walltime), walltime, usual)
        elapsed = -self.table["running_since"].fill_nan(0.0).to_numpy()
        return self.workload(np.where(longest > elapsed, longest, elapsed + _PAST_LIMIT))


def present(learned: Learned, time: float) -> Present:
    """A moment of a world."""
    world = learned.to(time).world
    known = world.at(time)
    elapsed = time - world.start[known.running]
    likely = [learned.likely(int(j), float(age)) for j, age in zip(known.running, elapsed, strict=True)]
    likely += [learned.likely(int(j)) for j in known.waiting]
    table = _table(world, time, np.r_[known.running, known.waiting], elapsed)
    return Present(world, time, table, len(known.running), likely, Past(world, time))


def _table(world: World, time: float, jobs: np.ndarray, elapsed: np.ndarray) -> pl.DataFrame:
    """Jobs as they stand: submitted before now, the first of them running. What lies ahead is not known yet."""
    rows = world.workload.jobs[jobs]
    since = np.r_[-elapsed, np.full(len(jobs) - len(elapsed), np.nan)]
    submit = np.fmin(rows["submit"].to_numpy() - time, since)
    if world.begin is not None:  # one that may not start yet is in no one's way until then
        begin = world.begin[jobs] - time
        submit = np.where(np.isnan(since) & (begin > 0), begin, submit)
    dated = {name: pl.col(name) - time for name in (DEADLINE,) if rows.schema.get(name) == pl.Float64}
    return rows.drop("recorded_start", strict=False).with_columns(
        submit=pl.Series(submit),
        running_since=pl.Series(since),
        run_time=pl.lit(float("nan")),
        cancel=pl.lit(float("inf")),
        **dated,
    )


def futures(
    found: Present, learned: Learned, rng: np.random.Generator, number: int, horizon: float
) -> Iterator[Workload]:
    """So many futures. Draws of a run time are spread evenly over its distribution, in an order of its own."""
    n = len(found.likely)
    strata = np.stack([rng.permutation(number) for _ in range(n)]) if n else np.empty((0, number))
    shares = (strata + rng.random((n, number))) / number
    drawn = np.stack([one.quantile(row) for one, row in zip(found.likely, shares, strict=True)]) if n else shares
    for k in range(number):
        coming = found.past.draw(rng, horizon)
        yield found.workload(drawn[:, k], _newcomers(found, learned, coming, rng))


def _newcomers(found: Present, learned: Learned, coming: Arrivals, rng: np.random.Generator) -> pl.DataFrame | None:
    """Jobs of the past as they come again: with run times they had, or may have where they have not ended yet."""
    if not len(coming.jobs):
        return None
    world, time = found.world, found.time
    start, end = world.start[coming.jobs], world.end[coming.jobs]
    with np.errstate(invalid="ignore"):
        took = np.where(end <= time, end - start, np.nan)
    for place in np.flatnonzero(np.isnan(took)):
        j = int(coming.jobs[place])
        elapsed = max(time - world.start[j], 0.0) if world.start[j] <= time else 0.0
        took[place] = float(learned.likely(j, elapsed).quantile(rng.random()))
    took = np.maximum(took, _SHORTEST)
    rows = world.workload.jobs[coming.jobs].drop("recorded_start", strict=False)
    first = 1 + max(int(one["id"].max() or 0) for one in (world.workload.jobs, found.table))  # type: ignore[arg-type]
    alone = {name: pl.lit(UNKNOWN[name]) for name in ("array", "array_task", "array_limit") if name in rows.columns}
    limits = {} if tells_requests(world.workload) else {"walltime": pl.Series(took)}
    return rows.with_columns(
        id=pl.int_range(first, first + len(rows), dtype=pl.Int64),
        submit=pl.Series(coming.submit),
        run_time=pl.Series(took),
        running_since=pl.lit(float("nan")),
        cancel=pl.lit(float("inf")),
        **alone,
        **limits,
    )
