"""One file a figure: `DESCRIPTION` and `draw(results, path)`, which writes the picture and, as CSV, the data behind it.

A module dropped in this folder, or an entry point `forebay.figures`, is a figure; nothing else to edit. Names in
`results` are what legends show. A figure of what goes on over time sets `OVER_TIME`: it wants whole runs, where others
are as glad of a window. Pictures that only studies draw stand in `panels`.
"""

from collections.abc import Mapping
from pathlib import Path

from forebay import _plugins
from forebay._text import plain
from forebay.errors import InputError
from forebay.results import Result

__all__ = ["draw", "names"]


def names() -> list[str]:
    """Every figure, as users write it."""
    return [name for name in _plugins.names("figures") if name != "panels"]


def proper(name: str) -> str:
    """The figure that a user means by `name`, as `names` spells it."""
    found = _plugins.find("figures", name)
    if found not in names():
        raise _plugins.unknown("figure", name, names())
    return str(found)


def draw(name: str, results: Mapping[str, Result], path: Path) -> list[Path]:
    """Draw one figure; the ending of `path` says as what (svg, pdf or png). Gives the files written."""
    module = _plugins.load("figures", proper(name), "figure")
    if not results:
        raise InputError(f"figure {name!r}: no run to draw")
    # Names may come out of files, and neither fonts nor XML have control characters.
    written: list[Path] = module.draw({plain(label): result for label, result in results.items()}, path)
    return written
