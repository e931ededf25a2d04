"""The contract of figures: whatever the runs, a picture and its data, the same bytes each time, or nothing at all."""

import polars as pl
import pytest

from forebay import _plugins, figures
from forebay.errors import InputError

pytestmark = pytest.mark.small

NAMES = figures.names()
each = pytest.mark.parametrize("name", NAMES)


def test_all_are_found():
    assert {"gantt", "letter-values", "usage", "wait-by-size", "waits"} <= set(NAMES)


@each
def test_it_says_what_it_is(name):
    assert len(_plugins.load("figures", name, "figure").DESCRIPTION) > 20


@each
@pytest.mark.parametrize("which", ["normal", "one-job", "no-length", "rejected", "no-wait", "empty", "all"])
def test_it_draws_whatever_happened(name, which, runs, tmp_path):
    results = runs if which == "all" else {which: runs[which]}
    files = figures.draw(name, results, tmp_path / f"{name}.svg")
    assert sorted(files) == sorted(tmp_path.iterdir())
    assert files[0].suffix == ".svg"
    assert "</svg>" in files[0].read_text(encoding="utf-8")
    tables = [file for file in files if file.suffix == ".csv"]
    assert tables
    for table in tables:
        assert len(pl.read_csv(table).columns) > 2


@each
@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_twice_the_same_bytes(name, kind, run, tmp_path):
    first = {file: file.read_bytes() for file in figures.draw(name, run, tmp_path / f"a.{kind}")}
    for _ in range(4 if kind == "svg" else 1):
        assert first == {file: file.read_bytes() for file in figures.draw(name, run, tmp_path / f"a.{kind}")}
    head = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind]
    assert first[tmp_path / f"a.{kind}"].startswith(head)


@each
def test_settings_of_the_user_neither_count_nor_change(name, run, tmp_path):
    import matplotlib as mpl

    plain = figures.draw(name, run, tmp_path / "a.svg")[0].read_bytes()
    with mpl.rc_context({"font.size": 20, "axes.grid": True}):
        assert figures.draw(name, run, tmp_path / "b.svg")[0].read_bytes() == plain
        assert mpl.rcParams["font.size"] == 20


@each
def test_labels_may_hold_anything(name, run, tmp_path):
    figures.draw(name, {"my $policy$_x^: <a&b>/c": run["a"], "$": run["a"]}, tmp_path / "a.png")


@each
def test_a_failure_leaves_nothing(name, run, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", fail)
    with pytest.raises(InputError, match="No space left"):
        figures.draw(name, run, tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []


def test_unknown_names_and_endings(run, tmp_path):
    with pytest.raises(InputError, match="unknown figure 'gant': did you mean 'gantt'"):
        figures.draw("gant", run, tmp_path / "a.svg")
    with pytest.raises(InputError, match="svg, pdf, png"):
        figures.draw("waits", run, tmp_path / "a.jpg")
    with pytest.raises(InputError, match="no run to draw"):
        figures.draw("waits", {}, tmp_path / "a.svg")


@each
def test_long_labels_are_not_cut_off(name, run, tmp_path):
    """Text is wider at the picture's resolution than at that of a screen: the margins must be measured for it."""
    import matplotlib.image

    labels = [f"{word}-parallelism-of-a-kind" for word in ("cerberus", "window", "constrained", "weighted", "naive")]
    picture = figures.draw(name, dict.fromkeys(labels, run["a"]), tmp_path / "a.png")[0]
    for edge in (0, -1):
        assert (matplotlib.image.imread(picture)[:, edge, :3] == 1).all()
