"""What `forebay.predict` and `forebay.reliability` are given besides, checked."""

from dataclasses import replace
from typing import Any, NamedTuple, TypedDict

import numpy as np

from forebay._predict import _world
from forebay._predict._world import Site, World
from forebay._run.case import case_of, workload_of
from forebay._run.simulation import Simulation
from forebay.errors import InputError, brief, wrong_type
from forebay.workload import Workload
from forebay.workload.dates import Moment, seconds_of, span_text
from forebay.workload.operations import only


class How(TypedDict, total=False):
    """Options of both."""

    recorded: bool
    """Whether jobs started as the trace has it; else the policy is simulated from the trace's beginning."""
    futures: int
    """How many futures are played for a moment."""
    calibration: int
    """How many earlier predictions, at most, intervals are made by; 0 = as drawn."""
    estimator: Any
    """What run times are learned by: see `forebay.learn`."""
    seed: int
    """Feeds all draws."""
    job_model: str | None
    """How jobs behave."""
    progress: Any
    """Called with what is done and all there is; True shows a bar."""


class Manner(NamedTuple):
    """The same, with defaults."""

    recorded: bool = False
    futures: int = 0
    calibration: int = 60
    estimator: Any = "survival"
    seed: int = 0
    job_model: str | None = None
    progress: Any = None


def manner(how: dict[str, Any], futures: int) -> Manner:
    """Options as given, else as usual."""
    unknown = [name for name in how if name not in Manner._fields]
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; there are {', '.join(Manner._fields)}")
    found = Manner(**{"futures": futures, **how})
    count(found.futures, "futures", 2)
    count(found.calibration, "calibration", 0)
    return found


def count(given: Any, what: str, least: int) -> int:
    """A number of things."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise wrong_type(what, given, f"a whole number from {least} up")
    if given < least:
        raise InputError(f"{what} is {given}; give a whole number from {least} up")
    return given


def world_of(given: Any, platform: Any, policy: Any, how: Manner, until: Moment | None) -> World:
    """What became of jobs, up to a moment where one is given: then nothing of what was submitted later is looked at."""
    w = workload_of(given)
    _world.refuse(w)
    if until is not None:
        w = _up_to(w, seconds_of(w, until))
    case = case_of(w, platform, policy, how.seed, how.job_model, None)
    site = Site(case.platform, case.policy if policy is None else policy, how.job_model, how.seed)
    if how.recorded:
        return _world.recorded(case.workload, site)
    return _world.simulated(case.workload, site, False)


def _up_to(w: Workload, time: float) -> Workload:
    """A trace of which the rest has not been written yet."""
    first, last = float(w.jobs["submit"].min()), float(w.jobs["submit"].max())  # type: ignore[arg-type]
    if not time >= first:
        raise InputError(f"{w.name}: at {time:g} s no job has been submitted; {span_text(w)}")
    longest = float((w.jobs["submit"] + w.jobs["run_time"]).max()) + _LATEST  # type: ignore[arg-type]
    if time > max(last, longest):
        raise InputError(f"{w.name}: at {time:g} s the trace is over; {span_text(w)}")
    jobs = w.jobs.filter(w.jobs["submit"] <= time)
    return replace(only(w, jobs), jobs=jobs, epoch=w.epoch)  # in its own seconds, whenever the first job comes


_LATEST = 30 * 86400.0
"""Jobs may wait for long after the last was submitted; a month later nothing is left to predict."""


def stopped_of(given: Any) -> World | None:
    """A run that was opened and stands somewhere."""
    return _world.stopped(given) if isinstance(given, Simulation) else None


def asked_ids(world: World, time: float, jobs: Any, waiting: np.ndarray) -> list[int]:
    """Jobs asked for; all that wait if none is named."""
    if jobs is None:
        return [int(one) for one in waiting]
    given = [jobs] if isinstance(jobs, int | np.integer) and not isinstance(jobs, bool) else list(jobs)
    ids, name = world.workload.jobs["id"].to_numpy(), world.workload.name
    for one in given:
        found = np.flatnonzero(ids == one)
        if not len(found) or world.submit[found[0]] > time:
            raise InputError(f"{name}: no job {brief(one)} has been submitted at {time:g} s; {_waiting(waiting)}")
        if one not in waiting:
            raise InputError(f"{name}: job {one} {_why_not(world, int(found[0]), time)}; {_waiting(waiting)}")
    return [int(one) for one in given]


def _why_not(world: World, row: int, time: float) -> str:
    if world.end[row] <= time:
        return f"ended at {world.end[row]:g} s, before {time:g} s"
    if world.start[row] <= time:
        return f"runs already at {time:g} s, since {world.start[row]:g} s"
    return "was rejected or withdrawn"


def _waiting(waiting: np.ndarray) -> str:
    if not len(waiting):
        return "no job waits then"
    shown = ", ".join(str(one) for one in waiting[:8])
    return f"{len(waiting):,} wait then: {shown}{', ...' if len(waiting) > 8 else ''}"
