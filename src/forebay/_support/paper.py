"""Tables for papers and pages, LaTeX with booktabs and Markdown: whatever a name holds, it is text, not markup."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from forebay._support.text import plain
from forebay.errors import InputError, brief

if TYPE_CHECKING:
    import polars as pl

_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # babel gives the mark itself other meanings
    "[": "{[}",  # after the end of a row, [ and * would be arguments of it
    "*": "{*}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{EURO SIGN}": r"\texteuro{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\le$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\ge$",
}
_LIGATURES = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")  # -- would become a dash, and '' and ,, quotes
_SIGN = re.compile(r"(?<![\w.-])-(?=\d)")  # of a number, not of a name
_NO_LABEL = re.compile(r"[\\{}%#~^&$\s]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&$])")


@dataclass(frozen=True)
class Table:
    """A table as text: a title for each column, and rows; columns at `numbers` are flush right.

    Parameters
    ----------
    titles
        Of the columns.
    rows
        As many texts in each.
    numbers
        Which columns hold numbers, counted from 0.
    caption
        What the table rests on, in a sentence or two.
    """

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[int] = ()
    caption: str = ""

    def to_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """The table for a paper that loads booktabs; with a caption it floats.

        Parameters
        ----------
        caption
            Its caption, as plain text.
        label
            What the paper refers to it by; of a table with a caption.
        """
        head, *body = self._lines(latex_text, " & ", r" \\")
        columns = "".join("r" if place in self.numbers else "l" for place in range(len(self.titles)))
        tabular = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule"]
        tabular += [*body, r"\bottomrule", r"\end{tabular}"]
        if label is not None and (caption is None or _NO_LABEL.search(label)):
            why = "needs a caption" if caption is None else "has characters that no label of LaTeX may have"
            raise InputError(f"the label {brief(label)} {why}; write, for example, caption='Waits', label='tab:waits'")
        if caption is None:
            return "\n".join(tabular) + "\n"
        about = [rf"\caption{{{latex_text(caption)}}}", *([rf"\label{{{label}}}"] if label else [])]
        return "\n".join([r"\begin{table}", r"\centering", *about, *tabular, r"\end{table}"]) + "\n"

    def to_markdown(self, *, caption: str | None = None) -> str:
        """The table in Markdown, below a line of what it rests on.

        Parameters
        ----------
        caption
            That line, as plain text; "" for none. The table's own by default.
        """
        head, *body = self._lines(markdown_text, " | ", " |")
        ruler = "".join("---:|" if place in self.numbers else "---|" for place in range(len(self.titles)))
        about = markdown_text(self.caption if caption is None else caption)
        return (
            "\n".join([*([about, ""] if about else []), f"| {head}", f"|{ruler}", *(f"| {line}" for line in body)])
            + "\n"
        )

    def _lines(self, escape: Callable[[str], str], gap: str, end: str) -> list[str]:
        """All rows as text, cells of a column equally wide."""
        every = [[escape(cell) for cell in row] for row in (self.titles, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*every, strict=True)]
        return [
            gap.join(
                cell.rjust(width) if place in self.numbers else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            + end
            for row in every
        ]


class _HasTable(Protocol):
    @property
    def table(self) -> "pl.DataFrame": ...


class InPapers:
    """An answer that papers have as a table; of a class, `for_papers` says which."""

    def for_papers(self) -> Table:
        """The table, with what it rests on as its caption."""
        raise NotImplementedError

    def to_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """The table for a paper that loads booktabs; with a caption it floats.

        Parameters
        ----------
        caption
            Its caption, as plain text.
        label
            What the paper refers to it by; of a table with a caption.
        """
        return self.for_papers().to_latex(caption, label)

    def to_markdown(self, *, caption: str | None = None) -> str:
        """The table in Markdown, below a line of what it rests on.

        Parameters
        ----------
        caption
            That line, as plain text; "" for none. The table's own by default.
        """
        return self.for_papers().to_markdown(caption=caption)

    @property
    def caption(self) -> str:
        """What the table rests on, in a sentence or two."""
        return self.for_papers().caption

    def to_pandas(self: _HasTable) -> Any:
        """`table` as a DataFrame of pandas, which is not a part of forebay: pip install "forebay[pandas]".

        Returns
        -------
        pandas.DataFrame
            Missing numbers are NaN.
        """
        from forebay._support.frames import as_pandas

        return as_pandas(self.table)


def latex_text(text: str) -> str:
    """A text on one line in which LaTeX finds nothing to obey."""
    found = "".join(_LATEX.get(mark, mark) for mark in _SIGN.sub("\N{MINUS SIGN}", one_line(text)))
    return _LIGATURES.sub("{}", found)


def markdown_text(text: str) -> str:
    """A text on one line in which Markdown finds nothing to obey."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def one_line(text: str) -> str:
    """Words with a space between them, put together where a hyphen ends a line; what a screen obeys is an escape."""
    return " ".join(plain(text, "\n\t").replace("-\n", "-").split())
