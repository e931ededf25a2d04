"""`forebay workload convert`: from one format to another, changed on the way if asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._input.reading import read
from forebay.cli._input.site import SlurmConf, plain_stem, tell, write_site
from forebay.cli._render.printing import answer, notes_block, pairs, show
from forebay.cli.workload.generate import Model
from forebay.errors import InputError

if TYPE_CHECKING:
    from forebay.workload import Workload

EXAMPLES = options.examples(
    "forebay workload convert trace.swf.gz trace.json",
    "forebay workload convert trace.swf week.swf --slice 7d:14d",
    "forebay workload convert jobs.sacct march.parquet.zip --slice 2025-03-01:2025-04-01 --filter queue==gpu",
    "forebay workload convert trace.swf small.swf --filter 'nodes<=64' --first 1000",
    "forebay workload convert trace.swf full.json --model burst-buffer --model io-phases:speed=1e9 --seed 1",
    "forebay workload convert jobs.sacct shared.parquet.zip --keep-cancelled --clean --anonymise",
    "forebay workload convert jobs.sacct march.parquet.zip --slurm-conf slurm.conf",
    "forebay workload convert cluster_log.csv venus.parquet.zip --columns helios",
)

Keep = Annotated[
    bool, typer.Option("--keep-cancelled", help="Keep jobs that were cancelled before they started (SWF, sacct).")
]
SaveColumns = Annotated[
    Path | None,
    typer.Option(
        "--save-columns", metavar="FILE", help="Write the mapping of --columns to this TOML file.", show_default=False
    ),
]
Join = Annotated[
    list[str] | None,
    typer.Option(
        "--join",
        metavar="FILE",
        help="Merge this workload in, by date.",
        show_default=False,
        autocompletion=completion.workload,
    ),
]
Sidecar = Annotated[
    list[Path] | None,
    typer.Option(
        "--sidecar", metavar="FILE", help="Attach this CSV or Parquet table, keyed by job number.", show_default=False
    ),
]
Clean = Annotated[
    bool, typer.Option("--clean", help="Remove jobs that cannot run, and flurries of one user; say what was removed.")
]
Slice = Annotated[
    str | None,
    typer.Option(
        "--slice",
        metavar="START:END",
        help="Keep jobs submitted in this time: 7d:14d, or 2025-03-01:2025-04-01.",
        show_default=False,
    ),
]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", metavar="CONDITION", help="Keep jobs such as 'nodes<=64' or 'queue==gpu'.", show_default=False
    ),
]
First = Annotated[int | None, typer.Option("--first", metavar="N", help="Keep the first N jobs.", show_default=False)]
Load = Annotated[
    float | None,
    typer.Option("--scale-load", metavar="F", help="Let jobs arrive F times as fast.", show_default=False),
]
Perfect = Annotated[
    bool, typer.Option("--perfect-estimates", help="Let every user ask for just the time the job takes.")
]
Anonymise = Annotated[
    bool,
    typer.Option("--anonymise", help="Take away whose jobs they were, when and where, so that they can be shared."),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Feeds the models, and the numbers that --anonymise gives.")
]


def command(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="IN",
            help="A workload file, or the name of an embedded one.",
            autocompletion=completion.workload,
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="The file to write; its ending decides the format.", show_default=False),
    ] = None,
    columns: options.ColumnsOption = None,
    saved: SaveColumns = None,
    keep: Keep = False,
    skip: options.SkipOption = False,
    sidecars: Sidecar = None,
    joined: Join = None,
    clean: Clean = False,
    period: Slice = None,
    conditions: Filter = None,
    first: First = None,
    load: Load = None,
    perfect: Perfect = False,
    closed: options.ClosedLoopOption = False,
    attached: Model = None,
    anonymise: Anonymise = False,
    seed: Seed = 0,
    described: SlurmConf = None,
    form: options.FormatOption = Format.text,
) -> None:
    """Write a workload in another format, or changed.

    Changes are made in the order of the options below; --sidecar, --join, --filter and --model may be given several
    times.

    With --slurm-conf the site's machine is written beside OUT, as a platform file. Without IN and OUT only that is
    done.
    """
    from forebay import workload
    from forebay.workload import anonymity, models

    if saved is not None:
        _save_columns(columns, saved)
    described_site = tell(described) if described else None
    if described_site is not None and (source is None or target is None):
        write_site(described_site, Path(source or f"{plain_stem(Path(described_site.sources[0]))}.toml"), form)
        return
    if source is None or target is None:
        raise InputError(f"{'IN and OUT are' if source is None else 'OUT is'} missing; write: convert IN OUT")
    slice_of = options.parse_period(period, "--slice")
    cancelled = "keep" if keep else "drop"
    jobs = _whole(source, sidecars or [], joined or [], cancelled=cancelled, skip_bad_lines=skip, columns=columns)
    if clean:
        jobs = _cleaned(jobs)
    jobs = _changed(jobs, slice_of, conditions or [], first, load, perfect)
    if closed:
        jobs = workload.closed_loop(jobs)
    jobs = models.attach(jobs, attached or [], seed)
    if anonymise:
        jobs = anonymity.anonymise(jobs, seed)
    machine = target.with_name(f"{plain_stem(target)}.toml")
    remarks: list[str] = []
    if described_site is not None:
        jobs, remarks = described_site.jobs(jobs, machine)
        described_site.write(machine)
    notes = [*jobs.notes, *workload.write(jobs, target), *remarks, *(described_site.notes if described_site else ())]
    if form is Format.json:
        document = {"file": str(target), "jobs": len(jobs), "records": jobs.records, "dropped": jobs.dropped}
        site = {"site": described_site.document(machine)} if described_site else {}
        answer(document | {"provenance": list(jobs.provenance)} | site | {"notes": notes})
        return
    rows = [("wrote", f"{target}, {counted(len(jobs), 'job')}"), *(("from", line) for line in jobs.provenance)]
    rows += [("wrote", str(machine)), *described_site.rows()] if described_site else []
    dropped = [("left out", f"{counted(count, 'record')}: {why}") for why, count in jobs.dropped.items()]
    show(pairs([*rows, *dropped]), *notes_block(notes))


def _save_columns(columns: str | None, target: Path) -> None:
    from forebay._support.files import replacing
    from forebay.workload.tables.mapping import mapping

    if columns is None or target.suffix.lower() != ".toml":
        raise InputError("--save-columns writes the mapping of --columns to a file that ends in .toml; give both")
    with replacing(target) as [temporary]:
        temporary.write_text(mapping(columns).toml(), encoding="utf-8")


def _whole(source: str, sidecars: list[Path], joined: list[str], **how: Any) -> "Workload":
    """The workload with its tables, and the others merged in."""
    from forebay.workload import _sidecar, operations

    jobs = read(source, **how)
    for path in sidecars:
        jobs = operations.attach_table(jobs, _sidecar.load(path), path.name)
    return operations.join([jobs, *(read(one, **how) for one in joined)]) if joined else jobs


def _cleaned(jobs: "Workload") -> "Workload":
    from forebay import platforms
    from forebay.workload import cleaning

    return cleaning.clean(jobs, platforms.load(jobs.platform).nodes if jobs.platform else None)


def _changed(
    jobs: "Workload",
    period: options.Period | None,
    conditions: list[str],
    first: int | None,
    load: float | None,
    perfect: bool,
) -> "Workload":
    from forebay.workload import operations

    if period is not None:
        jobs = operations.slice_time(jobs, *period)
    for text in conditions:
        jobs = operations.filter_jobs(jobs, operations.parse_condition(text, jobs.jobs.schema, jobs.names), text)
    if first is not None:
        jobs = operations.first(jobs, first)
    if load is not None:
        jobs = operations.scale_load(jobs, load)
    return operations.perfect_estimates(jobs) if perfect else jobs
