"""Figures at the widths of papers: as wide as asked for, text as large as ever, fonts in the file."""

import re

import matplotlib as mpl
import matplotlib.image
import matplotlib.pyplot as plt
import pytest

from forebay import figures
from forebay.errors import InputError
from forebay.figures import _look

pytestmark = pytest.mark.small


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("given", "inches"),
    [*_look.WIDTHS.items(), ("IEEE_Column", 3.5), ("4.25", 4.25), (5, 5.0), (6.5, 6.5)],
)
def test_names_and_inches(given, inches):
    assert _look.inches(given) == inches


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("ieee-colum", "did you mean 'ieee-column'"),
        ("-3", "neither a number of inches nor that of a paper: known: acm-column"),
        (1, "give 2 to 40"),
        (float("nan"), "give 2 to 40"),
        (True, "the width is True"),
        (None, "the width is None"),
    ],
)
def test_what_is_no_width(given, message):
    with pytest.raises(InputError, match=message):
        _look.inches(given)


@pytest.mark.parametrize("name", figures.names())
@pytest.mark.parametrize("width", ["acm-column", pytest.param("ieee-page", marks=pytest.mark.full)])
def test_files_are_as_wide(name, width, run, tmp_path):
    picture = figures.draw(name, run, tmp_path / "a.png", width)[0]
    assert matplotlib.image.imread(picture).shape[1] == round(300 * _look.inches(width))
    text = figures.draw(name, run, tmp_path / "a.svg", width)[0].read_text(encoding="utf-8")
    assert "8px" in re.findall(r"font-size: (\d+px)", text)
    assert "1 job" not in text, "the line above is for the caption"


def test_pdf_files_hold_their_fonts(run, tmp_path):
    pdf = figures.draw("waits", run, tmp_path / "a.pdf", "ieee-column")[0].read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_plots_of_a_width_have_our_look_and_leave_no_trace(run):
    with mpl.rc_context({"font.size": 20}):
        axes = figures.plot("letter-values", run, width="ieee-column")
        assert axes.figure.get_figwidth() == 3.5
        assert axes.xaxis.label.get_fontsize() == 8
        assert {tick.get_fontsize() for tick in axes.get_xticklabels()} == {7}
        assert mpl.rcParams["font.size"] == 20
    with pytest.raises(InputError, match="ax has a width of its own"):
        figures.plot("letter-values", run, ax=axes, width=5)


def test_many_panels_need_a_page(run, tmp_path):
    many = {str(k): run["a"] for k in range(9)}
    with pytest.raises(InputError, match="18 panels do not fit"):
        figures.draw("waits", many, tmp_path / "a.svg", "ieee-column")
    assert list(tmp_path.iterdir()) == []
    assert figures.draw("waits", many, tmp_path / "a.svg", "ieee-page")
