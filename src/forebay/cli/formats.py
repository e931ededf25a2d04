"""`forebay formats`: the workload files that can be read and written."""

from typing import Any

from forebay.cli._input import options
from forebay.cli._input.options import Format
from forebay.cli._render.lists import describe, listing

EXAMPLES = options.examples("forebay formats")

_GROUP = "workload.formats"


def command(form: options.FormatOption = Format.text) -> None:
    """List the file formats of workloads, with their endings."""
    columns = {"name": "format", "suffixes": "endings", "description": "what it is"}
    listing(known(), columns, "workloads that need no file: `forebay workload list`", form)


def known() -> list[dict[str, Any]]:
    """Every format: name, description and suffixes."""
    from forebay import _plugins

    return [
        one | {"suffixes": list(_plugins.load(_GROUP, one["name"], "format").SUFFIXES)}
        for one in describe(_GROUP, "format")
    ]
