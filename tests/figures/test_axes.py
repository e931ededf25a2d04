"""Figures in a user's own Axes: they come back, several stand side by side, and nothing is written."""

import matplotlib as mpl
import pytest

from forebay import figures
from forebay.errors import InputError

pytestmark = pytest.mark.small

PANELS = {"gantt": 3, "letter-values": 1, "usage": 3, "wait-by-size": 1, "waits": 2}


@pytest.fixture
def plt():
    mpl.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def listed(axes):
    return [axes] if not hasattr(axes, "__len__") else list(axes)


@pytest.mark.parametrize("name", PANELS)
def test_without_axes_it_makes_a_figure(name, run, plt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    axes = figures.plot(name, run)
    assert len(listed(axes)) == PANELS[name]
    assert {one.figure for one in listed(axes)} == {plt.gcf()}
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", PANELS)
def test_two_side_by_side(name, run, plt):
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    one, other = listed(figures.plot(name, run, ax=left)), listed(figures.plot("waits", run, ax=right))
    assert set(figure.axes) == {*one, *other}
    figure.draw_without_rendering()
    assert max(axes.get_position().x1 for axes in one) < min(axes.get_position().x0 for axes in other)


@pytest.mark.parametrize("name", PANELS)
def test_as_many_axes_as_panels(name, run, plt):
    _, axes = plt.subplots(PANELS[name], 2, squeeze=False)
    assert listed(figures.plot(name, run, ax=axes[:, 1])) == list(axes[:, 1])
    assert all(one.has_data() for one in axes[:, 1])
    assert not any(one.has_data() for one in axes[:, 0])


def test_panels_over_time_share_their_axis(run, plt):
    _, axes = plt.subplots(3, 1)
    figures.plot("usage", run, ax=axes)
    assert axes[0].get_xlim() == axes[-1].get_xlim()


def test_settings_of_the_user_count_and_stay(run, plt):
    with mpl.rc_context({"axes.labelsize": 20}):
        axes = figures.plot("letter-values", run)
        assert mpl.rcParams["axes.labelsize"] == 20
    assert axes.xaxis.label.get_fontsize() == 20


@pytest.mark.parametrize(
    ("name", "count", "says"),
    [("usage", 2, "has 3 panels and is given 2 Axes"), ("letter-values", 2, "has 1 panel and is given 2 Axes")],
)
def test_wrong_numbers_of_axes_are_refused(name, count, says, run, plt):
    with pytest.raises(InputError, match=says):
        figures.plot(name, run, ax=plt.subplots(count, 1)[1])


def test_other_things_are_refused(run, runs, plt):
    with pytest.raises(InputError, match="ax is 3, of type int; give Axes of matplotlib"):
        figures.plot("waits", run, ax=3)
    with pytest.raises(InputError, match="in no grid to divide"):
        figures.plot("waits", run, ax=plt.figure().add_axes([0, 0, 1, 1]))
    with pytest.raises(InputError, match="a schedule is of one run, and 6 are given"):
        figures.plot("gantt", runs)
