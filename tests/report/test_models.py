"""Bokeh's own classes read what pages hand to its browser library; they refuse what they do not know."""

import json
import logging

import numpy as np
import pytest
from bokeh.core.serialization import Deserializer
from bokeh.document import Document
from bokeh.models import GlyphRenderer, LegendItem, Range1d, Step

from forebay.errors import ForebayError
from forebay.report import _models, page, tables, write
from forebay.report._models import Field, Figure, Model, fields, source
from report.test_page import Reader
from report.test_pages import CURVE, compiled, forebay, saved, study, swept  # noqa: F401 - fixtures

pytestmark = pytest.mark.small


class Complaints(logging.Handler):
    """An attribute that it does not know, Bokeh only warns of."""

    def emit(self, record):
        raise ValueError(record.getMessage())


@pytest.fixture(autouse=True)
def _strict():
    log, handler = logging.getLogger("bokeh"), Complaints(logging.WARNING)
    log.addHandler(handler)
    log.setLevel(logging.WARNING)
    logging.disable(logging.NOTSET)
    for name in list(logging.root.manager.loggerDict):  # other packages may have silenced whatever was there
        if name.partition(".")[0] == "bokeh":
            logging.getLogger(name).disabled, logging.getLogger(name).propagate = False, True
    yield
    log.removeHandler(handler)


def opened(document):
    found = Document()
    for root in Deserializer().deserialize(document)["roots"]:
        found.add_root(root)
    return found


def documents(path):
    """Every figure of a page, read by Bokeh, by the element that it fills."""
    read = Reader(path.read_text(encoding="utf-8"))
    (text,) = [code for name, _, code in read.scripts if name == "data-plots"]
    return {item["target_id"]: opened(item["doc"]) for item in json.loads(text)}


def read_back(root):
    (item,) = json.loads(page.as_script(_models.items([("here", root)])))
    return opened(item["doc"]).roots[0]


def test_bokeh_reads_every_figure_of_a_comparison(small, tmp_path):
    found = documents(write(small, tmp_path / "report.html"))
    assert {"plot-change-0", "plot-letters", "plot-tails", "plot-schedule"} <= set(found)
    lanes = found["plot-schedule"].roots[0].children
    assert {lane.x_range.name for lane in lanes} == {"clock"}
    assert len({id(lane.x_range) for lane in lanes}) == 1  # so that they move together
    steps = [one.glyph for one in found["plot-tails"].select({"type": GlyphRenderer}) if isinstance(one.glyph, Step)]
    labels = [one.label.value for one in found["plot-tails"].select({"type": LegendItem})]
    assert sorted(labels) == ["fcfs", "fcfs-bb", "fcfs-easy"]
    assert len({(one.line_color, tuple(one.line_dash)) for one in steps}) == 3


@pytest.mark.parametrize("kind", ["capacity", "sweep"])
def test_bokeh_reads_the_figures_of_other_pages(request, tmp_path, kind):
    folder = saved(tmp_path / "out", "capacity.json", CURVE) if kind == "capacity" else request.getfixturevalue("swept")
    assert documents(write(folder, tmp_path / "report.html"))


def test_lines_with_intervals_on_logarithmic_axes(tmp_path):
    given = {"a": ([1, 10], [3, 4]), "b": ([1, 10], [4, 3])}
    made = tables.lines("Curve", "curve", given, ("x", "y"), ("log", "log"), {"a": ([2, 3], [4, 5])})
    found = documents(page.write(tmp_path / "page.html", "A page", [made]))["plot-curve"]
    drawn = [one.glyph.__class__.__name__ for one in found.select({"type": GlyphRenderer})]
    assert sorted(drawn) == ["Line", "Line", "Scatter", "Scatter", "Segment"]
    assert [len(one.renderers) for one in found.select({"type": LegendItem})] == [2, 2]


def test_values_come_back():
    figure = Figure(x_range=Model("Range1d", start=-np.inf, end=2.5, bounds=(0, 3)), height=100)
    rows = source({"x": np.array([1.5, np.nan]), "y": [1, 2], "shade": [0, 1]}, "rows")
    mapper = Model("LinearColorMapper", palette=["#000000", "#ffffff"], low=0, high=1)
    figure.draw("Scatter", rows, "$$x$$", **fields("x", "y"), fill_color=Field("shade", mapper), size=4)
    found = read_back(figure.model)
    assert (found.x_range.start, found.x_range.end, tuple(found.x_range.bounds)) == (-np.inf, 2.5, (0, 3))
    (drawn,) = found.renderers
    assert drawn.data_source.data["x"] == pytest.approx([1.5, np.nan], nan_ok=True)
    assert drawn.glyph.fill_color["field"] == "shade"
    assert drawn.glyph.fill_color["transform"].palette == ["#000000", "#ffffff"]


@pytest.mark.parametrize("wrong", [{"no_such_thing": 1}, {"height": "high"}, {"x_range": Model("NoSuchRange")}])
def test_what_bokeh_does_not_know_is_refused(wrong):
    """Else the tests above would prove nothing."""
    made = Figure()
    made.model.update(**wrong)
    with pytest.raises(Exception, match=r"no_such_thing|height|NoSuchRange"):
        read_back(made.model)


def test_a_model_met_twice_is_one():
    clock = Model("Range1d", start=0, end=1)
    found = read_back(Model("Column", children=[Figure(x_range=clock).model, Figure(x_range=clock).model]))
    one, two = (child.x_range for child in found.children)
    assert one is two
    assert isinstance(one, Range1d)


def test_a_library_that_is_not_there_is_said(tmp_path, monkeypatch):
    _models.library.cache_clear()
    monkeypatch.setattr(_models, "SCRIPTS", ("none.js",))
    with pytest.raises(ForebayError, match=r"none\.js is missing"):
        _models.library()
    monkeypatch.setattr(_models, "find_spec", lambda name: None)
    with pytest.raises(ForebayError, match="bokeh is not installed"):
        _models.library()
