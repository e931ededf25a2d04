"""What commands say: tables, notes and JSON on stdout; messages, progress and errors on stderr.

Text of others (names, messages, paths) never passes through rich's markup: a `[` in it stays a `[`. Nor does anything
in it reach the terminal that a terminal obeys: such characters are shown as escapes.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from forebay._support.text import as_json, plain, together

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Shown

    from forebay._support.paper import Table

Seconds = Callable[[float | None], str]
"""A way to write a duration."""

UNLIMITED = 240
"""Columns without a terminal: in a pipe or a file lines are not broken, so that they can be searched."""


_WORD = 12
"""Letters of a word that is never broken, but in a first column."""

LINES = "\n\t"
"""What divides lines and columns of a text that forebay wrote itself."""


class _Voice:
    quiet = False


def hush(quiet: bool) -> bool:
    """Whether to keep all messages beside the answer and errors to ourselves."""
    _Voice.quiet = quiet
    return quiet


def is_quiet() -> bool:
    """Whether we do."""
    return _Voice.quiet


def console(stderr: bool = False) -> "Console":
    """The terminal, as wide as it is; pipes and files are wide enough for anything."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=_width(stream), markup=False, highlight=False, emoji=False)


def _width(stream: TextIO) -> int | None:
    """Columns; None leaves them to rich, which would also obey a `COLUMNS` of 0. That counts as unset here."""
    chosen = os.environ.get("COLUMNS")
    if chosen is not None and re.fullmatch(r"0*[1-9][0-9]{0,5}", chosen, re.ASCII):
        return int(chosen)
    if not stream.isatty():
        return UNLIMITED
    return None if chosen is None else os.get_terminal_size(stream.fileno()).columns


def say(text: str, style: str | None = None) -> None:
    """A line of a command's answer."""
    console().print(plain(text, LINES), style=style, soft_wrap=True)


def message(text: str, style: str | None = None) -> None:
    """A line beside the answer, unless the user wants none."""
    if not _Voice.quiet:
        console(stderr=True).print(plain(text, LINES), style=style, soft_wrap=True)


def answer(document: dict[str, Any] | list[Any]) -> None:
    """The whole answer, as JSON."""
    print(as_json(document))


def papers(form: str, tables: "Sequence[Table]") -> None:
    """Tables for a paper, as LaTeX or Markdown, each with what it rests on."""
    texts = (one.to_latex(one.caption or None) if form == "latex" else one.to_markdown() for one in tables)
    print("\n".join(texts), end="")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = (), gap: int = 3) -> "Shown":
    """A table without lines, `gap` spaces between columns; those at `numbers` are flush right and never broken."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0), header_style="bold")
    rows = [list(row) for row in rows]
    for place, name in enumerate(columns):
        right = place in numbers
        word = place > 0 and all(len(row[place]) <= _WORD and " " not in row[place] for row in rows)
        made.add_column(
            Text(plain(name, "\n"), justify="right" if right else "left"),
            justify="right" if right else "left",
            no_wrap=right or word,
            overflow="fold",
            style="bold cyan" if place == 0 else None,
        )
    for row in rows:
        made.add_row(*(Text(plain(cell, "\n")) for cell in row))
    return made


def drawn(one: "Table", gap: int = 3) -> "Shown":
    """A table that papers have, too."""
    return table(one.titles, one.rows, sorted(one.numbers), gap)


def pairs(rows: Iterable[tuple[str, str]]) -> "Shown":
    """Words on the left, what they mean on the right; long text is broken beside its word, not below it."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for left, right in rows:
        grid.add_row(Text(plain(left)), Text(plain(right, "\n")))
    return grid


def show(*blocks: Any) -> None:
    """Blocks (tables or lines) with an empty line between two."""
    screen = console()
    for place, given in enumerate(blocks):
        block = plain(given, LINES) if isinstance(given, str) else given
        if place:
            screen.print()
        if screen.is_terminal:
            screen.print(block)
            continue
        with screen.capture() as captured:
            screen.print(block)
        print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def fitting(make: Callable[[Seconds, int], "Shown"]) -> "Shown":
    """The roomiest table of durations that the screen is wide enough for; `make` takes how to write them and a gap."""
    from rich.measure import Measurement

    from forebay.cli._render.number_text import seconds, short_seconds, shortest_seconds

    screen = console()
    for layout in ((seconds, 3), (seconds, 2), (short_seconds, 2), (shortest_seconds, 2), (shortest_seconds, 1)):
        made = make(*layout)
        if Measurement.get(screen, screen.options.update(width=1000), made).maximum <= screen.width:
            break
    return made


def notes_block(notes: Sequence[str]) -> list[Any]:
    """Every note on a line of its own, those that are alike on one; nothing if there is none."""
    return [pairs([("note", note) for note in together(notes)])] if notes else []
