"""The runs of a sweep or a study: on all cores or on a cluster, with a bar; what is finished stays, however it ends."""

from typing import TYPE_CHECKING, Annotated

import typer

from forebay._support.text import counted
from forebay.cli._render.printing import is_quiet, message

if TYPE_CHECKING:
    from forebay.experiments.runs import Run
    from forebay.experiments.store import Store


def _checked(keys: str | None) -> str | None:
    """Refuse keys that make no sense before anything is made."""
    if keys:
        from forebay.experiments.execution.cluster import slurm_options

        slurm_options(keys)
    return keys


DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask", metavar="ADDRESS", help="Use the workers of this Dask scheduler: tcp://host:8786.", show_default=False
    ),
]
SlurmOption = Annotated[
    str | None,
    typer.Option(
        "--slurm",
        metavar="KEYS",
        help="Ask Slurm for workers: queue=normal,cores=4,memory=8GB,walltime=1h,jobs=10.",
        callback=_checked,
        show_default=False,
    ),
]


def carry_out(runs: "list[Run]", store: "Store", jobs: int | None, dask: str | None, slurm: str | None) -> None:
    """All runs that are still missing; one error afterwards reports those that failed."""
    from forebay._run import compilation
    from forebay.cli._render.progress import progress
    from forebay.experiments import sweep
    from forebay.experiments.common import uses_of_runs
    from forebay.experiments.execution.cluster import executing
    from forebay.policies import load

    left = sweep.missing(runs, store)
    if not left:
        return
    with executing(left, jobs, dask, slurm) as executor:
        specs = list(dict.fromkeys(run.policy for run in left))
        policies = [load(spec) for spec in specs]
        compilation.prepare(policies, is_quiet(), uses_of_runs(policies, left))
        sweep.warm_up(specs)
        try:
            with progress(len({run.key for run in runs}), "runs") as watch:
                failing: list[str] = []

                def advance(run: "Run", ended: int, total: int, failed: bool) -> None:
                    if failed:
                        failing.append(run.name)
                        watch.line(f"failed: {run.name}")
                    watch.at(f"{run.name}{f' ({len(failing):,} failed)' if failing else ''}", ended)

                sweep.carry_out(runs, store, executor, advance)
        except (KeyboardInterrupt, SystemExit):
            kept = sum(run in store for run in runs)
            text = f"{kept:,} of {counted(len(runs), 'run')} kept in {store.folder}"
            message(f"{text}: the same command goes on from there")
            raise
