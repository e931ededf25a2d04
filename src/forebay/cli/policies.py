"""`forebay policies`: what can be named after --policy."""

from typing import Annotated, Any

import typer

from forebay.cli._input import completion, options
from forebay.cli._input.options import Format
from forebay.cli._render.lists import listing
from forebay.cli._render.printing import answer, show, table

EXAMPLES = options.examples("forebay policies", "forebay policies fcfs-bb")


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Show this one's parameters.", show_default=False, autocompletion=completion.policy
        ),
    ] = None,
    form: options.FormatOption = Format.text,
) -> None:
    """List the policies, or the parameters of one."""
    from forebay import policies

    if name is None:
        found = [policies.describe(one) for one in policies.names()]
        if form is Format.text:
            found = [one | {"compared": "*" if one["compared"] else ""} for one in found]
        columns = {"name": "policy", "compared": "", "family": "family", "description": "what it does"}
        hint = (
            "* compared by `forebay compare`, which also takes a family: --policies queue,plan-best; "
            "`forebay policies NAME` shows parameters; your own: mine.py:ClassName"
        )
        listing(found, columns, hint, form)
        return
    one = policies.describe(name)
    if form is Format.json:
        answer(one)
        return
    blocks: list[Any] = [f"{one['name']}: {one['description']}"]
    if one["parameters"]:
        rows = [(key, _text(value)) for key, value in one["parameters"].items()]
        key, value = next((row for row in rows if row[1].isdecimal()), rows[0])
        blocks += [table(["parameter", "default"], rows), f"set them so: --policy {name}:{key}={value}"]
    show(*blocks)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
