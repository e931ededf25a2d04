"""Plug-ins of a group by name, for the commands that list them."""

from typing import Any

from forebay.cli._input.options import Format
from forebay.cli._render.printing import answer, show, table


def describe(group: str, what: str) -> list[dict[str, Any]]:
    """Name and description of each: its DESCRIPTION, else the first line of its docstring."""
    from forebay import _plugins

    found = []
    for name in _plugins.names(group):
        module = _plugins.load(group, name, what)
        text = getattr(module, "DESCRIPTION", None) or (module.__doc__ or "").strip().partition("\n")[0]
        found.append({"name": name, "description": text})
    return found


def listing(found: list[dict[str, Any]], columns: dict[str, str], hint: str, form: Format) -> None:
    """The answer of a command that lists: `columns` maps keys to headings."""
    if form is Format.json:
        answer(found)
        return
    rows = [[_cell(one[key]) for key in columns] for one in found]
    show(table(list(columns.values()), rows), hint)


def _cell(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list | tuple) else str(value)
