"""`forebay.compare`: the same answer as the command's, of specs, objects and classes."""

import json
import sys
from types import SimpleNamespace

import matplotlib as mpl
import pytest
from typer.testing import CliRunner

import forebay as fb
from forebay.cli.main import app
from forebay.errors import InputError

mpl.use("agg")

TABLES = ("compare.csv", "ranking.csv", "verdicts.csv", "bounds.csv")


class InOrder:
    """As fcfs."""

    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)


class Broken:
    """Raises in the middle of its run."""

    def decide(self, view, act):
        if view.now > 0:
            raise RuntimeError("no more")


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["table1"], {"workload": "table1"}),
        (
            ["table1", "--policies", "fcfs-easy,fcfs-bb:depth=3,filler", "--replicas", "2", "--seed", "3"],
            {"workload": "table1", "policies": ["fcfs-easy", "fcfs-bb:depth=3", "filler"], "replicas": 2, "seed": 3},
        ),
        (
            ["table1", "--policies", "queue", "--reference", "sjf-bb", "--platform", "table1", "--window", "0:10min"],
            {"workload": "table1", "policies": "queue", "reference": "sjf-bb", "platform": "table1"}
            | {"window": (0, 600)},
        ),
    ],
)
def test_function_and_command_give_the_same_bytes(tmp_path, words, given):
    answer = CliRunner().invoke(app, ["compare", *words, "-o", str(tmp_path / "a"), "--format", "json", "--no-plots"])
    assert answer.exit_code == 0, answer.output
    found = fb.compare(**given, output=tmp_path / "b")
    for name in TABLES:
        assert (tmp_path / "b" / name).read_bytes() == (tmp_path / "a" / name).read_bytes(), name
    theirs, mine = json.loads(answer.stdout), found.document()
    for volatile in ("files", "policies"):  # names of folders, and seconds
        theirs.pop(volatile)
        mine.pop(volatile)
    assert mine == json.loads(json.dumps(theirs))


def test_objects_and_classes_are_policies_too():
    found = fb.compare("table1", ["fcfs", InOrder, InOrder(), "fcfs-bb"], replicas=1)
    assert found.reference == "fcfs-bb"
    assert set(found.runs) == {"fcfs", "InOrder", "InOrder 2", "fcfs-bb"}
    waits = dict(found.table.select("policy", "mean_wait").iter_rows())
    assert waits["fcfs"] == waits["InOrder"] == waits["InOrder 2"] != waits["fcfs-bb"]
    assert found.runs["InOrder"].jobs["waiting_time"].to_list() == found.runs["fcfs"].jobs["waiting_time"].to_list()
    assert found.failed == {}


def test_the_users_own_names(tmp_path):
    policies = {"ours": "fcfs-bb:depth=3", "theirs": InOrder()}
    found = fb.compare("table1", policies, reference="theirs", replicas=0, output=tmp_path)
    assert set(found.table["policy"]) == {"ours", "theirs"}
    assert found.verdicts["policy"].unique().to_list() == ["ours"]
    run = json.loads((tmp_path / "ours" / "run.json").read_text())
    assert run["policy"] == "ours"


def test_a_reference_joins_the_policies():
    mine = InOrder()
    assert fb.compare("table1", "filler", reference=mine, replicas=0).reference == "InOrder"
    assert fb.compare("table1", [mine, "filler"], reference=mine, replicas=0).reference == "InOrder"
    assert set(fb.compare("table1", ["filler"], reference="fcfs", replicas=0).runs) == {"filler", "fcfs"}


def test_a_policy_that_fails_is_named_and_others_go_on():
    found = fb.compare("table1", ["fcfs", Broken], replicas=1)
    assert list(found.runs) == ["fcfs"]
    assert "no more" in found.failed["Broken"]
    with pytest.raises(fb.ForebayError, match="no more"):
        found.raise_failures()
    with pytest.raises(fb.ForebayError, match="no more"):
        fb.compare("table1", [Broken], replicas=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"policies": []}, "no policy to compare"),
        ({"policies": [object()]}, r"needs a method decide\(self, view, act\)"),
        ({"policies": [3]}, r"needs a method decide\(self, view, act\)"),
        ({"policies": ["fcfs", "fcfs"]}, "'fcfs' is named twice"),
        ({"policies": ["fcfs-eesy"]}, "did you mean 'fcfs-easy'"),
        ({"policies": {"mine": "fcfs-eesy"}}, "policy 'mine': .*did you mean 'fcfs-easy'"),
        ({"workload": 3}, "the workload is 3, of type int"),
        ({"platform": "fcfs"}, "'fcfs' is a policy, where the platform is expected"),
        ({"seed": -1}, "the seed is -1"),
        ({"window": (900_000, 1_000_000)}, "no job is submitted in it"),
    ],
)
def test_what_cannot_be_compared(given, message):
    with pytest.raises(InputError, match=message):
        fb.compare(**({"workload": "table1", "policies": ["fcfs"], "replicas": 0} | given))


