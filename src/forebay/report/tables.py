"""Sections that any page may have: a table, dots with whiskers, lines. Nothing here knows what the numbers mean.

Text is escaped here: whoever calls gives it as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forebay.report.page import Section, escaped


@dataclass(frozen=True)
class Cell:
    """A cell that says better or worse by its colour too; `tone` is one of these words, or empty."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Dot:
    """A number with its interval; without one, `low` and `high` are None."""

    row: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""


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
    text, tone = (cell.text, cell.tone) if isinstance(cell, Cell) else (cell, "")
    kind = 'th scope="row"' if place == 0 else "td"
    return f"<{kind}{_class(right, tone)}>{escaped(text)}</{kind.split(' ', maxsplit=1)[0]}>"


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


def dots(title: str, name: str, given: Sequence[Dot], label: str, percent: bool = False) -> Section:
    """Dots with whiskers, a row each; a line at 0 where numbers are changes in percent.

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
    percent
        Whether values are shares, to be shown as changes in percent.
    """
    from bokeh.models import ColumnDataSource, HoverTool, Span

    from forebay.report import _axes

    factor = 100.0 if percent else 1.0
    names = list(dict.fromkeys(one.row for one in given))
    groups = list(dict.fromkeys(one.group for one in given))
    made = _axes.panel(58 + 24 * max(len(names), 2) + (26 if len(groups) > 1 else 0))
    for turn, group in enumerate(groups):
        some = [one for one in given if one.group == group]
        shift = 0.0 if len(groups) == 1 else 0.5 * (turn / (len(groups) - 1) - 0.5)
        source = ColumnDataSource(
            {
                "x": [factor * one.value for one in some],
                "y": [names.index(one.row) + shift for one in some],
                "low": [factor * (one.value if one.low is None else one.low) for one in some],
                "high": [factor * (one.value if one.high is None else one.high) for one in some],
            }
        )
        colour = _axes.COLOURS[turn % len(_axes.COLOURS)]
        made.segment("low", "y", "high", "y", source=source, line_color=colour, line_width=2)
        legend = {"legend_label": group} if len(groups) > 1 else {}
        dot = made.scatter("x", "y", source=source, color=colour, size=8, **legend)
        unit = " %" if percent else ""
        facts = [(label, f"@x{{0.[000]}}{unit}"), ("interval", f"@low{{0.[000]}} to @high{{0.[000]}}{unit}")]
        made.add_tools(HoverTool(renderers=[dot], tooltips=facts))
    if percent:
        made.add_layout(Span(location=0, dimension="height", line_color="#888888", line_dash="dashed"))
    _axes.rows(made, names)
    made.xaxis.axis_label = _axes.plain_label(label, 80)
    _finish(made)
    return Section(title, f'<div class="plot" id="plot-{name}"></div>', plots={f"plot-{name}": made})


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
    from forebay.report import _axes

    made = _axes.panel(330, x_axis_type=axes[0], y_axis_type=axes[1], tools="pan,xwheel_zoom,box_zoom,reset")
    made.toolbar.active_drag = None
    for place, (word, (x, y)) in enumerate(given.items()):
        shown = {"legend_label": word} if len(given) > 1 else {}
        made.line(list(x), list(y), **_axes.look(place), **shown)
        if whiskers and word in whiskers:
            low, high = whiskers[word]
            colour = _axes.COLOURS[place % len(_axes.COLOURS)]
            made.segment(list(x), list(low), list(x), list(high), line_color=colour, line_width=1.5)
        made.scatter(list(x), list(y), color=_axes.COLOURS[place % len(_axes.COLOURS)], size=6, **shown)
    if axes[0] == "log":
        _axes.log_numbers(made, [value for x, _ in given.values() for value in x])
    made.xaxis.axis_label, made.yaxis.axis_label = (_axes.plain_label(text, 80) for text in labels)
    _finish(made)
    return Section(title, f'<div class="plot" id="plot-{name}"></div>', plots={f"plot-{name}": made})


def _finish(made: Any) -> None:
    """The legend above the figure, where it hides nothing."""
    if made.legend:
        legend = made.legend[0]
        legend.update(
            orientation="horizontal", background_fill_color=None, border_line_color=None, padding=2, ncols="auto"
        )
        legend.label_text_font_size = "12px"
        made.add_layout(legend, "above")
