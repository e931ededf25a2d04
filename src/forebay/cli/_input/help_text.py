"""Help in words: what typer says of Python's types and ranges is left out, and misspelt commands are understood."""

import re
from collections.abc import Iterator
from typing import Any

from typer.core import TyperCommand, TyperGroup

from forebay.errors import InputError, brief

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
    """A group of commands with such a help, which knows where a command is that it has not."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant; near ones of all groups are named where there is none."""
        unknown = not args[0].startswith("-") and self.get_command(ctx, args[0]) is None
        if unknown and not ctx.resilient_parsing:  # as for shell completion
            raise InputError(f"no such command {brief(args[0])}: {_near(args[0], ctx)}")
        return super().resolve_command(ctx, args)


def _near(name: str, ctx: Any) -> str:
    """Where to find what somebody may have meant: a command of any group, or an option such as --version."""
    import difflib

    root = ctx.find_root()
    lines = {words[-1]: " ".join(words) for words in _commands(root.command, root.info_name)}
    options = [max(one.opts, key=len) for one in root.command.get_params(root)]
    lines |= {option.lstrip("-"): f"{root.info_name} {option}" for option in options}
    close = difflib.get_close_matches(name.lower(), lines, 2)
    if name.lower() in lines:  # so what only looks alike is not meant
        close = [one for one in close if name.lower() in one]
    if not close:
        return f"see {ctx.command_path} --help"
    return f"did you mean {' or '.join(f'`{lines[one]}`' for one in close)}?"


def _commands(group: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """Every command below a group, as the words to write."""
    for name, command in group.commands.items():
        yield (*path, name)
        if hasattr(command, "commands"):
            yield from _commands(command, *path, name)
