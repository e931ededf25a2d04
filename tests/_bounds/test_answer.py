"""What bounds give besides numbers: a figure, a page, tables for papers."""

import matplotlib as mpl
import pytest

import forebay as fb

mpl.use("agg")
pytestmark = pytest.mark.small


@pytest.fixture(scope="module")
def least():
    return fb.bounds("table1", metric=["mean_wait", "makespan"])


@pytest.fixture(scope="module")
def held(least):
    return least.against([fb.simulate("table1", policy=name) for name in ("fcfs", "fcfs-bb")])


def test_it_holds_runs_against_it(least, held):
    assert least.distances is None
    assert held.distances.filter(metric="makespan")["policy", "value", "ratio"].rows() == [
        ("fcfs", 1200.0, 2.0),
        ("fcfs-bb", 660.0, 1.1),
    ]
    assert held.table.equals(least.table)


def test_its_words(least, held):
    bound = least.best["mean_wait"]["value"]
    wait, makespan = str(held).splitlines()
    assert makespan == "No policy can have a makespan below 10 min. Times that: fcfs-bb 1.1, fcfs 2."
    assert wait.startswith(
        "No policy can have a mean wait below 1 min 8 s, because of nodes + burst_buffer. Times that"
    )
    assert wait.endswith(f"fcfs-bb {142.5 / bound:.3g}, fcfs {480 / bound:.3g}.")
    assert str(least).splitlines()[1] == "No policy can have a makespan below 10 min."


def test_a_bound_of_nothing_is_not_praised():
    jobs = fb.workload.job_table({"id": [1], "submit": [0], "walltime": [9], "run_time": [9], "nodes": [1]})
    alone = fb.bounds(fb.Workload("one", jobs), "flat:nodes=2", metric="mean_wait")
    assert str(alone) == "No bound above 0 is known for the mean wait."
    assert alone.against(fb.simulate(fb.Workload("one", jobs), "flat:nodes=2", "fcfs")).plot().lines


def test_a_bound_on_request_is_among_the_best():
    asked = fb.bounds("table1", metric="mean_waiting_time")
    assert list(asked.best) == ["mean_waiting_time"]
    assert asked.best["mean_waiting_time"]["value"] == asked.table["value"].max()


def test_its_figure_has_a_panel_a_metric(least, held, tmp_path):
    waits, makespans = held.plot()
    assert held.draw(tmp_path / "far.pdf", "ieee-column")[0].read_bytes().startswith(b"%PDF")
    assert [axis.get_title(loc="left") for axis in (waits, makespans)] == ["mean_wait", "makespan"]
    assert [text.get_text() for text in waits.get_yticklabels()] == ["fcfs", "fcfs-bb"]
    dots = [line.get_xdata()[0] for line in makespans.lines if line.get_marker() == "o"]
    assert dots == [2.0, 1.1]
    by = [text.get_text() for text in least.plot()[0].get_yticklabels()]
    assert by == least.table["bound"].unique(maintain_order=True).to_list()


def test_papers_have_both_tables(held):
    every, distances = held.tables()
    assert held.to_latex("Bounds", "tab:b") == every.to_latex("Bounds", "tab:b")
    assert "prices" in held.to_markdown()
    assert "| fcfs-bb" in distances.to_markdown()
    assert held.caption.startswith("What no policy can have less of: 8 jobs of table1 on table1 (4 nodes")


def test_its_page(held, tmp_path):
    page = held.report(tmp_path / "least.html").read_text()
    for line in str(held).splitlines():
        assert line in page
    assert 'id="plot-ratios"' in page
    assert "Every bound" in page
    assert "<td>answer" not in page
    assert held._repr_html_().count("<th>answer</th>") == 2


def test_names_of_others_are_text_on_its_page(tmp_path):
    jobs = fb.workload.job_table(
        {"id": [1, 2], "submit": [0, 0], "walltime": [9, 9], "run_time": [9, 9], "nodes": [2, 2]}
    )
    w = fb.Workload("</script><b>mine", jobs)
    found = fb.bounds(w, "flat:nodes=2", metric="mean_wait")
    held = found.against({"<i>x</i>": fb.simulate(w, "flat:nodes=2", "fcfs")})
    page = held.report(tmp_path / "least.html").read_text()
    assert "<b>mine" not in page
    assert "<i>x" not in page
    assert "<b>mine" not in held._repr_html_()
