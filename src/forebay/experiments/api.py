"""`forebay.sweep` and `forebay.compare`: many runs from Python, and one answer."""

import os
import shutil
import tempfile
import weakref
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from forebay._support.files import as_path
from forebay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from forebay.experiments.comparison.answer import Comparison
    from forebay.experiments.runs import Run


def sweep(
    spec: str | os.PathLike[str] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    slurm: str | None = None,
    fresh: bool = False,
    **keys: Any,
) -> "pl.DataFrame":
    """Run every combination of workloads, platforms, policies and seeds, each once.

    Parameters
    ----------
    spec
        The TOML file of a sweep. Without it, its keys are keyword arguments.
    output
        A folder that keeps finished runs: the same call goes on from there. Without it, nothing is kept.
    jobs
        How many runs at a time. Default: one a core.
    dask
        The address of a Dask scheduler, whose workers carry out the runs.
    slurm
        What Dask workers to ask Slurm for: "queue=normal,cores=4,memory=8GB,walltime=1h,jobs=10".
    fresh
        Whether to forget the runs that the folder holds.
    keys
        What the file would say: workloads, generators, platforms, policies, job_models, failures, models, seeds,
        window, reference, parameters.

    Returns
    -------
    polars.DataFrame
        A row a run: what was run, its seed and parameters, and every number of its summary.

    Raises
    ------
    RunsFailedError
        Where runs have failed, after all others have ended; these are kept in the folder.

    Examples
    --------
    >>> table = fb.sweep(workloads=["table1"], policies=["fcfs", "fcfs-bb"], jobs=1)
    >>> table["policy", "mean_wait"].rows()
    [('fcfs', 480.0), ('fcfs-bb', 142.5)]
    """
    from forebay.experiments import tidy
    from forebay.experiments.execution.cluster import executing
    from forebay.experiments.store import Store
    from forebay.experiments.sweep import carry_out as carry_out_runs
    from forebay.experiments.sweep import records, warm_up

    runs = _runs(spec, keys)
    place = tempfile.TemporaryDirectory(prefix="forebay-") if output is None else nullcontext(os.fspath(output))
    with place as folder:
        store = Store(as_path(folder, "the output folder"), fresh)
        warm_up(dict.fromkeys(run.policy for run in runs if run not in store))
        with executing(runs, jobs, dask, slurm) as executor:
            carry_out_runs(runs, store, executor)
        return tidy.frame(records(runs, store))


def _runs(spec: str | os.PathLike[str] | None, keys: dict[str, Any]) -> "list[Run]":
    from forebay.experiments import grid

    if spec is None:
        return grid.runs_of(keys)
    if keys:
        raise InputError(f"{spec} says what to run; leave out {', '.join(keys)}, or the file")
    return grid.read(as_path(spec, "the sweep"))


def compare(
    workload: Any = "default",
    policies: Any = None,
    platform: Any = None,
    *,
    reference: Any = None,
    replicas: int | None = None,
    seed: int = 0,
    job_model: str | None = None,
    failures: Any = None,
    slice: "tuple[Any, Any] | None" = None,
    warm: bool = False,
    window: "tuple[Any, Any] | None" = None,
    bounds: bool = True,
    jobs: int | None = None,
    output: str | os.PathLike[str] | None = None,
    figures: bool = False,
    page: bool = False,
    progress: bool = False,
) -> "Comparison":
    """Run a workload on a machine under several policies: which is best, and is that sure?

    Parameters
    ----------
    workload, platform, job_model, seed, failures
        As `forebay.simulate` takes them.
    policies
        Specs ("fcfs-bb:depth=3", "mine.py:Mine"), objects or classes of your own, one or several; or a mapping, whose
        keys are what tables call them. Without them, those that `forebay compare` compares by default. Objects run in
        this process, one after the other; specs on all cores.
    reference
        The policy that others are held against: one of these, by its name, or one more. Without it, the policy that
        the platform brings, else "fcfs-bb" where jobs ask for more than nodes, else "fcfs-easy", else the first.
    replicas
        Run each policy on so many shaken copies of the trace: surer verdicts. Without it, up to 10, as time allows.
    slice, warm
        Keep the jobs of a period alone (start, end), in seconds or dates; `warm` begins with what ran and waited then.
    window
        Jobs submitted in this period (start, end) count in all numbers.
    bounds
        Whether to work out what no policy can have less of.
    jobs
        How many runs at a time. Default: one a core.
    output
        A folder for all files, as `forebay compare -o` writes them; what it has is used again. Without it, a temporary
        one, which goes with the answer.
    figures, page
        Whether to draw figures into the folder, and to write report.html.
    progress
        Whether to show a bar on a terminal.

    Returns
    -------
    Comparison
        Tables, verdicts, runs; it plots itself, and writes pages, LaTeX and Markdown.

    Raises
    ------
    ForebayError
        Where an input cannot be used. Policies that fail are in `.failed`, unless all do.

    Examples
    --------
    >>> found = fb.compare("table1", ["fcfs-easy", "fcfs-bb", "filler"], replicas=0)
    >>> found
    <Comparison of 3 policies on table1, best fcfs-bb, against fcfs-bb>
    >>> found.table["policy", "mean_wait"].rows()
    [('fcfs-bb', 142.5), ('filler', 142.5), ('fcfs-easy', 345.0)]
    >>> found.runs["fcfs-easy"].jobs["waiting_time"].max()
    660.0
    """
    from forebay._support.progress import Bars
    from forebay.experiments.comparison import compare as carry_out_comparison
    from forebay.experiments.comparison.answer import Comparison
    from forebay.experiments.comparison.selection import plan_of
    from forebay.experiments.inputs import setting_of

    setting = setting_of(workload, platform, job_model, seed, failures, part=slice, warm=warm, window=window)
    plan = plan_of(setting, policies, reference, replicas, bounds)
    folder = as_path(tempfile.mkdtemp(prefix="forebay-") if output is None else output, "the output folder")
    reporter = Bars() if progress else None
    try:
        found = Comparison(
            carry_out_comparison(plan, folder, processes=jobs, figures=figures, page=page, reporter=reporter)
        )
    except BaseException:
        if output is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if output is None:
        weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found
