"""One file a figure: `DESCRIPTION` and `draw(results, path)`, which writes the picture and, as CSV, the data behind it.

A module dropped in this folder, or an entry point `forebay.figures`, is a figure; nothing else to edit. Names in
`results` are what legends show. A figure of what goes on over time sets `OVER_TIME`: it wants whole runs, where others
are as glad of a window. Pictures that only studies draw stand in `panels`.
"""

from collections.abc import Mapping
from pathlib import Path

from forebay import _plugins
from forebay.errors import InputError, nearest
from forebay.results import Result

__all__ = ["draw", "names"]


def names() -> list[str]:
    """Every figure, as users write it."""
    return [name for name in _plugins.names("figures") if name != "panels"]


def draw(name: str, results: Mapping[str, Result], path: Path) -> list[Path]:
    """Draw one figure; the ending of `path` says as what (svg, pdf or png). Gives the files written."""
    if name not in names():
        raise InputError(f"unknown figure {name!r}: {nearest(name, names())}")
    module = _plugins.load("figures", name, "figure")
    if not results:
        raise InputError(f"figure {name!r}: no run to draw")
    written: list[Path] = module.draw(results, path)
    return written
