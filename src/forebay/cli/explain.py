"""`forebay explain`: why jobs of a run waited."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, is_quiet, show, table

if TYPE_CHECKING:
    import polars as pl

    from forebay.results import Result

EXAMPLES = options.examples(
    "forebay explain out 17",
    "forebay explain out --worst 5",
    "forebay explain forebay-results/fcfs-easy 17 18 --format json",
)

_WORST = 10
_PIECES = 12
"""Rows that a person reads of one job. JSON has all."""


def command(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="A folder that `forebay run -o` wrote, or that of a policy of `compare`."),
    ],
    jobs: Annotated[
        list[int] | None, typer.Argument(metavar="JOB", help="Numbers of jobs. Without any, those that waited longest.")
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(
            "--worst",
            metavar="N",
            min=1,
            help="A table of the longest waits of N different causes, with how many other jobs wait for the same. "
            "Default: 10.",
            show_default=False,
        ),
    ] = None,
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Say why jobs of a run waited, and who was in the way.

    Each wait is split into pieces of time with one reason each, which add up to it. Reasons come with the word that
    Slurm's squeue would show.
    """
    from forebay.results._whole import reading

    with reading(run):
        _explain(run, jobs or [], worst, form)


def _explain(run: Path, jobs: list[int], worst: int | None, form: Format) -> None:
    from forebay import explain
    from forebay.cli._render import explanation, worst_waits
    from forebay.explain._chain import check_job
    from forebay.results import load

    result = load(run)
    for job in jobs:
        check_job(result, job)
    explained = explanation.Explained(result, _reasons(result))
    wanted = list(dict.fromkeys(jobs))
    longest = worst_waits.causes(explained, worst or _WORST) if worst or not wanted else []
    if form is Format.json:
        found = {job: explanation.document(explained, job) for job in [*wanted, *(cause.job for cause in longest)]}
        answer(
            {
                "run": str(run),
                "policy": result.facts.get("policy"),
                **({"epoch": result.facts["epoch"]} if "epoch" in result.facts else {}),
                "jobs": [found[job] for job in wanted],
                **({"worst": [found[cause.job] | {"alike": cause.alike} for cause in longest]} if longest else {}),
                "reasons": explain.REASONS,
            }
        )
        return
    blocks: list[Any] = []
    for job in wanted:
        blocks += explanation.page(explained, job, _PIECES)
    if longest:
        rows = [explanation.line(explained, cause.job, len(cause.alike)) for cause in longest]
        columns = ["job", "wait", "alike", "mostly", "share", "Slurm's word", "because"]
        blocks.append(table(columns, rows, numbers=(0, 1, 2, 4)))
    elif not wanted:
        blocks.append(f"none of the {counted(result.jobs.height, 'job')} waited")
    show(*blocks)


def _reasons(result: "Result") -> "pl.DataFrame":
    from forebay import explain
    from forebay._run import compilation

    compilation.prepare_parts([compilation.WAITING], is_quiet())
    return explain.reasons(result)
