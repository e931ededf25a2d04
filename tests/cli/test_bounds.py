"""`forebay bounds`, and the bounds of comparisons."""

import json

import polars as pl
import pytest

import forebay as fb


@pytest.fixture
def answer(forebay, monkeypatch, tmp_path):
    """A command's JSON, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def ask(*words):
        code, out, err = forebay(*words, "--format", "json", "-q")
        assert (code, err) == (0, "")
        return json.loads(out)

    return ask


def test_bounds_and_gaps_as_json(answer):
    told = answer("bounds", "table1", "--metric", "mean_wait", "--policies", "fcfs-easy,fcfs-bb")
    values = {row["bound"]: row["value"] for row in told["bounds"]}
    assert values["alone"] == 0
    assert 60 < values["prices"] <= 82.5  # the optimum
    least = max(values.values())
    assert [(row["policy"], row["value"]) for row in told["gaps"]] == [("fcfs-easy", 345.0), ("fcfs-bb", 142.5)]
    assert told["gaps"][0]["gap"] == pytest.approx(345 - least)
    assert told["gaps"][0]["ratio"] == pytest.approx(345 / least)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--metric", "mean_wiat"), "no bound is known for the metric 'mean_wiat'"),
        (("--exact", "--window", "50"), "windows of 50 jobs may take for ever"),
        (("--time-limit", "0s"), "the time limit is 0.0 s"),
        (("--policies", "fcsf"), "unknown policy 'fcsf'"),
    ],
)
def test_bad_input_is_one_message(forebay, words, text):
    code, out, err = forebay("bounds", "table1", *words)
    assert (code, out) == (2, "")
    assert text in err
    assert len(err.strip().splitlines()) == 1


def test_comparisons_tell_what_no_policy_can_have_less_of(answer, tmp_path):
    told = answer("compare", "table1", "--policies", "fcfs,fcfs-bb", "-o", "out", "--no-plots")
    best = {row["metric"]: row["value"] for row in told["bounds"]}
    assert set(best) == {"mean_wait", "makespan"}
    table = pl.read_csv(tmp_path / "out" / "bounds.csv")
    assert table["policy"].to_list() == ["fcfs-bb", "fcfs-bb", "fcfs", "fcfs"]
    assert (table["gap"] >= 0).all()
    page = (tmp_path / "out" / "report.html").read_text()
    assert "No policy can have a mean wait below 1 min 8 s. Times that: fcfs-bb 2.1, fcfs 7.07." in page


def test_comparisons_without(answer, tmp_path):
    told = answer("compare", "table1", "--policies", "fcfs", "-o", "out", "--no-plots", "--no-bounds", "--no-report")
    assert told["bounds"] == told["gaps"] == []
    assert not (tmp_path / "out" / "bounds.csv").exists()


def test_comparisons_in_which_nodes_fail_have_none(answer):
    failing = ("--failures", "mtbf=1h,downtime=1h")
    told = answer("compare", "table1", "--policies", "fcfs", "-o", "out", "--no-plots", "--no-report", *failing)
    assert told["bounds"] == []


def test_comparisons_of_a_window_count_its_jobs(answer):
    window = ("--window", "60:200")
    told = answer("compare", "table1", "--policies", "fcfs", "-o", "out", "--no-plots", "--no-report", *window)
    least = fb.bounds("table1", metric="mean_wait", period=(60.0, 200.0)).best["mean_wait"]["value"]
    assert told["bounds"][0]["value"] == pytest.approx(least)
