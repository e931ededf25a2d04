"""`forebay.sweep`: a grid of runs from Python, and one table of them."""

import os
import tempfile
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from forebay._support.files import as_path
from forebay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

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
