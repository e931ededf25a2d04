"""Help in words: what typer says of Python's types and ranges is left out."""

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

_TYPE = re.compile(r" <[^<>]*>$")
_RANGE = re.compile(r"(?:; )?(?:\d+<=?)?x[<>]=?\d+")


class _InWords:
    """A list of arguments or options whose left column names what to write, and whose right one what it means."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write = formatter.write_dl

        def in_words(rows: Any, *more: Any, **named: Any) -> None:
            write([(_TYPE.sub("", term), _without_range(text)) for term, text in rows], *more, **named)

        formatter.write_dl = in_words
        try:
            super().format_options(ctx, formatter)  # type: ignore[misc]
        finally:
            del formatter.write_dl

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """WORKLOAD where newer typers write {WORKLOAD}."""
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [re.sub(r"^\{(.*)\}", r"\1", piece) for piece in pieces]


def _without_range(text: str) -> str:
    """The bracket that ends a text without ranges such as x>=0; gone if nothing else is in it."""
    head, bracket, tail = text.rpartition("  [")
    if not bracket:
        return text
    left = _RANGE.sub("", tail.removesuffix("]"))
    return f"{head}{bracket}{left}]" if left else head


class Command(_InWords, TyperCommand):
    """A command with such a help."""


class Group(_InWords, TyperGroup):
    """A group of commands with such a help."""
