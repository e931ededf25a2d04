"""`forebay policies`: what can be named after --policy."""

from typing import Annotated, Any

import typer

from forebay.cli import _complete
from forebay.cli import _options as options
from forebay.cli._lists import listing
from forebay.cli._options import Format
from forebay.cli._print import answer, show, table

EXAMPLES = options.examples("forebay policies", "forebay policies fcfs-bb")


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Show this one's parameters.", show_default=False, autocompletion=_complete.policy
        ),
    ] = None,
    form: options.FormatOption = Format.text,
) -> None:
    """List the policies, or the parameters of one."""
    from forebay import policies

    if name is None:
        columns = {"name": "policy", "description": "what it does"}
        hint = "`forebay policies NAME` shows parameters; your own: --policy mine.py:ClassName"
        listing([policies.describe(one) for one in policies.names()], columns, hint, form)
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
