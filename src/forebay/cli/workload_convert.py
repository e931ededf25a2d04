"""`forebay workload convert`: from one format to another, changed on the way if asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import _options as options
from forebay.cli._options import Format
from forebay.cli._print import answer, notes_block, pairs, show
from forebay.cli.workload_generate import Model, Seed

if TYPE_CHECKING:
    from forebay.workload import Workload

EXAMPLES = options.examples(
    "forebay workload convert trace.swf.gz trace.json",
    "forebay workload convert trace.swf week.swf --slice 7d:14d",
    "forebay workload convert trace.swf small.swf --filter 'nodes<=64' --first 1000",
    "forebay workload convert trace.swf full.json --model burst-buffer --model io-phases:speed=1e9 --seed 1",
)


Join = Annotated[
    list[str] | None,
    typer.Option("--join", metavar="FILE", help="Merge this workload in, by date.", show_default=False),
]
Sidecar = Annotated[
    list[Path] | None,
    typer.Option(
        "--sidecar", metavar="FILE", help="Attach this CSV or Parquet table, keyed by job number.", show_default=False
    ),
]
Slice = Annotated[
    str | None,
    typer.Option("--slice", metavar="START:END", help="Keep jobs submitted in this time: 7d:14d.", show_default=False),
]
Filter = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="CONDITION", help="Keep jobs such as 'nodes<=64'.", show_default=False),
]
First = Annotated[int | None, typer.Option("--first", metavar="N", help="Keep the first N jobs.", show_default=False)]
Load = Annotated[
    float | None,
    typer.Option("--scale-load", metavar="F", help="Let jobs arrive F times as fast.", show_default=False),
]
Perfect = Annotated[
    bool, typer.Option("--perfect-estimates", help="Let every user ask for just the time the job takes.")
]


def command(
    source: Annotated[str, typer.Argument(metavar="IN", help="A workload file, or the name of an embedded one.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its ending tells the format.")],
    sidecars: Sidecar = None,
    joined: Join = None,
    period: Slice = None,
    conditions: Filter = None,
    first: First = None,
    load: Load = None,
    perfect: Perfect = False,
    attached: Model = None,
    seed: Seed = 0,
    form: options.FormatOption = Format.text,
) -> None:
    """Write a workload in another format, or changed.

    Changes are made in the order of the options below; --sidecar, --join, --filter and --model may be given several
    times.
    """
    from forebay import workload
    from forebay.workload import models

    slice_of = options.parse_period(period, "--slice")
    jobs = _changed(
        _with_tables(workload.read(source), sidecars or []),
        joined or [],
        slice_of,
        conditions or [],
        first,
        load,
        perfect,
    )
    jobs = models.attach(jobs, attached or [], seed)
    notes = [*jobs.notes, *workload.write(jobs, target)]
    if form is Format.json:
        document = {"file": str(target), "jobs": len(jobs), "records": jobs.records, "dropped": jobs.dropped}
        answer(document | {"provenance": list(jobs.provenance), "notes": notes})
        return
    rows = [("wrote", f"{target}, {len(jobs):,} jobs"), *(("from", line) for line in jobs.provenance)]
    dropped = [("left out", f"{count:,} records: {why}") for why, count in jobs.dropped.items()]
    show(pairs([*rows, *dropped]), *notes_block(notes))


def _with_tables(jobs: "Workload", sidecars: list[Path]) -> "Workload":
    from forebay.workload import _sidecar, operations

    for path in sidecars:
        jobs = operations.attach_table(jobs, _sidecar.load(path), path.name)
    return jobs


def _changed(
    jobs: "Workload",
    joined: list[str],
    period: tuple[float, float] | None,
    conditions: list[str],
    first: int | None,
    load: float | None,
    perfect: bool,
) -> "Workload":
    from forebay import workload
    from forebay.workload import operations

    if joined:
        jobs = operations.join([jobs, *(workload.read(one) for one in joined)])
    if period is not None:
        jobs = operations.slice_time(jobs, *period)
    for text in conditions:
        jobs = operations.filter_jobs(jobs, operations.parse_condition(text, jobs.jobs.columns), text)
    if first is not None:
        jobs = operations.first(jobs, first)
    if load is not None:
        jobs = operations.scale_load(jobs, load)
    return operations.perfect_estimates(jobs) if perfect else jobs
