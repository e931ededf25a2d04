"""The line that says of what a figure was drawn: it is there, it is right, and it covers nothing."""

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from forebay import figures
from forebay.figures import _header, _look
from forebay.metrics.window import window

pytestmark = pytest.mark.small

MACHINE = {"name": "cluster", "text": "cluster (4 nodes)"}
LONG = "a-name-that-somebody-took-much-time-to-think-of-and-others-much-to-read"
each = pytest.mark.parametrize("name", figures.names())


@pytest.fixture
def told(runs):
    """A result that tells where it comes from."""

    def make(workload="kth", policy="fcfs-bb", machine=MACHINE):
        return replace(runs["normal"], facts={"workload": workload, "policy": policy, "platform": machine})

    return make


def test_workload_machine_policy_and_period(told):
    result = told()
    assert _header.about({"x": result}) == ["kth", "cluster, 4 nodes", "fcfs-bb", "4 jobs over 20 s"]
    assert _header.about({"x": window(result, 0, 15)})[-1] == "3 jobs of 0 s to 15 s"
    assert _header.about({"fcfs-bb": result}, "fcfs-bb") == ["kth", "cluster, 4 nodes", "4 jobs over 20 s"]


def test_of_several_runs_what_they_share(told):
    both = {"a": told(), "b": told(policy="fcfs")}
    assert _header.about(both) == ["kth", "cluster, 4 nodes", "4 jobs over 20 s"]
    both["b"] = told("ctc", machine={"name": "other"})
    assert _header.about(both) == ["2 workloads", "2 machines", "4 jobs over 20 s"]


def test_a_result_that_tells_nothing_has_no_line(runs):
    assert _header.about({"x": runs["normal"]}) == []


def test_names_are_one_line(told):
    assert _header.about({"x": told("a\nb\x1b[1m")})[0] == "a b [1m"


@pytest.mark.parametrize(("length", "text"), [(9, "abcdefghi"), (8, "abcd…ghi"), (5, "ab…hi")])
def test_names_lose_their_middle(length, text):
    assert _look.shortened("abcdefghi", length) == text


@each
def test_it_is_in_every_figure(name, told, tmp_path):
    files = figures.draw(name, {"fcfs-bb": told()}, tmp_path / "a.svg")
    assert ">kth · cluster, 4 nodes · " in files[0].read_text(encoding="utf-8")


@each
@pytest.mark.parametrize(
    ("many", "long"),
    [(1, True), (9, True), *(pytest.param(*one, marks=pytest.mark.full) for one in ((1, 0), (3, 0), (3, 1), (9, 0)))],
)
def test_it_covers_nothing_and_is_not_cut_off(name, many, long, told, tmp_path, monkeypatch):
    drawn, save = [], Figure.savefig

    def spy(figure, *arguments, **options):
        drawn.append(figure)
        boxes = [text.get_window_extent() for text in figure.texts]
        others = [legend.get_window_extent() for legend in figure.legends]
        others += [axis.get_tightbbox() for axis in figure.axes]
        for place, box in enumerate(boxes):
            assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1
            assert not [other for other in (*others, *boxes[place + 1 :]) if box.overlaps(other)]
        for legend in figure.legends:
            assert legend.get_window_extent().x0 >= 0
            assert legend.get_window_extent().x1 <= figure.bbox.x1
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", spy)
    result = told(LONG, LONG, {"name": LONG}) if long else told()
    many = 1 if name == "gantt" else many  # a picture each
    labels = [f"{LONG if long else 'policy'}-{place}" for place in range(many)]
    figures.draw(name, dict.fromkeys(labels, result), tmp_path / "a.png")
    assert drawn
    assert all(figure.texts for figure in drawn)
