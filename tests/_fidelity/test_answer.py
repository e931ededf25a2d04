"""What a fidelity gives besides its scores: a table, pictures, LaTeX and a page."""

import json

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.figures._waits import dots
from forebay.report import write

mpl.use("agg")

FILES = {
    *("fidelity.csv", "fidelity-use.csv", "fidelity.svg", "fidelity-jobs.csv", "fidelity-jobs.svg"),
    *("fidelity-moving.csv", "fidelity-moving.svg", "fidelity.json", "groups.csv", "waits.csv", "report.html"),
}


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(3)
    n = 40
    submit = np.sort(rng.uniform(0, 40 * 86400, n)).round()
    columns = {"id": range(1, n + 1), "submit": submit, "run_time": rng.uniform(3600, 2e5, n).round()}
    columns |= {"recorded_start": submit + rng.uniform(0, 9e4, n).round() * (rng.random(n) < 0.7)}
    columns |= {"walltime": columns["run_time"], "nodes": rng.integers(1, 5, n), "user": rng.integers(1, 4, n)}
    names = {"user": {1: "<b>ann</b>", 2: "bob & co", 3: "</script>"}}
    w = fb.Workload("a & b", fb.workload.job_table(columns), epoch=1735689600.0, platform="flat:nodes=4", names=names)
    return fb.fidelity(w, policy="fcfs-easy")


def test_a_row_for_all_and_for_each_group(found):
    table = found.table
    assert table.row(0, named=True)["jobs"] == 40
    assert table.row(0, named=True)["mean_error"] == found.numbers["mean_error"]
    assert table["by"].unique(maintain_order=True).to_list() == ["all", "size", "user"]
    assert table.filter(pl.col("by") == "user")["jobs"].sum() == 40
    assert table["node_hours"][0] == pytest.approx(table.filter(pl.col("by") == "user")["node_hours"].sum())


def test_its_figures(found, tmp_path):
    share, use = found.plot()
    assert share.get_xlabel() == "waiting time"
    assert use.get_ylabel() == "nodes\nin use (%)"
    jobs = found.plot("jobs")
    assert (jobs.get_xlabel(), jobs.get_ylabel()) == ("recorded wait", "simulated wait")
    moving = found.plot("moving", width="ieee-column")
    assert [len(line.get_xdata()) for line in moving.lines] == [len(found.moving)] * 2
    assert moving.figure.get_figwidth() == pytest.approx(3.5)
    for name in ("waits", "jobs", "moving"):
        assert found.draw(tmp_path / f"{name}.pdf", name, "ieee-column")[0].read_bytes().startswith(b"%PDF")
    with pytest.raises(InputError, match="there is no figure 'movin' of a fidelity: did you mean 'moving'"):
        found.plot("movin")


def test_dots_hold_all_jobs():
    recorded, simulated = np.array([0.0, 0.0, 5.0, 1e6]), np.array([0.0, 0.0, 5.0, 3.0])
    table = dots(recorded, simulated)
    assert table["jobs"].sum() == 4
    assert table["jobs"].max() == 2
    assert (table["recorded"] * table["jobs"]).sum() == recorded.sum()
    assert dots(np.zeros(3), np.zeros(3)).rows() == [(0.0, 0.0, 3)]


def test_papers_have_it(found):
    assert found.to_latex("Scores", "tab:s").startswith("\\begin{table}")
    assert found.to_markdown() == found.for_papers().to_markdown()
    assert "bob \\& co" in found.to_latex(table="user")
    assert found.caption == "40 jobs of a & b, simulated under fcfs-easy"
    assert str(found).startswith("On average a job waits ")
    assert "&lt;" not in found._repr_html_().partition("cannot match")[0]


def test_the_page_of_an_answer_is_the_page_of_its_folder(found, tmp_path):
    files = found.save(tmp_path / "out")
    assert {file.name for file in files} == FILES == {file.name for file in (tmp_path / "out").iterdir()}
    of_answer = found.report(tmp_path / "page.html").read_text()
    assert of_answer == (tmp_path / "out/report.html").read_text() == write(tmp_path / "out").read_text()
    assert found.document()["in_words"][0] in of_answer
    assert "<b>ann</b>" not in of_answer
    assert "&lt;b&gt;ann&lt;/b&gt;" in of_answer
    assert 'id="plot-jobs"' in of_answer
    assert 'id="plot-moving"' in of_answer


def test_a_folder_that_was_changed(found, tmp_path):
    found.save(tmp_path)
    waits = (tmp_path / "waits.csv").read_bytes()
    (tmp_path / "waits.csv").write_text("what,else\n1,2\n")
    with pytest.raises(InputError, match=r"waits\.csv: not the waits of a replay; make it again with forebay fidelity"):
        write(tmp_path)
    (tmp_path / "waits.csv").write_bytes(waits)
    document = json.loads((tmp_path / "fidelity.json").read_text())
    del document["shown"]
    (tmp_path / "fidelity.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"fidelity\.json: does not tell of an answer by this version"):
        write(tmp_path)
