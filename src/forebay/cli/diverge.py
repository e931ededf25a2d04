"""`forebay diverge`: where two runs of one workload part, and why."""

from pathlib import Path
from typing import Annotated

import typer

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, show

EXAMPLES = options.examples(
    "forebay diverge forebay-results/fcfs-easy forebay-results/fcfs-bb",
    "forebay diverge before after --format json",
)

_RUN = "A folder that `forebay run -o` wrote, or that of a policy of `compare`."


def command(
    first: Annotated[Path, typer.Argument(metavar="RUN", help=_RUN)],
    second: Annotated[Path, typer.Argument(metavar="RUN", help="Another, of the same workload.")],
    form: options.FormatOption = Format.text,
    quiet: options.QuietOption = False,
) -> None:
    """Say where two runs of one workload part, and why.

    That is the first instant in which they did different things: what each did, who waited, what was free.
    """
    from forebay._run.diverge import diverge
    from forebay.results import load
    from forebay.results._whole import reading

    with reading(first, second):
        found = diverge(load(first), load(second))
    if form is Format.json:
        answer({"runs": [str(first), str(second)], "divergence": None if found is None else found.document()})
        return
    show("The runs did the same all along." if found is None else str(found))
