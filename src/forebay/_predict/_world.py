"""What became of the jobs of a trace, recorded or simulated, and what of it is known and learned at a moment."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from forebay._predict._closed import Closed
from forebay._run.simulate import simulate
from forebay._run.simulation import Simulation
from forebay.errors import InputError
from forebay.learn import Asked, Estimator, Likely, asked_of, load
from forebay.platforms.platform import Platform
from forebay.results import Result
from forebay.workload import Workload

SOURCE = "the trace has no recorded starts; leave recorded out, and a policy is simulated"


class Site(NamedTuple):
    """A machine, who decides there, and what feeds its randomness."""

    platform: Platform
    policy: Any
    job_model: str | None = None
    seed: int = 0
    closed: Closed = Closed()


@dataclass(frozen=True)
class World:
    """Jobs in order of submission, with the times of what happened to them; NaN is never, or not known."""

    workload: Workload
    site: Site
    asked: list[Asked]
    submit: np.ndarray
    start: np.ndarray
    end: np.ndarray
    left: np.ndarray  # of jobs that never started: when they were rejected or withdrawn
    begin: np.ndarray | None = None  # before which a job may not start; inf of one that is held; None = any
    taken: bool = False  # whether what the submission of the last instant led to has not been decided yet

    def __len__(self) -> int:
        return len(self.submit)

    def at(self, time: float) -> "Known":
        """What is known at a time, after all that was decided in this instant."""
        n = int(np.searchsorted(self.submit, time, "right"))
        start, end, left = self.start[:n], self.end[:n], self.left[:n]
        with np.errstate(invalid="ignore"):
            started, ended = start <= time, end <= time
            gone = left <= time
        if self.begin is not None:
            gone |= np.isinf(self.begin[:n])
        return Known(
            running=np.flatnonzero(started & ~ended),
            waiting=np.flatnonzero(~started & ~gone),
            come=n,
        )

    def site_at(self, time: float) -> Site:
        """The machine as it is at a time, from which seconds are counted."""
        first = float(self.submit[0]) if len(self) else 0.0
        return self.site._replace(platform=self.site.closed.machine(self.site.platform, time, first))


class Known(NamedTuple):
    """Rows of a World's jobs, as they stand at a moment."""

    running: np.ndarray
    waiting: np.ndarray
    come: int  # how many jobs have been submitted


def refuse(w: Workload) -> None:
    """What cannot be played from its middle."""
    if w.legs is not None or w.applications is not None:
        what = "legs" if w.legs is not None else "sizes and tasks of their own"
        raise InputError(f"{w.name}: its jobs have {what}; futures are for jobs of one size in one leg")
    if not len(w):
        raise InputError(f"{w.name} has no job: there is nothing to predict from")


def simulated(w: Workload, site: Site, progress: Any = False) -> World:
    """What a policy does with a trace."""
    result = simulate(w, site.platform, site.policy, site.seed, site.job_model, progress)
    return of_result(w, site, result)


def of_result(w: Workload, site: Site, result: Result) -> World:
    """The same of a run that there is."""
    found = w.jobs.select(job_id="id").join(
        result.jobs.select(pl.col("job_id").cast(pl.Int64), "starting_time", "finish_time", "final_state"),
        on="job_id",
        how="left",
        maintain_order="left",
    )
    submit = w.jobs["submit"].to_numpy()
    start = found["starting_time"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    end = found["finish_time"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    rejected = (found["final_state"] == "REJECTED").to_numpy()
    start = np.where(rejected, np.nan, start)
    withdrawn = submit + w.jobs["cancel"].to_numpy()
    never = np.isnan(start)
    left = np.where(rejected, submit, np.where(never & np.isfinite(withdrawn), withdrawn, np.nan))
    return World(w, site, asked_of(w), submit, start, np.where(never, np.nan, end), left)


def recorded(w: Workload, site: Site) -> World:
    """What the trace has."""
    if "recorded_start" not in w.jobs.columns or w.jobs["recorded_start"].is_nan().all():
        raise InputError(f"{w.name}: {SOURCE}")
    submit, start = w.jobs["submit"].to_numpy(), w.jobs["recorded_start"].to_numpy()
    withdrawn = submit + w.jobs["cancel"].to_numpy()
    left = np.where(np.isnan(start), np.where(np.isfinite(withdrawn), withdrawn, submit), np.nan)
    return World(w, site, asked_of(w), submit, start, start + w.jobs["run_time"].to_numpy(), left)


def stopped(run: Simulation) -> World:
    """A run that stands at a decision: what has happened in it so far."""
    case, jobs = run._case, run._open.state.jobs
    w = case.workload
    refuse(w)
    now = run.now
    start = np.where(jobs["start"] <= now, jobs["start"], np.nan)
    end = np.where(~np.isnan(start) & (jobs["finish"] <= now), jobs["finish"], np.nan)
    submit = w.jobs["submit"].to_numpy()
    withdrawn = submit + w.jobs["cancel"].to_numpy()
    left = np.where(np.isnan(start) & (withdrawn <= now), withdrawn, np.nan)
    site = Site(case.platform, case.scheduler, case.job_model, case.seed)
    return World(w, site, asked_of(w), submit, start, end, left)


class Learned:
    """An estimator that has seen what ended up to a time, and goes on to later ones."""

    def __init__(self, world: World, estimator: Any) -> None:
        self.world = world
        self.estimator: Estimator = load(estimator)
        ends = np.where(np.isnan(world.end) | np.isnan(world.start), np.inf, world.end)
        self._order = np.argsort(ends, kind="stable")
        self._ends = ends[self._order]
        self._seen = 0

    def to(self, time: float) -> "Learned":
        """Learn from what has ended by then."""
        until = int(np.searchsorted(self._ends, time, "right"))
        world = self.world
        for j in self._order[self._seen : until]:
            self.estimator.learn(world.asked[j], float(world.end[j] - world.start[j]))
        self._seen = max(until, self._seen)
        return self

    def likely(self, job: int, elapsed: float = 0.0) -> Likely:
        """How long a job of the world takes in all, where it has run for `elapsed` seconds already."""
        asked = self.world.asked[job]
        found = self.estimator.likely(asked)
        return found.beyond(elapsed, asked.walltime) if elapsed > 0 else found
