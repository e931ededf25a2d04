"""A page holds what it is given, as text: nothing of it is obeyed, and nothing else is needed to read it."""

import json
import re
from html.parser import HTMLParser

import pytest

from forebay.report import page, tables

pytestmark = pytest.mark.small

HOSTILE = "<script>alert(1)</script>"
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Reader(HTMLParser):
    """Elements that are closed in turn, scripts by their ids, and all text outside of them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.scripts, self.words, self.tags, self.links = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([given.get("id"), given.get("type"), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][2] += data
        else:
            self.words.append(data)


def written(tmp_path, *sections, title="A page", **more):
    path = page.write(tmp_path / "page.html", title, list(sections), **more)
    return path.read_text(encoding="utf-8")


def test_text_of_others_is_shown_and_never_run(tmp_path):
    table = tables.table(["policy", HOSTILE], [[HOSTILE, tables.Cell('"><img src=x onerror=alert(1)>', "better")]])
    text = written(tmp_path, page.Section(HOSTILE, table), title=HOSTILE, about=[HOSTILE])
    read = Reader(text)
    assert "img" not in read.tags
    assert not [code for _, _, code in read.scripts if "alert(1)" in code]
    assert "".join(read.words).count(HOSTILE) == 6  # title twice, about, heading, and two cells


def test_documents_come_back_as_they_were(tmp_path):
    given = {"label": "</script><script>alert(1)</script>", "n": [1, 2.5, None], "mark": "&lt; \u2028 é"}
    read = Reader(written(tmp_path, page.Section("Data", "", data={"mine": given})))
    (found,) = [code for name, _, code in read.scripts if name == "data-mine"]
    assert json.loads(found) == given


def test_numbers_that_are_not_finite_are_null():
    assert json.loads(page.as_script({"x": [float("nan"), float("inf"), 1.0]})) == {"x": [None, None, 1.0]}


def test_nothing_is_fetched(tmp_path):
    curve = tables.lines("Curve", "curve", {"a": ([1, 2], [3, 4]), "b": ([1, 2], [4, 3])}, ("nodes", "wait (h)"))
    read = Reader(written(tmp_path, page.Section("Text", "<p>x</p>"), curve, page.Section("End", "<p>y</p>")))
    assert all(link.startswith("#") for link in read.links)
    assert "link" not in read.tags


def test_a_page_without_figures_is_small(tmp_path):
    assert len(written(tmp_path, page.Section("Text", "<p>x</p>"))) < 20_000


@pytest.mark.parametrize("ratios", [True, False])
def test_dots_hold_their_numbers(tmp_path, ratios):
    """Changes are drawn as ratios: a half less at 0.5, half as much again at 1.5."""
    given = [tables.Dot("one", 0.5, 0.25, 0.75), tables.Dot("two", -0.5)]
    read = Reader(written(tmp_path, tables.dots("Dots", "dots", given, "change", ratios)))
    (items,) = [json.loads(code) for name, _, code in read.scripts if name == "data-plots"]
    text = json.dumps(items).replace(" ", "")
    assert f"[{0.25 + ratios},{-0.5 + ratios}]" in text
    assert ("LogScale" in text) is ratios


def test_what_falls_to_nothing_stands_at_the_end_of_the_axis(tmp_path):
    """A ratio of 0 has no place on a logarithmic axis."""
    given = [tables.Dot("one", -1.0, -1.2, -0.5), tables.Dot("two", 1.0)]
    read = Reader(written(tmp_path, tables.dots("Dots", "dots", given, "change", ratios=True)))
    (items,) = [json.loads(code) for name, _, code in read.scripts if name == "data-plots"]
    entries = {}
    _collect(items, entries)
    start = entries["start"][0]
    assert 0 < start < 0.5
    assert entries["x"] == [[start, 2.0]]
    assert entries["low"] == [[start, 2.0]]
    assert entries["high"] == [[0.5, 2.0]]


def _collect(value, found):
    """Columns of sources, and where the x-axis starts."""
    if isinstance(value, list):
        for one in value:
            _collect(one, found)
    elif isinstance(value, dict):
        for name, one in value.get("entries", ()) if value.get("type") == "map" else ():
            if isinstance(name, str):
                found.setdefault(name, []).append(one)
        if value.get("name") == "Range1d":
            found.setdefault("start", []).append(value["attributes"]["start"])
        for one in value.values():
            _collect(one, found)


def test_contents_are_there_once_there_is_something_to_find(tmp_path):
    parts = [page.Section(name, "<p>x</p>") for name in ("One", "Two", "Three")]
    assert Reader(written(tmp_path, *parts)).links == ["#section-1", "#section-2", "#section-3"]
    assert "nav" not in Reader(written(tmp_path, *parts[:2])).tags


def test_what_cannot_be_written_leaves_what_was_there(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(TypeError):
        page.write(path, "A page", [page.Section("Data", "", data={"mine": {"x": object()}})])
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_names_that_look_like_formulas_stay_names(tmp_path):
    given = [tables.Dot("$$x^2$$", 1.0), tables.Dot("plain", 2.0)]
    items = re.search(r'id="data-plots">(.*?)</script>', written(tmp_path, tables.dots("Dots", "dots", given, "x")))[1]
    assert '"name":"PlainText"' in items
