"""A recorded period replayed under a policy, and scored."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import polars as pl

from forebay._fidelity import _moving, _reasons, _scores
from forebay._fidelity._doubts import doubts
from forebay._fidelity._eligible import recorded_waits, simulated_wait
from forebay._fidelity._found import Fidelity
from forebay._fidelity._use import use_of
from forebay._fidelity.fit import Run
from forebay._fidelity.fit import fit as search
from forebay._run.simulate import machine_of, simulate
from forebay._run.site_policy import site_policy
from forebay.errors import InputError, wrong_type
from forebay.metrics._table import counted as counted_jobs
from forebay.platforms import Platform
from forebay.platforms import load as load_platform
from forebay.results import Result
from forebay.workload import Workload, read
from forebay.workload.dates import Moment
from forebay.workload.operations import slice_time
from forebay.workload.periods import period as warm_period

USUAL = "fcfs-easy"
"""What is replayed under where no site says: the backfilling that most have."""
GROUPS = ("queue", "user", "account")
_WHO = ("user", "queue", "account")


def fidelity(
    workload: Workload | str | PathLike[str],
    platform: Any = None,
    policy: Any = None,
    period: tuple[Moment, Moment] | None = None,
    warm: bool = True,
    seed: int = 0,
    job_model: str | None = None,
    progress: Any = None,
    failures: Any = None,
) -> Fidelity:
    """Replay what a trace recorded under a policy, and tell how close the simulation comes.

    Parameters
    ----------
    workload
        A trace that tells when its jobs started: a Workload, or what `forebay.read` takes.
    platform
        The machine, as `forebay.simulate` takes it.
    policy
        The policy to replay it under. Without it, the one that the platform brings, else "fcfs-easy".
    period
        From when to when, in seconds or dates: ("2025-03-01", "2025-04-01"). Without it, all of the trace.
    warm
        Whether a period begins with the jobs that ran and waited then, or with an empty machine.
    seed
        Feeds the policy's randomness.
    job_model
        How jobs behave.
    progress
        Called now and then with the jobs that have ended and all of them; True shows a bar.
    failures
        How nodes fail.

    Returns
    -------
    Fidelity
        Scores in all and by groups of jobs, and in words what cannot match.

    Examples
    --------
    >>> columns = {"id": [1, 2], "submit": [0, 60], "walltime": [600, 600], "run_time": [300, 600], "nodes": [4, 2]}
    >>> jobs = fb.workload.job_table(columns | {"recorded_start": [0.0, 360.0]})
    >>> fb.fidelity(fb.Workload("mine", jobs), "flat:nodes=4")
    <Fidelity of fcfs-easy on 2 jobs: mean wait 2 min, recorded 2 min 30 s>
    """
    w = read(workload) if isinstance(workload, str | PathLike) else workload
    if not isinstance(w, Workload):
        raise wrong_type("the workload", workload, "a Workload, or what forebay.read takes")
    if period is not None:
        if not isinstance(period, tuple | list) or len(period) != 2:
            raise wrong_type("the period", period, 'its start and end: ("2025-03-01", "2025-04-01")')
        w = warm_period(w, *period) if warm else slice_time(w, *period)
    refuse_unrecorded(w)
    if policy is None:
        machine = machine_of(w) if platform is None else load_platform(platform)
        policy = USUAL if site_policy(machine, w.platform if platform is None else platform) is None else None

    def run(w: Workload, machine: Any) -> Result:
        return simulate(w, machine, policy, seed, job_model, progress, failures)

    def again() -> Fidelity:
        return fitted(w, machine_of(w) if platform is None else load_platform(platform), run, period is not None)

    return replace(scored(w, run(w, platform), period is not None), again=again)


def fitted(w: Workload, platform: Platform, run: Run, part: bool) -> Fidelity:
    """The run that comes closest to the record, with what it assumes; jobs that are taken as held are not scored."""
    found = search(w, platform, run, _pairs)
    return replace(scored(found.workload, found.result, part, found.held), fit=found)


def refuse_unrecorded(w: Workload) -> None:
    """A trace without recorded starts has nothing to be faithful to."""
    if "recorded_start" not in w.jobs.columns or w.jobs["recorded_start"].is_nan().all():
        raise InputError(
            f"{w.name} does not tell when its jobs started; give a trace that does: SWF with wait times, or sacct with "
            "the column Start"
        )


def scored(w: Workload, result: Result, part: bool, without: Sequence[int] = ()) -> Fidelity:
    """A run held against its workload's record; `part` says that the trace went on before and after."""
    jobs = _pairs(w, result).filter(~pl.col("job_id").is_in(list(without)))
    if jobs.is_empty():
        raise InputError(f"{w.name}: no job has both a recorded and a simulated start; there is nothing to score")
    first, last = float(w.jobs["submit"].min()), float(w.jobs["submit"].max())  # type: ignore[arg-type]
    use = use_of(w, result, (max(first, 0.0), last))
    by = {"size": _scores.by_size(jobs, result.resources[next(iter(result.resources))])}
    by |= {column: found for column in GROUPS if (found := _scores.by_column(jobs, column)) is not None}
    averages, window = _moving.moving(jobs)
    why = _reasons.agreement(w.jobs, jobs, result)
    numbers = _scores.numbers(jobs) | _moving.numbers(averages, window) | _reasons.numbers(why) | use.numbers()
    return Fidelity(numbers, by, jobs, use, averages, doubts(w, result, use, jobs, part), result, why)


def _pairs(w: Workload, result: Result) -> pl.DataFrame:
    """Jobs whose wait is known in both; those that ran already are in neither."""
    who = [name for name in (*_WHO, *(f"{name}_name" for name in _WHO)) if name in result.jobs.columns]
    simulated = counted_jobs(result).select(
        pl.col("job_id").cast(pl.Int64),
        *who,
        nodes=pl.col("requested_number_of_resources").cast(pl.Int64),
        simulated_start="starting_time",
        simulated_wait=simulated_wait(w, result.jobs.columns),
    )
    both = (
        recorded_waits(w)
        .filter(pl.col("recorded_wait").is_not_nan() & (pl.col("recorded_wait") >= 0))
        .join(simulated.collect(), on="job_id", how="inner", maintain_order="left")
    )
    return both.with_columns(error=pl.col("simulated_wait") - pl.col("recorded_wait"))
