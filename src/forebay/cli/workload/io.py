"""`forebay workload io`: I/O for an ordinary trace, of what is known of its jobs."""

from pathlib import Path
from typing import Annotated

import typer

from forebay._support.text import counted
from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._input.reading import read
from forebay.cli._render.printing import answer, notes_block, pairs, show
from forebay.errors import InputError

EXAMPLES = options.examples(
    "forebay workload io jobs.sacct march.parquet.zip --darshan logs/",
    "forebay workload io jobs.sacct march.parquet.zip --darshan io.csv --share queue=gpu:0.2 --model io-share:io=0.1",
    "forebay workload io trace.swf.gz jobs.parquet.zip --share all:0.1,node=2GB,pfs=25GB --buffered --replicas 10",
)

Target = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its ending decides the format.")]
Logs = Annotated[
    list[Path] | None,
    typer.Option(
        "--darshan",
        metavar="FILE",
        help="Text of darshan-parser or a CSV file of summaries, or a folder of such; may be given several times.",
        show_default=False,
    ),
]
Shares = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        metavar="WHO:SHARE",
        help="The share of their time that jobs without logs spend in I/O: queue=gpu:0.2, user=17:0.1,spread=0.5, "
        "all:0.1,node=2GB,pfs=25GB; the first that fits counts.",
        show_default=False,
    ),
]
Rest = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="SPEC",
        help="Complete all other jobs by this model, such as io-share:io=0.1.",
        show_default=False,
        autocompletion=completion.model,
    ),
]
Buffered = Annotated[bool, typer.Option("--buffered", help="Let jobs reserve burst buffer for their checkpoints.")]
Replicas = Annotated[
    int,
    typer.Option("--replicas", metavar="N", min=1, help="Write N versions, each with its own draws: OUT, OUT-2, ..."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Feeds the draws of shares and model.")]


def command(
    source: options.WorkloadArgument,
    target: Target,
    logs: Logs = None,
    shares: Shares = None,
    model: Rest = "",
    buffered: Buffered = False,
    replicas: Replicas = 1,
    seed: Seed = 0,
    form: options.FormatOption = Format.text,
) -> None:
    """Give the jobs of a trace I/O, so that a burst buffer or a file system can change their run times.

    Logs of Darshan count first, then shares, then the model. What was recorded is the same in all versions; what is
    assumed is drawn for each, so that they show how sure an answer is: name them all in a sweep.
    """
    from forebay import workload
    from forebay.workload import io

    jobs = read(source)
    known = io.Known(io.read(logs) if logs else None, [io.parse_share(text) for text in shares or ()], model, buffered)
    if replicas > 1 and not known.shares and not model:
        raise InputError("--replicas: nothing is drawn, for all that is known are logs; leave it out")
    made = [io.attach(jobs, known, seed + turn) for turn in range(replicas)]
    files = [target if turn == 0 else _numbered(target, turn + 1) for turn in range(replicas)]
    remarks = [note for one, file in zip(made, files, strict=True) for note in workload.write(one, file)]
    notes = list(dict.fromkeys([*made[0].notes, *remarks]))
    if form is Format.json:
        provenance = [list(one.provenance) for one in made]
        answer({"files": list(map(str, files)), "jobs": len(jobs), "provenance": provenance, "notes": notes})
        return
    rows = [("wrote", f"{file}, {counted(len(jobs), 'job')}") for file in files]
    rows += [("from", one.provenance[-1]) for one in made]
    show(pairs(rows), *notes_block(notes))


def _numbered(path: Path, number: int) -> Path:
    """march.parquet.zip as march-2.parquet.zip."""
    stem, dot, endings = path.name.partition(".")
    return path.with_name(f"{stem}-{number}{dot}{endings}")
