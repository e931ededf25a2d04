"""`forebay plot`, and the figures of `forebay compare`."""

import json
import shutil

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay import figures
from forebay.results import load


@pytest.fixture
def out(forebay, tmp_path):
    """The folder of a run of table1."""
    assert forebay("run", "table1", "--policy", "fcfs-easy", "-o", tmp_path / "out").code == 0
    return tmp_path / "out"


def test_a_run_is_read_back_as_it_was(out):
    result, again = fb.simulate(fb.read("table1"), policy="fcfs-easy"), load(out)
    assert_frame_equal(again.jobs, result.jobs)
    assert_frame_equal(again.log, result.log)
    assert again.resources == result.resources
    assert set(again.facts) == {*result.facts, "command"}
    assert fb.summary(again) == fb.summary(result)


def test_links_are_read_back(forebay, tmp_path):
    forebay("run", "default", "--platform", "dragonfly-96", "-o", tmp_path)
    assert load(tmp_path).links.columns == ["link", "capacity", "bytes"]
    assert fb.summary(load(tmp_path))["pfs_utilisation"] > 0


def test_all_figures_of_a_run(forebay, out, tmp_path):
    code, said, err = forebay("plot", out, "-o", tmp_path / "pictures")
    assert (code, err) == (0, "")
    written = {file.name for file in (tmp_path / "pictures").iterdir()}
    assert {f"{name}.svg" for name in figures.names()} | {f"{name}.csv" for name in figures.names()} < written
    assert all(name in said for name in written)


def test_runs_are_named_by_policy_or_folder(forebay, out, tmp_path):
    forebay("run", "table1", "--policy", "fcfs", "-o", tmp_path / "other")
    shutil.copytree(out, tmp_path / "same")

    def labels(*runs):
        code, _, err = forebay("plot", *runs, "--figure", "waits", "--format", "png", "-o", tmp_path / "p")
        assert (code, err) == (0, "")
        return pl.read_csv(tmp_path / "p" / "waits.csv")["result"].unique(maintain_order=True).to_list()

    assert labels(out, tmp_path / "other") == ["fcfs-easy", "fcfs"]
    assert labels(out, tmp_path / "same", out) == ["out", "same"]
    assert (tmp_path / "p" / "waits.png").exists()

    given = labels(f"{out}=January", f"{tmp_path / 'same'}=February 2025")
    assert given == ["January", "February 2025"]
    assert labels(f"{out}=January", tmp_path / "other") == ["January", "fcfs"]
    shutil.copytree(out, tmp_path / "a=b")
    assert labels(tmp_path / "a=b", tmp_path / "other") == ["fcfs-easy", "fcfs"]
    for wrong, why in (
        ((f"{out}=a", f"{tmp_path / 'same'}=a"), "two runs are called 'a'"),
        ((f"{out}=a", f"{out}=b"), "is given two names"),
        ((f"{out}=",), "is no run"),
    ):
        outcome = forebay("plot", *wrong, "-o", tmp_path / "p")
        assert outcome.code == 2
        assert why in outcome.err


def test_figures_of_jobs_keep_to_the_window_of_the_run(forebay, tmp_path):
    forebay("run", "table1", "--window", "0:61", "-o", tmp_path / "out")
    n = json.loads((tmp_path / "out" / "run.json").read_text())["summary"]["n_jobs"]
    forebay("plot", tmp_path / "out", "-o", tmp_path / "p")
    assert n < 8
    assert pl.read_csv(tmp_path / "p" / "letter-values.csv")["n"].to_list() == [n]
    assert pl.read_csv(tmp_path / "p" / "gantt.csv")["job"].n_unique() == 8


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (shutil.rmtree, "no such folder"),
        (lambda out: [file.unlink() for file in out.iterdir()], "is not the folder of a run"),
        (lambda out: (out / "log.parquet").unlink(), "log.parquet missing"),
        (lambda out: (out / "log.parquet").write_text("x"), "cannot be read as a run"),
        (lambda out: (out / "run.json").write_text("{"), "is not JSON"),
        (lambda out: (out / "run.json").write_text("[]"), "does not say its format"),
    ],
)
def test_what_is_not_a_run(forebay, out, tmp_path, spoil, words):
    spoil(out)
    code, said, err = forebay("plot", out, "-o", tmp_path / "p")
    assert (code, said) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "p").exists()


