"""`forebay slurm snapshot`: the queue of the Slurm of this machine, as a file."""

from pathlib import Path
from typing import Annotated

import typer

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, notes_block, pairs, show

EXAMPLES = options.examples("forebay slurm snapshot moment.json && forebay predict moment.json")


def command(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write (JSON), which forebay predict reads.")
    ],
    form: options.FormatOption = Format.text,
) -> None:
    """Write the live queue to a file, read only.

    squeue and scontrol show are called once each, and nothing is changed: any user who may see the queue can run this.
    """
    from forebay._live.commands import Slurm
    from forebay._live.snapshot import moment
    from forebay._support.files import replacing
    from forebay._support.text import as_json, counted

    found = moment(Slurm())
    with replacing(target) as (file,):
        file.write_text(as_json(found.document) + "\n", encoding="utf-8")
    running = sum(job.runs for job in found.jobs)
    waiting = sum("start" not in row for row in found.document["jobs"])
    if form is Format.json:
        about = {"running": running, "waiting": waiting, "policy": found.site.policy, "notes": found.notes}
        answer({"file": str(target), **about})
        return
    rows = [
        ("wrote", str(target)),
        ("queue", f"{counted(running, 'job runs', 'jobs run')}, {counted(waiting, 'job waits', 'jobs wait')}"),
        ("policy", found.site.policy),
    ]
    show(pairs(rows), *notes_block(found.notes))
