"""`forebay workload models`: what can make jobs, or complete them."""

from typing import Annotated

import typer

from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._render.lists import listing
from forebay.cli._render.printing import answer, show, table

EXAMPLES = options.examples("forebay workload models", "forebay workload models burst-buffer")


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Show this one's parameters.", show_default=False, autocompletion=completion.model
        ),
    ] = None,
    form: options.FormatOption = Format.text,
) -> None:
    """List the models of workloads, or the parameters of one."""
    from forebay.workload import models

    if name is None:
        columns = {"name": "model", "kind": "kind", "description": "what it does"}
        hint = "generate: `forebay workload generate NAME -o FILE`; attach: `forebay workload convert --model NAME`"
        listing([models.describe(one) for one in models.names()], columns, hint, form)
        return
    one = models.describe(name)
    if form is Format.json:
        answer(one)
        return
    rows = [(key, _text(value)) for key, value in one["parameters"].items()]
    key, value = rows[0]
    words = "generate -o FILE" if one["kind"] == "generate" else "convert IN OUT --model"
    set_so = f"set them so: forebay workload {words} {one['name']}:{key}={value}"
    show(f"{one['name']}: {one['description']}", table(["parameter", "default"], rows), set_so)


def _text(value: float | str) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
