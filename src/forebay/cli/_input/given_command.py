"""The command as it was given, for pages that tell how to repeat it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from forebay._support.files import replacing
from forebay._support.text import as_json

_ASIDE = {"output", "form", "quiet", "jobs", "dask", "slurm", "plots", "page", "fresh"}
"""What changes where results go and how fast they come, but not what they are."""


def command(context: typer.Context) -> list[str]:
    """The words of a command that give the same results again: what the user wrote, without what does not count."""
    words = ["forebay", str(context.info_name)]
    for one in context.command.params:
        source = context.get_parameter_source(one.name or "")
        if one.name not in _ASIDE and source is not None and source.name == "COMMANDLINE":
            words += _words(one, context.params[one.name or ""])
    return words


def _words(parameter: Any, value: Any) -> list[str]:
    """An argument, or an option with its value; several times where several are given."""
    if parameter.param_type_name == "argument":
        return [str(value)]
    name = max(parameter.opts, key=len)
    if parameter.is_flag:
        return [name if value else parameter.secondary_opts[0]]
    values = value if parameter.multiple else [value]
    return [word for one in values for word in (name, str(one))]


def origin(context: typer.Context) -> dict[str, Any]:
    """What a page tells of where its numbers come from: the command, and versions."""
    from forebay._run.simulate import versions

    return {"command": command(context), "versions": versions()}


def keep(path: Path, document: Mapping[str, Any], context: typer.Context) -> Path:
    """Write down an answer, so that `forebay report` can make a page of it at any time."""
    from forebay.report._document import FORMAT

    with replacing(path) as [temporary]:
        temporary.write_text(as_json({"format": FORMAT, **document, **origin(context)}) + "\n", encoding="utf-8")
    return path
