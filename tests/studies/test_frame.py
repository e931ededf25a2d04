"""Choices of a study: sections, parts, policies, seeds, data."""

import pytest

from forebay.errors import InputError
from forebay.experiments.runs import Jobs, Run
from forebay.results import Record
from forebay.studies import _data
from forebay.studies._frame import (
    Options,
    Plan,
    Report,
    Table,
    chosen_parts,
    chosen_sections,
    header,
    policy_specs,
    seeds_of,
)
from forebay.studies._write import write_report

pytestmark = pytest.mark.small


def test_sections_keep_the_order_of_the_study():
    known = ("a", "b", "c")
    assert chosen_sections(Options(), known, ["b"]) == ("b",)
    assert chosen_sections(Options(sections=("c", "a")), known, ["b"]) == ("a", "c")
    with pytest.raises(InputError, match="unknown section 'd'"):
        chosen_sections(Options(sections=("d",)), known, ["b"])


def test_parts():
    assert chosen_parts(Options(), [3, 5]) == (3, 5)
    assert chosen_parts(Options(parts=(5,)), [3, 5]) == (5,)
    with pytest.raises(InputError, match="no part 4; known: 3, 5"):
        chosen_parts(Options(parts=(4,)), [3, 5])


def test_parameters_are_added_where_a_policy_has_them(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("class Mine:\n    def decide(self, view, act): pass\n")
    names = ["fcfs-bb", "fcfs-bb:depth=3", "sjf-bb:reservations=counted", "slurm-bb", f"{path}:Mine"]
    assert list(policy_specs(names, reservations="pinned").values()) == [
        "fcfs-bb:reservations=pinned",
        "fcfs-bb:depth=3,reservations=pinned",
        "sjf-bb:reservations=counted",
        "slurm-bb",
        f"{path}:Mine",
    ]
    with pytest.raises(InputError, match="unknown policy 'fcfs-b'"):
        policy_specs(["fcfs-b"])


def test_one_seed_is_enough_for_what_draws_nothing():
    assert list(seeds_of("fcfs-bb:depth=3", 5, ["plan-2"], ["fcfs-bb", "plan-2"])) == [0]
    assert len(seeds_of("plan-2", 5, ["plan-2"], ["fcfs-bb", "plan-2"])) == 5
    assert len(seeds_of("mine.py:Mine", 5, ["plan-2"], ["fcfs-bb", "plan-2"])) == 5  # nobody knows


def test_data_are_looked_for_where_named_else_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("FOREBAY_DATA", raising=False)
    wanted = [("a.json", ["x/a.json", "a.json"]), ("b.swf", ["b.swf"])]
    assert _data.find(wanted, None) is None
    with pytest.raises(InputError, match="no such folder"):
        _data.find(wanted, tmp_path / "none")
    with pytest.raises(InputError, match=r"2 of 2 files missing: a\.json, b\.swf"):
        _data.find(wanted, tmp_path)
    monkeypatch.setenv("FOREBAY_DATA", str(tmp_path))
    assert _data.find(wanted, None) is None  # data of other studies may be there
    (tmp_path / "a.json").touch()
    with pytest.raises(InputError, match=r"FOREBAY_DATA=.*: 1 of 2 files missing: b\.swf"):
        _data.find(wanted, None)
    (tmp_path / "b.swf").touch()
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.json").touch()
    assert _data.find(wanted, None) == {"a.json": tmp_path / "x" / "a.json", "b.swf": tmp_path / "b.swf"}


def test_a_report_as_files(tmp_path):
    import polars as pl

    def draw(path):
        path.write_text("<svg/>")
        return [path]

    report = Report(
        shown=[Table("One", ("policy", "wait"), [("a|b", "1")])],
        frames={"one": pl.DataFrame({"x": [0.1]})},
        figures={"fig": draw},
        notes=["told"],
    )
    files = write_report(Plan("T", ("one",), [], lambda finished: report), report, tmp_path)
    assert [file.relative_to(tmp_path).as_posix() for file in files] == [
        "report.md",
        "tables/one.csv",
        "figures/fig.svg",
    ]
    text = files[0].read_text()
    assert text == "# T\n\n- told\n\n## One\n\n| policy | wait |\n| --- | ---: |\n| a\\|b | 1 |\n"
    assert files[1].read_text() == "x\n0.1\n"


def finished(workload, platform, policy, jobs):
    document = {"facts": {"workload": workload}, "summary": {"n_jobs": jobs}}
    return Run("a run", Jobs("table1"), platform, policy, "alloc-only"), Record(document)


def test_figures_are_drawn_of_what_their_runs_share():
    one = finished("kth", "flat:nodes=1", "fcfs", 1)
    assert header([]) == ["", ""]
    assert header([one]) == ["kth", "flat, 1 node", "fcfs", "1 job"]
    assert header([one, finished("ctc", "table1", "sjf-bb", 1500)]) == ["2 workloads", "2 machines", "1 to 1,500 jobs"]
    report = Report(headers={"c": ["mine"]})
    with report.drawn_of([one]):
        report.figures |= dict.fromkeys("abc", lambda path: [])
    with report.drawn_of([]):
        report.figures["d"] = lambda path: []
    assert report.headers == {"a": header([one]), "b": header([one]), "c": ["mine"], "d": ["", ""]}


def test_a_report_puts_the_line_above_its_figures(tmp_path):
    from forebay.figures.panels.means import Mean, draw

    report = Report(
        figures={"a": lambda path: draw([Mean("p", 1.0, None, None)], path, "wait", 1.0, "mean")},
        headers={"a": ["kth", "flat, 4 nodes"]},
    )
    write_report(Plan("A study", (), [], lambda finished: report), report, tmp_path)
    assert ">kth · flat, 4 nodes<" in (tmp_path / "figures" / "a.svg").read_text(encoding="utf-8")
