"""`--metrics mine.py`: the numbers that Python gives, wherever a command shows numbers."""

import json
import sys

import polars as pl
import pytest

import forebay as fb
from forebay.metrics._own import registry

FILE = """
import forebay as fb

@fb.metric(unit="s")
def longest_wait(result):
    print("measuring")
    return result.jobs["waiting_time"].max()

@fb.metric(better="higher")
def contentment(result):
    return 1 / (1 + result.jobs["waiting_time"].mean())
"""
BAD = """
import forebay as fb

@fb.metric()
def broken(result):
    return 1 / 0
"""
NOTE = "metric broken is left empty: broken() in bad.py raised ZeroDivisionError: division by zero"
SPEC = 'workloads = ["table1"]\npolicies = ["fcfs", "fcfs-bb"]\nseeds = 2\n'
OWN = ["longest_wait", "contentment"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "bad.py").write_text(BAD)
    return tmp_path


@pytest.fixture
def forebay(forebay):
    """Each command knows what it is given alone, as in a process of its own."""

    def command(*words):
        registry.forget()
        try:
            return forebay(*words)
        finally:
            registry.forget()

    return command


def in_python():
    """`mine.py` as a script has it that imports it."""
    from forebay.metrics._own import files

    files.load("mine.py")


def test_run(forebay, folder):
    done = forebay("run", "table1", "--policy", "fcfs", "--metrics", "mine.py", "--metrics", "bad.py", "-o", "out")
    assert done.code == 0, done.err
    assert "longest wait               12 min\n" in done.out
    assert "broken                     -\n" in done.out
    assert done.out.count(NOTE) == 1
    answer = forebay("run", "table1", "--policy", "fcfs", "--metrics", "mine.py", "--format", "json")
    found = json.loads(answer.out)
    assert answer.err == "measuring\n"
    assert found["command"] == ["forebay", "run", "table1", "--policy", "fcfs", "--metrics", "mine.py"]
    in_python()
    summary = fb.summary(fb.simulate("table1", policy="fcfs"))
    assert {name: found["summary"][name] for name in OWN} == {name: summary[name] for name in OWN}
    stored = json.loads((folder / "out" / "run.json").read_text())["summary"]
    assert (stored["longest_wait"], stored["broken"]) == (720, None)
    registry.forget()
    page = forebay("report", "out")
    assert page.code == 0
    assert "contentment" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_without_the_option_nothing_is_known(forebay):
    assert "longest_wait" not in json.loads(forebay("run", "table1", "--format", "json").out)["summary"]


def test_compare(forebay, folder):
    words = ["compare", "table1", "--policies", "fcfs,fcfs-bb", "--replicas", "3", "--metrics", "mine.py", "--no-plots"]
    done = forebay(*words, "-o", "a", "--fail-if", "longest_wait > +5%")
    assert done.code == 1
    assert "longest_wait > +5%: fcfs has +34." in done.err
    assert "contentment" in done.out
    assert "worse +34 % (+29 to +39)" in done.out
    in_python()
    found = fb.compare("table1", "fcfs,fcfs-bb", replicas=3, output="b")
    for name in ("compare.csv", "ranking.csv", "verdicts.csv"):
        assert (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes()
    assert set(OWN) <= set(found.verdicts["metric"])
    registry.forget()
    again = forebay("compare", "table1", "--policies", "fcfs,fcfs-bb", "--replicas", "0", "--no-plots", "-o", "a")
    assert "2 of 2 policies there already" not in again.err, "runs without the metrics are others"
    assert "longest_wait" not in (folder / "a" / "compare.csv").read_text()


@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("in_file", [True, False])
def test_sweep(forebay, folder, in_file):
    (folder / "sub").mkdir()
    (folder / "sub" / "mine.py").write_text(FILE)
    (folder / "sub" / "s.toml").write_text(SPEC + ('metrics = ["mine.py"]\n' if in_file else ""))
    words = ["--metrics", "bad.py"] if in_file else ["--metrics", "bad.py", "--metrics", "sub/mine.py"]
    words += ["--jobs", "2", "--fail-if", "longest_wait > 11min"]
    done = forebay("sweep", "sub/s.toml", "-o", "out", *words)
    assert done.code == 1
    assert "longest_wait > 11min: table1 | fcfs has 12 min" in done.err
    assert "longest\n" in done.out
    assert done.out.count(NOTE) == 1
    table = pl.read_csv(folder / "out" / "sweep.csv")
    in_python()
    found = fb.sweep(workloads=["table1"], policies=["fcfs", "fcfs-bb"], seeds=2, jobs=1)
    assert table.select("policy", "seed", *OWN).rows() == found.select("policy", "seed", *OWN).rows()
    judged = pl.read_csv(folder / "out" / "verdicts.csv").filter(pl.col("metric") == "longest_wait")
    assert judged["verdict"].to_list() == ["worse"]
    assert "longest wait" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_capacity(forebay, folder):
    given = {"range": "8TB:20TB", "replicas": 2, "precision": "20%", "jobs": 1}
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    target = "longest_wait <= 6min"
    done = forebay("capacity", "table1", "--target", target, "--metrics", "mine.py", *words, "-o", "a", "--no-plots")
    assert done.code == 0, done.err
    in_python()
    found = fb.capacity("table1", target, **given, output="b")
    assert (folder / "a" / "capacity.csv").read_bytes() == (folder / "b" / "capacity.csv").read_bytes()
    assert done.out.startswith(str(found))
    registry.forget()
    refused = forebay("capacity", "table1", "--target", target, "-o", "c")
    assert (refused.code, "unknown number 'longest_wait'" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gone.py"], "forebay: gone.py: no such file; name a Python file of metrics: write @fb.metric"),
        (["."], "forebay: .: no such file"),
        (["mine.txt"], "forebay: mine.txt: is not a Python file (.py)"),
        (["none.py"], 'forebay: none.py: defines no metric; write @fb.metric(unit="s") before a function'),
        (["taken.py"], "metric 'makespan' of makespan() in taken.py exists already: forebay has a number of that name"),
        (
            ["mine.py", "twin.py"],
            "metric 'longest_wait' of other() in twin.py exists already: longest_wait() in",
        ),
        (["raises.py"], "raises.py: cannot be imported: ZeroDivisionError: division by zero"),
        (["broken.py"], "broken.py: cannot be imported: SyntaxError"),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare", "capacity", "sweep"])
def test_files_that_will_not_do(forebay, folder, command, words, says):
    (folder / "mine.txt").write_text(FILE)
    (folder / "none.py").write_text("def f(result):\n    return 1\n")
    (folder / "taken.py").write_text(BAD.replace("broken", "makespan"))
    (folder / "twin.py").write_text(
        'import forebay as fb\n@fb.metric("longest_wait")\ndef other(result):\n    return 1\n'
    )
    (folder / "raises.py").write_text("1 / 0\n")
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "s.toml").write_text(SPEC)
    source = "s.toml" if command == "sweep" else "table1"
    done = forebay(command, source, *(word for name in words for word in ("--metrics", name)))
    assert done.code == 2
    assert says in done.err
    assert done.out == ""
    assert not {"forebay-results", "forebay-capacity", "forebay-sweep-s"} & {one.name for one in folder.iterdir()}