def test_what_is_not_there_to_look_at():
    found = fb.compare("table1", ["fcfs", "filler"], replicas=1)
    with pytest.raises(InputError, match="no run of 'fillet': did you mean 'filler'"):
        found.runs["fillet"]
    with pytest.raises(InputError, match="no changes of 'makespan' to draw; there are mean_wait"):
        found.plot(metric="makespan")
    with pytest.raises(InputError, match="unknown figure 'waist'"):
        found.plot("waist")


def test_files_of_its_figures(tmp_path):
    found = fb.compare("table1", ["fcfs", "filler"], replicas=1)
    picture, data = found.draw(tmp_path / "changes.pdf", width="ieee-column")
    assert b"/FontFile2" in picture.read_bytes()
    assert data.read_text().startswith("policy,change,low,high,verdict\n")
    assert [file.name for file in found.draw(tmp_path / "waits.svg", "waits")] == ["waits.svg", "waits.csv"]
    assert {file.name for file in found.draw(tmp_path / "g.svg", "gantt")} >= {"g.svg", "g.csv"}
    with pytest.raises(InputError, match="unknown figure 'waist'"):
        found.draw(tmp_path / "a.svg", "waist")
    with pytest.raises(InputError, match="pictures can be written as"):
        found.draw(tmp_path / "a.jpg")
    assert not (tmp_path / "a.jpg").exists()


def test_it_goes_to_pandas_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = fb.compare("table1", ["fcfs", "filler"], replicas=0).to_pandas()
    assert found["policy"] == ["filler", "fcfs"]
    swept = fb.sweep(workloads=["table1"], policies=["fcfs"], jobs=1).to_pandas()
    assert swept["mean_wait"].tolist() == [480.0]


def test_it_draws_and_writes_itself(tmp_path):
    found = fb.compare("table1", {"a & b_c": "fcfs", "filler|": "filler"}, replicas=2, reference="filler|")
    axis = found.plot()
    assert axis.get_xlabel() == "mean wait, times that of filler|"
    assert found.plot("letter-values").get_xlabel() == "waiting time"
    assert found.report(tmp_path / "page.html").stat().st_size > 10_000
    lines = found.to_latex("50 % of <all>", "tab:one").splitlines()
    assert lines[:4] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{50 \% of \textless{}all\textgreater{}}",
        r"\label{tab:one}",
    ]
    assert any(line.startswith(r"a \& b\_c ") and line.endswith(r"\\") for line in lines)
    about, gap, head, ruler, *rows = found.to_markdown().splitlines()
    assert "Changes of the mean wait against filler" in about
    assert not gap
    assert found.to_markdown(caption="").splitlines() == [head, ruler, *rows]
    assert len({line.replace(r"\|", "").count("|") for line in (head, ruler, *rows)}) == 1
    page = found._repr_html_()
    assert "a &amp; b_c" in page
    assert "reference" in page
    assert repr(found) == "<Comparison of 2 policies on table1, best filler|, against filler|>"


def test_a_folder_of_ones_own_stays_and_is_used_again(tmp_path):
    before = fb.compare("table1", ["fcfs", InOrder], replicas=0, output=tmp_path)
    assert before.folder == tmp_path
    times = [(tmp_path / name / "log.parquet").stat().st_mtime_ns for name in ("fcfs", "InOrder")]
    fb.compare("table1", ["fcfs", InOrder], replicas=0, output=tmp_path)
    again = [(tmp_path / name / "log.parquet").stat().st_mtime_ns for name in ("fcfs", "InOrder")]
    assert again[0] == times[0]
    assert again[1] != times[1], "nobody knows whether an object is still the same"


def test_a_relative_folder_is_found_from_elsewhere_too(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    found = fb.compare("table1", "fcfs", replicas=0, output="mine")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert found.runs["fcfs"].jobs.height == 8


def test_policies_alike_on_the_trace_alone_are_not_called_the_same():
    """filler and fcfs-bb start all jobs of table1 at the same times, and some of its replicas at others."""
    found = fb.compare("table1", ["fcfs-bb", "filler"], replicas=2)
    row = found.verdicts.row(0, named=True)
    assert row["value"] != row["reference_value"]
    assert (row["verdict"], row["change"] != 0) == ("undecided", True)
