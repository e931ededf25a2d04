"""Of many results: a panel or a strip for each, with its name, and no name over another."""

from itertools import combinations

import pytest

from forebay import _plugins, figures
from forebay.figures import _style

pytestmark = pytest.mark.small

PANELS = {"usage": 0, "wait-by-size": 1, "waits": 2}


def painted(name, results, check):
    """Give what stands in a figure of many to `check`, as it is when it is written."""
    plan = _plugins.load("figures", name, "figure").plan(results)
    with _style.page(plan.width, plan.height) as figure:
        grid = figure.subplots(
            len(plan.heights), plan.columns, sharex=plan.one_clock, squeeze=False, height_ratios=list(plan.heights)
        ).ravel()
        for empty in set(range(len(grid))) - set(plan.places):
            grid[empty].remove()
        axes = grid[list(plan.places)]
        plan.paint(axes, lambda handles, columns: _style.legend(figure, handles, columns))
        figure.draw_without_rendering()
        check(figure, axes)


def drawn(own):
    """The numbers of an axis; those beyond its ends are not drawn."""
    low, high = sorted(own.get_view_interval())
    found = [tick.label1 for tick in own.get_major_ticks() if low <= tick.get_loc() <= high]
    return [text for text in found if text.get_visible() and text.get_text()]


def named(n, run):
    return {f"policy-{place}": run["a"] for place in range(n)}


@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.parametrize("name", PANELS)
def test_only_few_have_a_legend(name, n, run):
    def check(figure, axes):
        assert len(figure.legends) == (n == 8)
        few = {"usage": 3, "wait-by-size": 1, "waits": 2}[name]
        assert len(axes) == (few if n == 8 or not PANELS[name] else PANELS[name] * n)

    painted(name, named(n, run), check)


@pytest.mark.parametrize("n", [12, pytest.param(25, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", PANELS)
def test_every_result_has_its_name_and_no_two_overlap(name, n, run):
    def check(figure, axes):
        labels = list(named(n, run))
        if PANELS[name]:
            titles = [axis._left_title for axis in axes]
            assert [title.get_text() for title in titles] == labels * PANELS[name]
            assert all(axis.get_position().y1 <= 1 for axis in axes)
        else:
            assert [[text.get_text() for text in axis.get_yticklabels()] for axis in axes] == [labels] * len(axes)
            titles = [text for axis in axes for text in axis.get_yticklabels()]
        numbers = [
            text for axis in axes for own in (axis.xaxis, axis.yaxis)[: 2 if PANELS[name] else 1] for text in drawn(own)
        ]
        boxes = [text.get_window_extent() for text in (*titles, *numbers)]
        page = figure.bbox
        assert all(page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
        for one, other in combinations(boxes[: len(titles)], 2):
            assert not one.overlaps(other)
        if PANELS[name]:
            for one, other in combinations(boxes[len(titles) :], 2):
                assert not one.overlaps(other)

    painted(name, named(n, run), check)


@pytest.mark.parametrize("name", ["waits", "wait-by-size"])
def test_a_panel_has_its_own_line_above_all_others(name, run, runs):
    results = named(8, run) | {"other": runs["one-job"]}

    def check(figure, axes):
        for axis in axes:
            [own], [others] = axis.lines, axis.collections
            assert own.get_zorder() > others.get_zorder()
            assert len(others.get_paths()) <= len(results) - 1

    painted(name, results, check)


def test_in_axes_of_a_user(run):
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    axes = figures.plot("waits", named(9, run))
    assert len(axes) == 18
    assert {one.figure for one in axes} == {pyplot.gcf()}
    pyplot.close("all")


@pytest.mark.parametrize("name", figures.names())
def test_whatever_happened(name, runs, tmp_path):
    results = {f"{label}-{turn}": result for turn in range(2) for label, result in runs.items()}
    if name != "gantt":
        assert figures.draw(name, results, tmp_path / "a.svg")[0].exists()
    empty = {f"empty-{turn}": runs["empty"] for turn in range(9)}
    assert figures.draw(name, empty, tmp_path / "b.svg")[0].exists()
