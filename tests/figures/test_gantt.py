"""The schedule of jobs whose size changes: a bar with steps, one number, one colour."""

import polars as pl
import pytest

import forebay as fb
from cases.flexible import growing
from forebay import figures
from forebay.core.schemas import PHASE_SCHEMA
from forebay.figures import gantt
from forebay.workload import job_table

pytestmark = pytest.mark.small


@pytest.fixture(scope="module")
def result():
    return fb.simulate(growing(), "flat:nodes=16", "fcfs-malleable")


def test_the_data_drawn_has_what_a_job_got_later(result, tmp_path):
    figures.draw("gantt", result, tmp_path / "gantt.svg")
    rows = pl.read_csv(tmp_path / "gantt.csv").select("job", "first_node", "last_node", "start", "end").rows()
    assert rows == [(0, 0, 11, 0, 35), (1, 12, 15, 0, 80), (1, 8, 11, 40, 80), (2, 0, 7, 35, 95)]


def test_a_job_that_grew_is_one_bar_with_one_number(result):
    """Its rectangles, rows 1 and 2, meet at the upper edge of node 12 from 40 to 80; the larger has the number."""
    boxes = gantt.rectangles(result)
    inner = gantt.seams(boxes)
    assert inner.rows() == [(2, 1, 11.5, 40, 80)]
    assert gantt.numbered(boxes, inner).tolist() == [True, True, False, True]


def test_what_is_drawn(result):
    axis = figures.plot("gantt", result)
    bars, borders = axis.collections
    assert len(bars.get_paths()) == 4
    assert [path.vertices.tolist() for path in borders.get_paths()] == [[[40, 11.5], [80, 11.5]]]
    assert (borders.get_colors()[0] == bars.get_facecolors()[1]).all()
    assert sorted(text.get_text() for text in axis.texts) == ["0", "1", "2"]


def box(job, first, last, start, end):
    return {"job": job, "first_node": first, "last_node": last, "start": float(start), "end": float(end)}


def test_neighbours_of_one_job_at_other_times_do_not_meet():
    boxes = pl.DataFrame([box(1, 0, 3, 0, 10), box(1, 4, 7, 10, 20), box(2, 8, 9, 0, 20), box(1, 10, 11, 0, 20)])
    assert gantt.seams(boxes).is_empty()


def test_jobs_beside_one_another_differ_in_colour():
    """Jobs 1 and 9 would have one colour in turn: they run at the same time, and 9 takes the next that is free."""
    long, short = [box(1, 0, 0, 0, 100)], [box(job, 1, 1, 10 * job, 10 * job + 5) for job in range(2, 10)]
    found = gantt.fills(pl.DataFrame([*long, *short]))
    assert found.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 1]
    alone = gantt.fills(pl.DataFrame(short))
    assert alone.tolist() == [*range(8)]


def test_more_jobs_than_colours():
    boxes = pl.DataFrame([box(job, job, job, 0, 10) for job in range(12)])
    assert gantt.fills(boxes).tolist() == [*range(8), *range(4)]


def test_nodes_that_only_serve_are_marked(tmp_path):
    """Job 1 computes on node 0; node 1 serves it from the start, node 2 from its request on."""
    jobs = job_table({"id": [1], "submit": [0], "walltime": [1e5], "run_time": [0], "nodes": [1]})
    phases = pl.DataFrame([(1, 0, "write", 0.0, 0.0, 0.0, 10e9, None)], PHASE_SCHEMA, orient="row")
    model = "adhoc:servers=malleable,start=1,most=2,recommended=2GB/s,window=2,operations=4"
    result = fb.simulate(fb.Workload("one", jobs, phases=phases), "flat:nodes=4,pfs=1GB/s", job_model=model)
    grown = result.log.filter(pl.col("reason") == "resized")["time"].item()
    gantt.draw({"one": result}, tmp_path / "gantt.svg")
    rows = pl.read_csv(tmp_path / "gantt-servers.csv").rows()
    end = result.jobs["finish_time"].item()
    assert rows == [(1, 1, 1, 0.0, pytest.approx(end)), (1, 2, 2, pytest.approx(grown), pytest.approx(end))]