def test_unknown_figures(forebay, out, tmp_path):
    code, _, err = forebay("plot", out, "--figure", "wait", "-o", tmp_path / "p")
    assert code == 2
    assert "unknown figure 'wait': did you mean 'waits'" in err


def test_compare_draws_unless_told_not_to(forebay, tmp_path):
    arguments = ("compare", "table1", "--policies", "fcfs,fcfs-bb", "--format", "json", "-o")
    answer = json.loads(forebay(*arguments, tmp_path / "a").out)
    pictures = sorted(file.name for file in (tmp_path / "a").glob("*.svg"))
    assert pictures == ["gantt.svg", "letter-values.svg", "usage.svg", "wait-by-size.svg", "waits.svg"]
    assert {str(tmp_path / "a" / name) for name in pictures} < set(answer["files"])
    best = [one["policy"] for one in answer["policies"]]
    assert pl.read_csv(tmp_path / "a" / "letter-values.csv")["result"].to_list() == best
    assert forebay(*arguments, tmp_path / "b", "--no-plots").code == 0
    written = ["bounds.csv", "compare.csv", "compare.json", "ranking.csv", "report.html", "verdicts.csv"]
    assert sorted(file.name for file in (tmp_path / "b").glob("*.*")) == written


def test_the_folder_of_a_comparison_names_its_runs(forebay, tmp_path):
    forebay("compare", "table1", "--policies", "fcfs,fcfs-bb", "--no-plots", "-o", tmp_path / "a")
    code, _, err = forebay("plot", tmp_path / "a", "-o", tmp_path / "p")
    assert code == 2
    assert "the runs in it are fcfs, fcfs-bb" in err


def test_without_matplotlib(forebay, out, tmp_path, monkeypatch):
    monkeypatch.setattr("forebay.figures._folder.available", lambda: False)
    code, _, err = forebay("plot", out, "-o", tmp_path / "p")
    assert code == 2
    assert "pip install matplotlib" in err
    arguments = ("compare", "table1", "--policies", "fcfs", "-o", tmp_path / "c")
    assert forebay(*arguments).code == 0
    assert not list((tmp_path / "c").glob("*.svg"))
    assert "pip install matplotlib" in forebay(*arguments, "--plots").err


@pytest.mark.usefixtures("runs_here")
def test_the_folder_of_a_sweep(forebay, out, tmp_path):
    spec = tmp_path / "depths.toml"
    spec.write_text(
        'workloads = ["table1"]\npolicies = ["fcfs-bb:depth={depth}", "filler"]\n[parameters]\ndepth = [1, 2]\n'
    )
    assert forebay("sweep", spec, "-o", tmp_path / "s", "--jobs", 1).code == 0
    code, said, err = forebay("plot", tmp_path / "s", "-o", tmp_path / "p", "--width", "ieee-column", "--format", "png")
    assert (code, err) == (0, "")
    assert sorted(file.name for file in (tmp_path / "p").iterdir()) == ["sweep-lines.csv", "sweep-lines.png"]
    assert "mean wait over depth: a single seed" in said
    latex = forebay("sweep", spec, "-o", tmp_path / "s", "--jobs", 1, "--format", "latex").out
    assert latex.startswith("\\begin{table}")
    assert "fcfs-bb:depth=2 & " in latex
    arguments = ("plot", tmp_path / "s", "--metric", "max_wait", "--metric", "p95_wait", "--where", "policy=filler")
    assert forebay(*arguments, "-o", tmp_path / "q").code == 0
    assert (tmp_path / "q" / "sweep-lines-max_wait.svg").exists()
    for wrong, why in (
        ((tmp_path / "s", "--where", "filler"), "is not NAME=VALUE"),
        ((tmp_path / "s", "--figure", "waits"), "unknown figure of a sweep 'waits'"),
        ((tmp_path / "s", out), "is a sweep, and is drawn alone"),
        ((out, "--x", "depth"), "--x is of the folder of a sweep"),
        ((out, "--width", "acm-pag"), "did you mean 'acm-page'"),
    ):
        outcome = forebay("plot", *wrong, "-o", tmp_path / "no")
        assert outcome.code == 2
        assert why in outcome.err
    assert not (tmp_path / "no").exists()
