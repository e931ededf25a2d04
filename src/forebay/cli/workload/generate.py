"""`forebay workload generate`: a workload made by a model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forebay._support.text import counted
from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, notes_block, pairs, show

EXAMPLES = options.examples(
    "forebay workload generate lublin99 -o jobs.swf --jobs 5000 --seed 1",
    "forebay workload generate lublin99:load=0.8 -o jobs.json --model burst-buffer --model io-phases:speed=1e9",
)

Model = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="SPEC",
        help="Complete the jobs by this model, such as burst-buffer or tsafrir05; may be given several times.",
        show_default=False,
        autocompletion=completion.model,
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Feeds the models, each with its own draws.")]


def command(
    spec: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="lublin99, feitelson96:nodes=64, ...", autocompletion=completion.model),
    ],
    target: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write; its ending decides the format.")
    ],
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", help="How many jobs to make.", show_default=False)
    ] = None,
    attached: Model = None,
    seed: Seed = 0,
    form: options.FormatOption = Format.text,
) -> None:
    """Make a workload by a model; the same seed makes the same jobs."""
    from forebay import workload
    from forebay.workload import models

    more: dict[str, Any] = {} if jobs is None else {"jobs": jobs}
    made = models.attach(models.generate(spec, seed, **more), attached or [], seed)
    notes = [*made.notes, *workload.write(made, target)]
    if form is Format.json:
        answer({"file": str(target), "jobs": len(made), "provenance": list(made.provenance), "notes": notes})
        return
    rows = [("wrote", f"{target}, {counted(len(made), 'job')}"), *(("from", line) for line in made.provenance)]
    show(pairs(rows), *notes_block(notes))
