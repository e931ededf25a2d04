"""A page of sections in one HTML file that needs nothing else: no network, no server, no folder beside it.

A table and a curve make a page:

    page.write(path, "A sweep", [tables.table("Verdicts", ...), tables.lines("Mean wait", ...)])

Whatever comes from files of others is data here: text is escaped, and JSON is written so that no browser finds the end
of a script in it.
"""

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from forebay._support.files import replacing
from forebay._support.text import plain
from forebay.report import _models


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Parameters
    ----------
    title
        Plain text.
    html
        What the section shows; text in it has been through `escaped`.
    script
        JavaScript that runs once the page is there.
    data
        Documents by name: `forebay.data(name)` gives a script what it finds here.
    packed
        Columns by name, as `forebay.report._columns.pack` gives them; nothing is spent on them until a script asks.
    plots
        Models of Bokeh's by the id of the element that they fill: `forebay.report._models`.
    """

    title: str
    html: str
    script: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    packed: Mapping[str, str] = field(default_factory=dict)
    plots: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """What `write` is given: a title, sections from top to bottom, and lines below the title."""

    title: str
    sections: Sequence[Section]
    about: Sequence[str] = ()


def escaped(text: object) -> str:
    """Text of anyone as HTML that shows it: markup in it is seen, never obeyed."""
    return html.escape(plain(str(text)))


def as_script(document: Any) -> str:
    """A document as JSON that may stand in a page: the same values, and no character that ends a script."""
    try:
        text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError):  # numbers that JSON lacks, which become null, or mappings that are no dict
        text = json.dumps(_finite(document), separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write(path: Path, title: str, sections: Sequence[Section], about: Sequence[str] = ()) -> Path:
    """Write a page, whole or not at all.

    Parameters
    ----------
    path
        The file.
    title
        Of the page, plain text.
    sections
        From top to bottom.
    about
        Lines below the title, plain text.

    Returns
    -------
    Path
        The file.
    """
    text = _text(title, sections, about)
    with replacing(path) as [temporary]:
        temporary.write_text(text, encoding="utf-8")
    return path


def _text(title: str, sections: Sequence[Section], about: Sequence[str]) -> str:
    places = [f"section-{place}" for place in range(1, len(sections) + 1)]
    links = [f'<a href="#{place}">{escaped(one.title)}</a>' for place, one in zip(places, sections, strict=True)]
    bodies = [
        f'<section id="{place}" aria-labelledby="{place}-title"><h2 id="{place}-title">{escaped(one.title)}</h2>\n'
        f"{one.html}\n</section>"
        for place, one in zip(places, sections, strict=True)
    ]
    plots = [(name, model) for one in sections for name, model in one.plots.items()]
    return Template(asset("page.html")).substitute(
        title=escaped(title),
        style=asset("page.css"),
        about="\n".join(f"<p>{escaped(line)}</p>" for line in about),
        contents="\n".join(['<nav aria-label="sections">', *links, "</nav>"]) if len(links) > 2 else "",
        sections="\n".join(bodies),
        data="\n".join(_data(sections, plots)),
        library="\n".join(f"<script>{code}</script>" for code in (_library() if plots else ())),
        scripts="\n".join(f"<script>{code}</script>" for code in _scripts(sections)),
    )


def _data(sections: Sequence[Section], plots: Sequence[tuple[str, Any]]) -> list[str]:
    """Elements that a browser keeps as text: JSON, and packed columns."""
    documents = {name: document for one in sections for name, document in one.data.items()}
    if plots:
        documents["plots"] = _models.items(plots)
    packed = {name: text for one in sections for name, text in one.packed.items()}
    texts = {name: as_script(document) for name, document in documents.items()}
    return [
        *(f'<script type="application/json" id="data-{name}">{text}</script>' for name, text in texts.items()),
        *(f'<script type="text/plain" id="packed-{name}">{text}</script>' for name, text in packed.items()),
    ]


def _scripts(sections: Sequence[Section]) -> list[str]:
    return [asset("page.js"), *(one.script for one in sections if one.script), "forebay.begin();"]


@cache
def asset(name: str) -> str:
    """A file that pages are made of."""
    return (files("forebay.report") / "assets" / name).read_text(encoding="utf-8")


@cache
def _library() -> tuple[str, ...]:
    return tuple(map(_closed, _models.library()))


def _closed(code: str) -> str:
    """A script that may stand in a page."""
    return code.replace("</script", "<\\/script")
