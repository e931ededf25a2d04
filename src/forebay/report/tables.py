"""Sections that any page may have: a table, dots with whiskers, lines. Nothing here knows what the numbers mean.

Text is escaped here: callers give it as it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.figures import _look
from forebay.report import _axes
from forebay.report._models import Field, Figure, Model, fields, source
from forebay.report.page import Section, escaped


@dataclass(frozen=True)
class Cell:
    """A cell that says better or worse by its colour too; `tone` is one of these words, soft, or empty.

    `more` stands below the text, in smaller letters.
    """

    text: str
    tone: str = ""
    more: str = ""


@dataclass(frozen=True)
class Dot:
    """A number with its interval; without one, `low` and `high` are None.

    Its colour is that of its `tone`, a verdict, else that of its group.
    """

    row: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""
    tone: str = ""


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Cell]],
    numbers: Sequence[int] | range = (),
    caption: str = "",
) -> str:
    """A table as HTML; the first column names its rows, those in `numbers` stand to the right.

    Parameters
    ----------
    columns
        Titles.
    rows
        Cells as text; a Cell has a tone too.
    numbers
        Which columns hold numbers.
    caption
        A sentence above it.
    """
    head = "".join(
        f'<th scope="col"{_class(place in numbers)}>{escaped(one)}</th>' for place, one in enumerate(columns)
    )
    body = "\n".join(f"<tr>{''.join(_cell(k, cell, k in numbers) for k, cell in enumerate(row))}</tr>" for row in rows)
    above = f"<caption>{escaped(caption)}</caption>" if caption else ""
    return f'<div class="wide"><table>{above}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _cell(place: int, cell: str | Cell, right: bool) -> str:
    shown = cell if isinstance(cell, Cell) else Cell(cell)
    kind = 'th scope="row"' if place == 0 else "td"
    more = f"<small>{escaped(shown.more)}</small>" if shown.more else ""
    return f"<{kind}{_class(right, shown.tone)}>{escaped(shown.text)}{more}</{kind.split(' ', maxsplit=1)[0]}>"


def _class(right: bool, tone: str = "") -> str:
    words = " ".join(word for word in ("number" if right else "", tone) if word)
    return f' class="{words}"' if words else ""


def paragraph(text: str) -> str:
    """A remark as HTML."""
    return f'<p class="note">{escaped(text)}</p>'


def sentences(texts: Sequence[str]) -> str:
    """What is to be read first, a sentence each, as HTML."""
    return "".join(f'<p class="answer">{escaped(text)}</p>' for text in texts)


def pairs(rows: Sequence[tuple[str, str]]) -> str:
    """Words and what they mean, as HTML."""
    return f"<dl>{''.join(f'<dt>{escaped(word)}</dt><dd>{escaped(what)}</dd>' for word, what in rows)}</dl>"


_TONES = {"better": _look.GREEN, "worse": _look.ORANGE, "undecided": _look.GREY, "same": _look.GREY}


def _whiskers(
    given: Sequence[Dot], names: Sequence[str], shift: float, ratios: bool, least: float, colour: str
) -> Model:
    """Where dots of one group and their whiskers are, and in which colour; those below `least` end there."""

    def place(value: float | None, else_: float) -> float:
        return max(ratios + (else_ if value is None else value), least)

    return source(
        {
            "x": [place(one.value, one.value) for one in given],
            "y": [names.index(one.row) + shift for one in given],
            "low": [place(one.low, one.value) for one in given],
            "high": [place(one.high, one.value) for one in given],
            "colour": [_TONES.get(one.tone, colour) for one in given],
        }
    )


def dots(title: str, name: str, given: Sequence[Dot], label: str, ratios: bool = False) -> Section:
    """Dots with whiskers, a row each.

    Parameters
    ----------
    title
        Of the section.
    name
        A word for the element, none of which a page may have two.
    given
        From top to bottom; dots of a group share a colour.
    label
        Of the axis.
    ratios
        Whether values are changes as shares, to be drawn as ratios: -0.5 at a half, 1 at 2, on a logarithmic axis with
        a line at 1.
    """
    names = list(dict.fromkeys(one.row for one in given))
    groups = list(dict.fromkeys(one.group for one in given))
    scales = ("log", "linear") if ratios else ("linear", "linear")
    made = _axes.panel(58 + 24 * max(len(names), 2) + (26 if len(groups) > 1 else 0), scales=scales)
    ends = [(one.value if end is None else end) for one in given for end in (one.value, one.low, one.high)]
    least = _axes.log_ratios(made, [1 + end for end in ends]) if ratios else -math.inf
    for turn, group in enumerate(groups):
        shift = 0.0 if len(groups) == 1 else 0.5 * (turn / (len(groups) - 1) - 0.5)
        mine = [one for one in given if one.group == group]
        drawn = _whiskers(mine, names, shift, ratios, least, _axes.COLOURS[turn % len(_axes.COLOURS)])
        low, high, y, colour = map(Field, ("low", "high", "y", "colour"))
        made.draw("Segment", drawn, x0=low, y0=y, x1=high, y1=y, line_color=colour, line_width=2)
        word = group if len(groups) > 1 else ""
        dot = made.draw("Scatter", drawn, word, **fields("x", "y"), fill_color=colour, line_color=colour, size=8)
        facts = [(label, "@x{0.[000]}"), ("interval", "@low{0.[000]} to @high{0.[000]}")]
        made.tools.append(Model("HoverTool", renderers=[dot], tooltips=facts))
    if ratios:
        made.add(Model("Span", location=1, dimension="height", line_color="#888888", line_dash=_axes.DASHED))
    _axes.rows(made, names)
    made.x_axis.update(axis_label=_axes.plain_label(label, 80))
    made.legend_above()
    return Section(title, f'<div class="plot" id="plot-{name}"></div>', plots={f"plot-{name}": made.model})


def lines(
    title: str,
    name: str,
    given: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    axes: tuple[str, str] = ("linear", "linear"),
    whiskers: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> Section:
    """Lines with a dot at each point, and its interval where it has one.

    Parameters
    ----------
    title
        Of the section.
    name
        A word for the element, none of which a page may have two.
    given
        x and y of each line, by what the legend calls it.
    labels
        Of both axes.
    axes
        Of x and of y: linear or log.
    whiskers
        Low and high ends at each point, of the lines that have them.
    """
    made = curves(given, labels, axes, whiskers)
    return Section(title, f'<div class="plot" id="plot-{name}"></div>', plots={f"plot-{name}": made.model})


def curves(
    given: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    axes: tuple[str, str] = ("linear", "linear"),
    whiskers: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> Figure:
    """The figure of `lines`, to which more can be added."""
    made = _axes.panel(330, scales=axes)
    made.tools += [
        Model("PanTool"),
        Model("WheelZoomTool", dimensions="width"),
        Model("BoxZoomTool"),
        Model("ResetTool"),
    ]
    made.toolbar.update(active_drag=None)
    for place, (word, (x, y)) in enumerate(given.items()):
        shown = word if len(given) > 1 else ""
        drawn, colour = source({"x": x, "y": y}), _axes.COLOURS[place % len(_axes.COLOURS)]
        made.draw("Line", drawn, shown, **fields("x", "y"), **_axes.look(place))
        if whiskers and word in whiskers:
            low, high = whiskers[word]
            ends: dict[str, Any] = {"x0": Field("x"), "y0": Field("low"), "x1": Field("x"), "y1": Field("high")}
            made.draw("Segment", {"x": x, "low": low, "high": high}, **ends, line_color=colour, line_width=1.5)
        made.draw("Scatter", drawn, shown, **fields("x", "y"), **_axes.filled(colour), size=6)
    if axes[0] == "log":
        _axes.log_numbers(made, [value for x, _ in given.values() for value in x])
    for axis, text in zip((made.x_axis, made.y_axis), labels, strict=True):
        axis.update(axis_label=_axes.plain_label(text, 80))
    made.legend_above()
    return made
