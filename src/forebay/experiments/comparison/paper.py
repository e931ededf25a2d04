"""The tables of a comparison as papers have them: LaTeX with booktabs, and Markdown."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forebay.experiments.verdicts import change_text
from forebay.metrics._numbers import NONE, seconds, shown

if TYPE_CHECKING:
    from forebay.experiments.comparison.compared import Compared

HEADLINE = "mean_wait"
COLUMNS = (
    (HEADLINE, "mean wait"),
    ("p95_wait", "p95 wait"),
    ("mean_turnaround_time", "turnaround"),
    ("mean_bounded_slowdown_10min", "bounded slowdown"),
)
"""Numbers of a table, by their names in summaries; the use of each resource follows, then metrics of the user's own."""
_SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\N{MINUS SIGN}": "$-$",
}

Rows = list[list[str]]


def rows(compared: "Compared") -> tuple[list[str], Rows]:
    """Titles and cells: a row a policy, best first; the change is that of the mean wait."""
    judged = {one.policy: one for one in compared.verdicts if one.metric == HEADLINE}
    used = [(f"utilisation_{name}", f"{name.replace('_', ' ')} used") for name in compared.documents[0]["resources"]]
    used += [(name, name.replace("_", " ")) for name in compared.own]
    known = {name for document in compared.documents for name in document["summary"]}
    columns = [column for column in (*COLUMNS, *used) if column[0] in known]
    titles = ["policy", *(title for _, title in columns)]
    found = [[one["policy"], *(shown(name, one["summary"].get(name)) for name, _ in columns)] for one in compared.shown]
    if judged:
        titles.insert(2, f"against {compared.reference}")
        for row in found:
            row.insert(2, change_text(judged[row[0]]) if row[0] in judged else NONE)
    return titles, found


def latex(compared: "Compared", caption: str | None = None, label: str | None = None) -> str:
    """A table for a paper that loads booktabs; with a caption it floats."""
    titles, found = rows(compared)
    body = _lines(titles, found, _escaped, " & ", r" \\")
    tabular = [
        rf"\begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}",
        r"\toprule",
        body[0],
        r"\midrule",
        *body[1:],
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if caption is None:
        return "\n".join(tabular) + "\n"
    about = [rf"\caption{{{_escaped(caption)}}}", *([rf"\label{{{label}}}"] if label else [])]
    return "\n".join([r"\begin{table}", r"\centering", *about, *tabular, r"\end{table}"]) + "\n"


def markdown(compared: "Compared") -> str:
    """The same as a table of Markdown."""
    titles, found = rows(compared)
    head, *body = _lines(titles, found, lambda text: text.replace("|", r"\|"), " | ", " |")
    ruler = "|---|" + "---:|" * (len(titles) - 1)
    return "\n".join([f"| {head}", ruler, *(f"| {line}" for line in body)]) + "\n"


def _lines(titles: Sequence[str], found: Rows, escape: Callable[[str], str], gap: str, end: str) -> list[str]:
    """All rows as text, cells of a column equally wide."""
    every = [[escape(cell) for cell in row] for row in (titles, *found)]
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    return [
        gap.join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        + end
        for row in every
    ]


def _escaped(text: str) -> str:
    plain = "".join(_SPECIAL.get(mark, mark) for mark in text)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", plain)  # of a number, not of a name


def basis(compared: "Compared") -> str:
    """What the table rests on, for its caption."""
    first = compared.documents[0]
    jobs = f"{first['summary']['n_jobs']:,} jobs of {first['workload']} on {first['platform']['text']}"
    least = "" if compared.least is None else _least(compared.least.best[HEADLINE]["value"])
    judged = f" Changes of the mean wait against {compared.reference}, {compared.basis}." if compared.verdicts else ""
    return f"{jobs}.{judged}{least}"


def _least(value: float | None) -> str:
    return f" No policy can have a mean wait below {seconds(value)}." if value else ""
