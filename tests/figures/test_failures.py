"""Failures in figures: marks, boxes of nodes that are down, parts of jobs that were lost, legs that wait once more."""

import polars as pl
import pytest

import forebay as fb
from cases.failing import Tape, guarded, toy
from forebay import figures
from forebay.figures import _steps, gantt

pytestmark = pytest.mark.small


def drawn(result, path):
    figures.draw("gantt", result, path / "gantt.svg")
    return {file.stem.removeprefix("gantt"): pl.read_csv(file) for file in path.glob("*.csv")}


def test_every_attempt_is_a_rectangle(tmp_path):
    rows = drawn(toy(steals=True), tmp_path)[""].filter(pl.col("job") < 4)
    assert rows.select("job", "first_node", "last_node", "start", "end").rows() == [
        (1, 0, 0, 0, 8),
        (2, 1, 1, 0, 1),
        (2, 2, 2, 6, 11),
        (3, 2, 7, 0, 1),
        (3, 1, 1, 1, 11),
        (3, 3, 7, 1, 11),
    ]


def test_the_data_of_what_is_marked(tmp_path):
    tables = drawn(guarded(), tmp_path)
    # Nodes that are never back are drawn to the end, at 80.
    assert tables["-down"].rows() == [(0, 20, 40), (4, 20, 80), (9, 45, 46), (9, 49, 80)]
    assert tables["-parts"].filter(pl.col("job") == 1).rows() == [
        (1, 0, 3, 10, 12, "checkpoint"),
        (1, 0, 3, 12, 20, "lost"),
        (1, 3, 3, 25, 28, "recovery"),
        (1, 8, 8, 25, 28, "recovery"),
        (1, 1, 2, 25, 28, "recovery"),
        (1, 1, 2, 35, 37, "checkpoint"),
    ]


def labels(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_what_is_drawn():
    axis = figures.plot("gantt", toy(steals=False))
    [marks] = axis.lines
    assert (marks.get_marker(), *marks.get_xydata().tolist()) == ("x", [1, 2])
    *_, down, lost = axis.collections
    assert [path.vertices[0:3:2].tolist() for path in down.get_paths()] == [[[1, 1.5], [6, 2.5]]]
    assert [path.vertices[0:3:2].tolist() for path in lost.get_paths()] == [[[0, 1.5], [1, 7.5]]]
    assert labels(axis) == ["node fails", "down", "lost"]


def many(n_jobs):
    tape = Tape(2)
    for job in range(n_jobs):
        tape.submit(job, job, 1)
    for job in range(n_jobs):
        tape.start(10 * job + 60, job, "0")
        tape.stolen(10 * job + 61, job)
        tape.start(10 * job + 61, job, "0")
        tape.end(10 * job + 70, job)
    tape.down(10 * n_jobs + 60, 1)
    return tape.result()


def test_of_many_jobs_parts_are_not_drawn(tmp_path):
    assert set(drawn(many(40), tmp_path)) == {"", "-lanes", "-down", "-parts"}
    (tmp_path / "gantt-parts.csv").unlink()
    assert set(drawn(many(41), tmp_path)) == {"", "-lanes", "-down"}
    found = labels(figures.plot("gantt", many(41)))
    assert found[::2][:2] == ["waited under 1 min", "under 1 h"]  # the first row, column by column
    assert found[1:4:2] == ["node fails", "down"]


def test_other_runs_are_drawn_as_ever(tmp_path):
    assert set(drawn(fb.simulate("table1"), tmp_path)) == {"", "-lanes"}


def test_checkpoints_that_take_seconds_move_nothing_through_the_file_system():
    assert not any(name.startswith(gantt.FILES) for name in gantt._lanes(guarded()))


def test_bytes_of_checkpoints_are_in_the_lane_of_the_file_system():
    """8 bytes from 2 to 4; one that is cut off at 6 does not tell how many."""
    tape = Tape(1)
    tape.submit(0, 1, 1)
    tape.start(0, 1, "0")
    for time, kind, amount in ((2, "begin_phase", 0), (4, "end_phase", 8), (5, "begin_phase", 0), (6, "end_phase", -1)):
        tape.row(time, 1, kind, None, amount, "save")
    tape.fails(6, 1, 0)
    tape.up(7, 0)
    tape.start(7, 1, "0")
    tape.end(9, 1)
    times, rates = gantt._lanes(tape.result())["file system write"][1]
    assert (times.tolist(), rates.tolist()) == ([2, 4], [4, 0])


def test_an_interrupted_leg_waits_once_more():
    """Of the example: jobs 4 and 5 ask for 7 nodes at 0; job 3 for 6 from 1 to 5, while job 5 starts at 1."""
    times, nodes = _steps.queued_nodes(toy(steals=False))
    assert dict(zip(times.tolist(), nodes.tolist(), strict=True)) == {0: 7, 1: 12, 5: 6, 15: 0}


def test_time_begins_with_the_first_job():
    tape = Tape(2)
    tape.down(0, 1)
    tape.submit(50, 1, 1)
    tape.start(50, 1, "0")
    tape.end(60, 1)
    tape.up(70, 1)
    assert _steps.over(tape.result()) == (50, 60)


def test_a_run_with_rows_of_nodes_is_saved_and_loaded(tmp_path):
    guarded().save(tmp_path)
    again = fb.load(tmp_path)
    assert again.log.equals(guarded().log)
    assert again.jobs.equals(guarded().jobs)
    assert fb.summary(again) == fb.summary(guarded())
