"""The numbers behind pictures, solved by hand; the run is in conftest."""

import numpy as np
import polars as pl
import pytest

from cases.tiered_by_hand import job, run, steps
from forebay import figures
from forebay.figures import _steps
from forebay.figures._waits import depth, letter_values

pytestmark = pytest.mark.small


@pytest.fixture
def data(tmp_path):
    """The CSV of a figure, by what stands after its name."""

    def read(name, results, which=""):
        figures.draw(name, results, tmp_path / f"{name}.svg")
        return pl.read_csv(tmp_path / f"{name}{which}.csv")

    return read


def test_gantt_has_a_rectangle_for_each_interval(data, run):
    rows = data("gantt", run).select("job", "first_node", "last_node", "start", "end", "wait").rows()
    assert rows == [(1, 0, 0, 0, 100, 0), (1, 2, 2, 0, 100, 0), (2, 0, 3, 100, 150, 100), (3, 1, 1, 20, 60, 10)]


def test_gantt_lanes(data, run):
    lanes = data("gantt", run, "-lanes")
    steps = {name: lanes.filter(pl.col("lane") == name).select("time", "value").rows() for name in lanes["lane"]}
    assert steps == {
        "bb": [(0, 4e12), (20, 10e12), (60, 4e12), (100, 0)],
        "file system read": [(0, 1e8), (10, 0)],
        "file system write": [(50, 5e7), (90, 0)],
    }


def test_several_schedules_are_several_pictures(tmp_path, runs):
    both = {"fcfs:a": runs["normal"], "b": runs["one-job"]}
    files = figures.draw("gantt", both, tmp_path / "gantt.svg")
    pictures = [file.name for file in files if file.suffix == ".svg"]
    assert pictures == ["gantt-fcfs_a.svg", "gantt-b.svg"]


def test_usage(data, run):
    table = data("usage", run)
    steps = {name: table.filter(pl.col("panel") == name).select("time", "value").rows() for name in table["panel"]}
    assert steps == {
        "queue": [(0, 4), (10, 5), (20, 4), (100, 0), *()],
        "nodes": [(0, 50), (20, 75), (60, 50), (100, 100), (150, 0)],
        "bb": [(0, 40), (20, 100), (60, 40), (100, 0)],
    }


def test_waits(data, run):
    third = pytest.approx(1 / 3, abs=1e-6)
    rows = data("waits", run).rows()
    assert [row[:2] for row in rows] == [("a", 0), ("a", 10), ("a", 100)]
    assert rows[0][2] == third
    assert rows[1][3] == third
    assert rows[2][2:] == (1, 0)


def test_long_curves_are_thinned_and_keep_their_ends(data, runs):
    from forebay.figures.waits import MOST
    from forebay.figures.waits import curve as curve_of

    waits = np.random.default_rng(1).exponential(3600, 20_000)
    curve = curve_of("x", waits)
    assert curve.height <= MOST + 2
    assert curve["wait"][0] == waits.min()
    assert curve["wait"][-1] == waits.max()
    exact = [(waits <= wait).mean() for wait in curve["wait"]]
    np.testing.assert_allclose(curve["share_at_most"], exact)
    assert np.diff(curve["share_at_most"]).max() < 0.01


def test_letter_values_of_1_to_33():
    # 33 numbers are worth floor(log2(33 / 7.68)) + 1 = 3 letters: the median, the fourths, the eighths.
    assert depth(33) == 3
    assert letter_values(np.arange(1.0, 34.0)) == [(0.0, 17, 17), (0.5, 9, 25), (0.75, 5, 29)]
    assert [depth(n) for n in (0, 1, 7, 15, 16, 3000)] == [0, 1, 1, 1, 2, 9]


def test_letter_values_data(data, run):
    assert data("letter-values", run).rows() == [("a", 3, 0, 10, 10)]


def test_wait_by_size(data, run):
    table = data("wait-by-size", run).select("result", "size_class", "n", "mean_wait")
    assert table.rows() == [("a", "1", 1, 10), ("a", "2-4", 2, 50)]


def test_means_over_intervals():
    steps = np.array([5.0, 10.0, 30.0]), np.array([2.0, 4.0, 0.0])
    # From 0 to 10: 5 s of 0, 5 s of 2; to 20: 4; to 30: 4; to 40: 0.
    times, means = _steps.averaged(steps, 0.0, 35.0, 10.0)
    assert times.tolist() == [0, 10, 20, 30]
    assert means.tolist() == [1, 4, 4, 0]


def test_later_legs_wait_for_the_nodes_they_take(runs):
    from dataclasses import replace

    rows = [
        (0.0, 1, "submit", 0, "nodes", 3, "none"),
        (5.0, 1, "start", 0, "nodes", 0, "none"),
        (10.0, 1, "end", 0, "nodes", 0, "none"),
        (10.0, 1, "queue", 1, None, 0, "none"),
        (40.0, 1, "start", 1, "nodes", 2, "none"),
    ]
    log = pl.DataFrame(rows, schema=runs["normal"].log.schema, orient="row")
    times, nodes = _steps.queued_nodes(replace(runs["normal"], log=log))
    assert (times.tolist(), nodes.tolist()) == ([0, 5, 10, 40], [3, 0, 2, 0])


def test_what_is_staged_and_what_is_read_leaves_the_file_system(tmp_path):
    # Job 1 is staged to fast storage, 8 B in 4 s; job 2 reads 8 B from slow storage in 8 s. What job 1 fetches from
    # fast storage is not in the lane.
    phases = steps(1, read=8, compute=10) + steps(2, read=8, compute=10)
    result = run([job(1, 18, fast=10), job(2, 18, fast=10)], phases)
    figures.draw("gantt", {"sas": result}, tmp_path / "gantt.svg")
    lanes = pl.read_csv(tmp_path / "gantt-lanes.csv")
    assert set(lanes["lane"]) == {"fast", "file system read"}
    assert lanes.filter(pl.col("lane") == "file system read").select("time", "value").rows() == [(0, 3), (4, 1), (8, 0)]
