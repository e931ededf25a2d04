"""Figures as the documents that Bokeh's browser library reads, written without Bokeh's Python classes.

A page needs the library, not the classes: to import them and to build some hundreds of models took longer than all else
that a report is made of. What a model is not given, the library knows. Bokeh itself reads these documents in the tests,
and refuses a name or a value that it does not know.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from forebay.errors import ForebayError

_LEGEND = 60
"""Letters across a legend, with five for each line beside a label: a narrow screen has room for so many."""
SCRIPTS = ("bokeh.min.js", "bokeh-gl.min.js")
"""The library itself, and its part that draws with the graphics card."""
Columns = Mapping[str, Any]
"""Numbers by name: lists or arrays."""


class Model:
    """A model of Bokeh's by its name there, and what it is given."""

    def __init__(self, kind: str, /, **attributes: Any) -> None:
        self.kind = kind
        self.attributes = attributes

    def update(self, **attributes: Any) -> None:
        """Tell it more, or something else."""
        self.attributes |= attributes


class Field:
    """A column of a source, where a glyph may have a value of its own for every row; a mapper makes colours of it."""

    def __init__(self, name: str, mapper: Model | None = None) -> None:
        self.name = name
        self.mapper = mapper


def fields(*names: str) -> dict[str, Any]:
    """Attributes of a glyph that are the columns of the same names."""
    return {name: Field(name) for name in names}


class Value:
    """A value as it is, where Bokeh would take plain text for the name of a column."""

    def __init__(self, value: Any) -> None:
        self.value = value


def source(columns: Columns, name: str | None = None) -> Model:
    """Columns that glyphs draw."""
    return Model("ColumnDataSource", data=dict(columns), **({} if name is None else {"name": name}))


class Figure:
    """A figure with its axes, to be drawn into.

    Parameters
    ----------
    x_range, y_range
        Ranges; by default as wide as what is drawn.
    scales
        Of x and of y: linear or log.
    attributes
        What else Bokeh's figure is given.
    """

    def __init__(
        self,
        x_range: Model | None = None,
        y_range: Model | None = None,
        scales: tuple[str, str] = ("linear", "linear"),
        **attributes: Any,
    ) -> None:
        self.x_axis, self.y_axis = (_axis(kind) for kind in scales)
        self.x_grid, self.y_grid = Model("Grid", axis=self.x_axis), Model("Grid", axis=self.y_axis, dimension=1)
        self.title = Model("Title")
        self.tools: list[Model] = []
        self.toolbar = Model("Toolbar", tools=self.tools, logo=None)
        self._labels: dict[str, Model] = {}
        self._center = [self.x_grid, self.y_grid]
        self._renderers: list[Model] = []
        self.model = Model(
            "Figure",
            x_range=x_range or Model("DataRange1d"),
            y_range=y_range or Model("DataRange1d"),
            x_scale=_scale(scales[0]),
            y_scale=_scale(scales[1]),
            title=self.title,
            toolbar=self.toolbar,
            renderers=self._renderers,
            left=[self.y_axis],
            below=[self.x_axis],
            center=self._center,
            **attributes,
        )

    def draw(self, glyph: str, columns: Columns | Model, label: str = "", **attributes: Any) -> Model:
        """Draw the rows of a source, and say in the legend what they are.

        Parameters
        ----------
        glyph
            Its name in Bokeh: Quad, Scatter, Segment, Line, Step, VAreaStep.
        columns
            A source, or columns for one of its own.
        label
            In the legend; a label that stands there already gets the glyph too.
        attributes
            Of the glyph; a Field where rows differ.
        """
        drawn = columns if isinstance(columns, Model) else source(columns)
        renderer = Model("GlyphRenderer", data_source=drawn, glyph=Model(glyph, **attributes))
        self._renderers.append(renderer)
        if label:
            self._label(label, renderer)
        return renderer

    def add(self, annotation: Model) -> None:
        """Put something over what is drawn."""
        self._center.append(annotation)

    def legend_above(self) -> None:
        """The legend above the figure, where it hides nothing; none where nothing is labelled."""
        if self._labels:
            longest = max(len(label) for label in self._labels)
            legend = Model(
                "Legend",
                items=list(self._labels.values()),
                orientation="horizontal",
                background_fill_color=None,
                border_line_color=None,
                padding=2,
                ncols=max(1, min(len(self._labels), _LEGEND // (longest + 5))),
                label_text_font_size="12px",
            )
            self.model.update(above=[legend])

    def _label(self, label: str, renderer: Model) -> None:
        if label not in self._labels:
            self._labels[label] = Model("LegendItem", label=Value(label), renderers=[])
        self._labels[label].attributes["renderers"].append(renderer)


def _scale(kind: str) -> Model:
    return Model("LogScale" if kind == "log" else "LinearScale")


def _axis(kind: str) -> Model:
    return Model("LogAxis" if kind == "log" else "LinearAxis")


def items(figures: Sequence[tuple[str, Model]]) -> list[dict[str, Any]]:
    """A document of each figure by the id of the element that it fills, for `Bokeh.embed.embed_item`."""
    found = []
    numbers = iter(range(1, 10**9))
    for target, root in figures:
        roots = [_encoded(root, {}, numbers)]
        document = {"version": library_version(), "title": "", "roots": roots}
        found.append({"target_id": target, "root_id": roots[0]["id"], "doc": document})
    return found


def _encoded(value: Any, known: dict[int, str], numbers: Iterator[int]) -> Any:
    """A value as Bokeh writes it; a model is written where it is met first, and named by its id from then on."""
    if isinstance(value, Model):
        if id(value) in known:
            return {"id": known[id(value)]}
        name = known[id(value)] = f"p{next(numbers)}"
        attributes = {key: _encoded(one, known, numbers) for key, one in value.attributes.items()}
        return {"type": "object", "name": value.kind, "id": name, **({"attributes": attributes} if attributes else {})}
    if isinstance(value, Field):
        mapper = {} if value.mapper is None else {"transform": _encoded(value.mapper, known, numbers)}
        return {"type": "field", "field": value.name, **mapper}
    if isinstance(value, Value):
        return {"type": "value", "value": value.value}
    if isinstance(value, Mapping):
        pairs = [[_encoded(key, known, numbers), _encoded(one, known, numbers)] for key, one in value.items()]
        return {"type": "map", "entries": pairs}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_encoded(one, known, numbers) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": "number", "value": "nan" if math.isnan(value) else f"{'+' if value > 0 else '-'}inf"}
    return value


@cache
def library_version() -> str:
    """The version of Bokeh that is installed."""
    return version("bokeh")


@cache
def library() -> tuple[str, ...]:
    """The scripts of Bokeh's browser library, found without importing the package."""
    found = find_spec("bokeh")
    if found is None or found.origin is None:
        raise ForebayError("bokeh is not installed, and draws the figures of reports; pip install bokeh")
    folder = Path(found.origin).parent / "server" / "static" / "js"
    try:
        return tuple((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)
    except OSError:
        raise ForebayError(
            f"{folder}: {' or '.join(SCRIPTS)} is missing; pip install --force-reinstall bokeh"
        ) from None
