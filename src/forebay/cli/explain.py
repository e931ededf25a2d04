"""`forebay explain`: why jobs of a run waited."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import options
from forebay.cli._input.options import TableFormat
from forebay.cli._render.printing import answer, is_quiet, papers, show, table

EXAMPLES = options.examples(
    "forebay explain out 17",
    "forebay explain out --worst 5",
    "forebay explain forebay-results/fcfs-easy 17 18 --format json",
)

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
    form: options.TableFormatOption = TableFormat.text,
    quiet: options.QuietOption = False,
) -> None:
    """Say why jobs of a run waited, and who was in the way.

    Each wait is split into pieces of time with one reason each, which add up to it. Reasons come with the word that
    Slurm's squeue would show.
    """
    from forebay.results._whole import reading

    with reading(run):
        _explain(run, jobs or [], worst, form)


def _explain(run: Path, jobs: list[int], worst: int | None, form: TableFormat) -> None:
    from forebay._run import compilation
    from forebay.cli._render import explanation
    from forebay.explain.answer import explain
    from forebay.results import load

    result = load(run)
    compilation.prepare_parts([compilation.WAITING], is_quiet())
    found = explain(result, *jobs, worst=worst)
    if form is TableFormat.json:
        answer({"run": str(run), **found.document()})
        return
    if form is not TableFormat.text:
        papers(form, [found.for_papers()])
        return
    blocks: list[Any] = []
    for job in found.jobs:
        blocks += explanation.page(found.run, job, _PIECES)
    if found.worst:
        rows = [explanation.line(found.run, cause.job, len(cause.alike)) for cause in found.worst]
        columns = ["job", "wait", "alike", "mostly", "share", "Slurm's word", "because"]
        blocks.append(table(columns, rows, numbers=(0, 1, 2, 4)))
    elif not found.jobs:
        blocks.append(f"none of the {counted(result.jobs.height, 'job')} waited")
    show(*blocks)
