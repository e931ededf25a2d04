"""Ours beside published, by hand."""

import pytest

from forebay.studies import _tables
from forebay.studies._expected import Expected, Published
from forebay.studies._tables import WAIT, Cell

pytestmark = pytest.mark.small


def row(part, policy, replica, wait, seed=0):
    tags = {"section": "parts", "job_model": "m", "part": part, "policy": policy, "replica": replica, "seed": seed}
    return tags | {"mean_waiting_time": wait}


ROWS = [row(3, "a", 0, 100.0), row(3, "a", 1, 110.0), row(5, "a", 0, 200.0), row(5, "a", 1, 240.0)]


def test_cells_keep_their_order_and_know_what_is_as_given():
    found = _tables.cells([*ROWS, row(3, "b", 0, None)], ("part", "policy"), WAIT.name)
    assert [(cell.keys["part"], cell.values, cell.given) for cell in found] == [
        (3, [100.0, 110.0], [100.0]),
        (5, [200.0, 240.0], [200.0]),
    ]


def test_averages_pair_replicas_and_leave_out_what_is_incomplete():
    by = ("policy", "replica")
    rows = [*ROWS, row(3, "b", 0, 7.0)]
    assert _tables.averaged(rows, "part", by, WAIT.name, (3, 5)) == [
        {"policy": "a", "replica": 0, WAIT.name: 150.0},
        {"policy": "a", "replica": 1, WAIT.name: 175.0},
    ]
    assert _tables.averaged(rows, "part", by, WAIT.name)[-1] == {"policy": "b", "replica": 0, WAIT.name: 7.0}


@pytest.mark.parametrize(
    ("published", "within"), [(100.0, True), (92.0, True), (91.0, False), (115.0, True), (116.0, False)]
)
def test_beside(published, within):
    """Ours go from 96 to 110. With a tolerance of 5 %, 92 may be 96.6 and 91 only 95.55; likewise above."""
    found = _tables.beside(Cell({"policy": "a"}, [96.0, 110.0], [96.0]), Published(published, 0.05, "here"))
    assert found["within"] is within
    assert (found["mean"], found["as_given"]) == (103.0, 96.0)
    assert found["mean_percent"] == pytest.approx(100 * (103 / published - 1))
    assert found["half_95"] == pytest.approx(12.706205 * 7)  # deviation 14 / sqrt(2), over sqrt(2)


def test_without_published_numbers_there_is_no_difference():
    found = _tables.compared([Cell({"policy": "a", "metric": "x"}, [1.0], [])], Expected({}))
    assert found[0]["published"] is None
    assert found[0]["as_given"] is None
    frame = _tables.frame(found)
    assert frame.columns[:5] == ["section", "part", "job_model", "policy", "metric"]
    assert frame["mean"].to_list() == [1.0]


def test_differences_as_text():
    texts = [_tables.percent(value) for value in (1.26, -0.04, 0.04, None, float("inf"))]
    assert texts == ["+1.3 %", "0.0 %", "0.0 %", "-", "-"]


def test_numbers_that_only_some_runs_have():
    frame = _tables.all_numbers([{"a": 1, "b": None}, {"a": 2, "c": 0.5}])
    assert frame.to_dicts() == [{"a": 1, "b": None, "c": None}, {"a": 2, "b": None, "c": 0.5}]
