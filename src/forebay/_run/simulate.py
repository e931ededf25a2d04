"""The front door: a workload, a platform and a policy in; a Result out."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from forebay._run.case import case_of, machine_of, versions
from forebay._run.handing import handed_to
from forebay._run.phases import warn_of_many
from forebay._support.progress import following
from forebay.core.failures import Failures
from forebay.engine.driver.batch import run
from forebay.engine.driver.stepper import Progress
from forebay.platforms.platform import Platform
from forebay.results import Result
from forebay.workload import Workload

__all__ = ["machine_of", "simulate", "versions"]


def simulate(
    workload: Workload | str | PathLike[str],
    platform: str | PathLike[str] | Platform | None = None,
    policy: Any = None,
    seed: int = 0,
    job_model: str | None = None,
    progress: Progress | bool | None = None,
    failures: str | PathLike[str] | Mapping[str, Any] | Failures | None = None,
) -> Result:
    """Run a workload on a machine under a policy.

    Parameters
    ----------
    workload
        A Workload, or what `forebay.read` takes: a file, or the name of an embedded workload.
    platform
        The machine: a spec as on the command line ("flat:nodes=100,burst_buffer=10TB"), a TOML file or a Platform.
        Without it, the machine that the workload names.
    policy
        A spec ("fcfs-bb:depth=3", "mine.py:Mine"), or an object or class of your own with `decide(view, act)`.
        Without it, the policy that the platform brings, else "fcfs-bb".
    seed
        Feeds the policy's randomness, and failures that have no seed of their own.
    job_model
        How jobs behave, such as "alloc-only". Without it, "io-aware" where the workload has data to move and the
        machine can move it.
    progress
        True shows a bar in a terminal or notebook (there it needs ipywidgets). A function is called at times with the
        number of jobs that have ended, and of all jobs. Without it, a run that will take minutes gives a
        `LongRunWarning` with an estimate; one whose jobs go through too many phases for a minute, before it begins.
        False says nothing.
    failures
        How nodes fail, and what jobs do about it: a spec ("mtbf=1h,downtime=1h,checkpoint=300s"), a trace of outages
        (a CSV file, or Batsim's events), a table of such values, or `forebay.platforms.Failures`. Without it, as the
        platform says; "mtbf=inf" means none at all.

    Returns
    -------
    Result
        What became of each job, and a log of every change.

    Raises
    ------
    ForebayError
        Where an input cannot be used, the policy breaks a rule, or this process was forked after forebay was used: make
        processes with `multiprocessing.get_context("spawn")`.

    Examples
    --------
    >>> fb.simulate("table1", policy="fcfs-easy")
    <Result of fcfs-easy: 8 jobs on 4 nodes, mean wait 5.75 min>

    A policy of your own, which starts jobs in order:

    >>> class InOrder:
    ...     def decide(self, view, act):
    ...         for job in view.queue:
    ...             if not act.fits(job):
    ...                 return
    ...             act.start(job)
    >>> fb.simulate("table1", policy=InOrder())
    <Result of InOrder: 8 jobs on 4 nodes, mean wait 8 min>
    """
    case = case_of(workload, platform, policy, seed, job_model, failures)
    if progress is not False:
        warn_of_many(case.workload, case.program)
    state, truth, notes, draw, rng = case.tables()
    handed = handed_to(case)
    with following(progress, case.policy, len(case.workload)) as call:
        record = run(state, truth, case.scheduler, case.platform.resources, rng, call, notes, draw, handed=handed)
    end = case.end(state, truth, notes)
    del state, truth, draw  # of a million jobs, most of a gigabyte
    return case.result(end, record)
