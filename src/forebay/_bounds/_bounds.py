"""Bounds of a workload on a machine."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal

import polars as pl

from forebay import _plugins
from forebay._bounds import _exact
from forebay._bounds._alone import alone
from forebay._bounds._answer import Bounds
from forebay._bounds._area import area
from forebay._bounds._busy import busy
from forebay._bounds._found import Found
from forebay._bounds._jobs import Jobs, jobs_of
from forebay._bounds._lp import linear
from forebay._bounds._objective import METRICS, SLOWDOWNS, metric_named, of_starts
from forebay._bounds._prices import STEPS, prices
from forebay._bounds._srpt import srpt
from forebay._run.simulate import machine_of
from forebay.core.failures import Failures
from forebay.engine.build.defaults import settle
from forebay.engine.build.feasibility import sized
from forebay.engine.build.tables import default_model, make_program
from forebay.errors import InputError, wrong_type
from forebay.platforms import load as load_platform
from forebay.platforms.platform import Platform
from forebay.workload import Workload, read

SCHEMA = {
    "metric": pl.String,
    "bound": pl.String,
    "value": pl.Float64,
    "resource": pl.String,
    "proved": pl.String,
    "best_found": pl.Float64,
}


def bounds(
    workload: Workload | str | PathLike[str],
    platform: str | PathLike[str] | Platform | None = None,
    metric: str | Sequence[str] | None = None,
    lp: bool = False,
    exact: bool | Literal["force"] = False,
    window: int = _exact.MOST,
    time_limit: float = 60.0,
    job_model: str | None = None,
    period: tuple[float, float] | None = None,
    steps: int = STEPS,
) -> Bounds:
    """Tell what no policy can do better than, whatever it knows.

    Parameters
    ----------
    workload
        A Workload, or what `forebay.read` takes: a file, or the name of an embedded workload.
    platform
        The machine, as `forebay.simulate` takes it.
    metric
        One or several of those that a bound is known for, by their names in summaries; all of them by default.
    lp
        Solve linear programs, too: tighter, and some seconds.
    exact
        Find the optimum of windows of jobs, too. Needs OR-Tools: pip install "forebay[ortools]".
    window
        Jobs of a window of the exact search; 40 at most, unless `exact` is "force": that may take for ever.
    time_limit
        Seconds that solvers may take for each metric; what is proved by then counts.
    job_model
        How jobs behave. Where they move data, bounds take each transfer to have every link to itself.
    period
        Count only jobs submitted from, and before, these seconds, as summaries of a window do.
    steps
        In which prices are improved; fewer are quicker, and give a little less.

    Returns
    -------
    Bounds
        A table, and how far runs are above it; it plots itself, and writes a page, LaTeX and Markdown.

    Examples
    --------
    >>> least = fb.bounds("table1", metric="mean_wait")
    >>> least.best["mean_wait"]["resource"]
    'nodes + burst_buffer'
    """
    asked = _metrics(metric)
    _check_limits(window, time_limit, bool(exact), exact == "force")
    jobs, machine, model = _read(workload, platform, job_model)
    program = make_program(jobs, machine, model)
    by_start = {first: jobs_of(jobs, machine, program, period, first) for first in (True, False)}
    some = by_start[True]
    if not len(some):
        raise InputError(f"{jobs.name}: no job of it runs for sure on {machine.name}; a bound needs one at least")
    found: list[Found] = []
    for name in asked:
        if name in SLOWDOWNS and metric is None and not some.exact:
            continue
        found += _all(by_start[of_starts(name)], name, steps, lp, bool(exact), window, time_limit)
    table = pl.DataFrame([tuple(one) for one in found], schema=SCHEMA, orient="row")
    return Bounds(table, jobs.name, str(machine), model, len(some), some.uncertain, some.relaxed)


def _all(jobs: Jobs, metric: str, steps: int, lp: bool, search: bool, window: int, limit: float) -> list[Found]:
    """Every bound of one metric that was asked for; squashed ones by the resource that gives most."""
    found = [alone(jobs, metric)]
    for some in (area(jobs, metric), srpt(jobs, metric), busy(jobs, metric), prices(jobs, metric, steps)):
        found += [max(some, key=lambda one: one.value)] if some else []
    if lp:
        some = linear(jobs, metric, limit)
        found += [max(some, key=lambda one: one.value)] if some else []
    return found + (_exact.exact(jobs, metric, window, limit) if search else [])


def _metrics(given: str | Sequence[str] | None) -> list[str]:
    if given is None:
        return list(METRICS)
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise wrong_type("the metric", given, 'a name such as "mean_wait", or several')
    return list(dict.fromkeys(metric_named(name) for name in names))


def _check_limits(window: int, limit: float, search: bool, force: bool) -> None:
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise InputError(f"the window is {window!r} jobs; give a whole number from 1 to {_exact.MOST}")
    if search and window > _exact.MOST and not force:
        raise InputError(
            f"windows of {window:,} jobs may take for ever to solve; give {_exact.MOST} at most, or --force (in Python "
            'exact="force")'
        )
    if not limit > 0:  # a NaN, too
        raise InputError(f"the time limit is {limit} s; give seconds above 0")
    if search:
        _exact.check()


def _read(workload: Any, platform: Any, job_model: str | None) -> tuple[Workload, Platform, str]:
    """Jobs and machine as a run has them."""
    jobs = read(workload) if isinstance(workload, str | PathLike) else workload
    if not isinstance(jobs, Workload):
        raise wrong_type("the workload", workload, "a Workload, or what forebay.read takes")
    if not len(jobs):
        raise InputError(f"{jobs.name}: no jobs; a bound needs one at least")
    machine = machine_of(jobs) if platform is None else load_platform(platform)
    _refuse_failures(machine.failures, machine)
    jobs = settle(jobs, machine)
    machine = sized(jobs, machine)
    model = _plugins.spelled("engine.jobmodels", job_model) if job_model else default_model(jobs, machine)
    return jobs, machine, model


def _refuse_failures(failures: Failures | None, machine: Platform) -> None:
    if failures is not None and (failures.draws or failures.outages or failures.writes):
        raise InputError(
            f"nodes of {machine.name} may fail, and jobs then start again, while bounds are for jobs that run in one "
            "piece; leave the failures out"
        )
