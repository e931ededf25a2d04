"""Scores of estimators: by hand, in order of time, and on traces."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.learn._score import pinball

DATA = Path(os.environ.get("FOREBAY_DATA", "/nonexistent"))


def _workload(run_times, gap=1000.0, **more):
    n = len(run_times)
    columns = {"id": range(1, n + 1), "submit": [gap * k for k in range(n)], "walltime": [600.0] * n}
    table = columns | {"run_time": run_times, "nodes": [1] * n, "user": [1] * n} | more
    return fb.Workload("made", fb.workload.job_table(table))


def test_pinball_by_hand():
    """Short by 10 costs 9 at 0.9, too long by 10 costs 1."""
    assert pinball(np.array([90.0]), np.array([100.0]), 0.9) == pytest.approx(9)
    assert pinball(np.array([110.0]), np.array([100.0]), 0.9) == pytest.approx(1)


def test_the_median_error_of_last_two_by_hand():
    """Predicted: 600 (nothing known), 100, 150, 250; true: 100, 200, 300, 400."""
    table = fb.learn.score(_workload([100.0, 200.0, 300.0, 400.0]), ["last-two"]).table
    errors = np.array([500, 100, 150, 150])
    assert table["median_absolute_error"][0] == np.median(errors)
    assert table["pinball_50"][0] == pytest.approx(errors.mean() / 2)
    assert table["underestimated"][0] == 0.75


def test_no_job_is_learned_from_before_it_ends():
    """All are submitted before the first ends: nothing is known of any."""
    table = fb.learn.score(_workload([100.0, 200.0, 300.0], gap=1.0), ["last-two"]).table
    assert table["pinball_50"][0] == pytest.approx(np.mean([500, 400, 300]) / 2)


def test_later_jobs_change_no_earlier_prediction():
    """The first half scores as in the trace that ends there, whatever the second half holds."""
    rng = np.random.default_rng(1)
    first = rng.uniform(1, 600, 30).tolist()
    a, b = (first + rng.uniform(1, 600, 30).tolist() for _ in range(2))
    half = np.r_[np.arange(30) * 1000.0 + 600, np.full(30, np.nan)]
    scored = [fb.learn.score(_workload(one), None, half).table for one in (a, b)]
    assert scored[0].equals(scored[1])


def test_too_few_jobs():
    with pytest.raises(fb.ForebayError, match="1 job ended"):
        fb.learn.score(_workload([100.0]))


def test_an_answer_for_papers():
    scores = fb.learn.score(_workload([100.0] * 5))
    assert scores.at_once
    assert "does not tell" in scores.caption
    assert r"\toprule" in scores.to_latex()
    assert "survival" in scores.to_markdown()
    assert scores.document()["jobs"] == 5
    assert "survival" in scores._repr_html_()
    assert "best" in repr(scores)


@pytest.mark.skipif(not DATA.is_dir(), reason="FOREBAY_DATA is not set: no traces")
@pytest.mark.parametrize(
    "trace",
    [
        "swf/KTH-SP2-1996-2.1-cln.swf.gz",
        pytest.param("swf/NASA-iPSC-1993-3.1-cln.swf.gz", marks=pytest.mark.full),
        pytest.param("slurm/cirrus_2024Q1_sacct_subset.csv.gz", marks=pytest.mark.full),
    ],
)
def test_the_best_beats_last_two_by_a_tenth(trace):
    workload = fb.read(DATA / trace)
    if trace.startswith("swf/KTH"):
        workload = fb.workload.operations.slice_time(workload, 0, 60 * 86400)
    table = fb.learn.score(workload, ["last-two", "survival"]).table
    for loss in ("pinball_50", "pinball_90"):
        losses = dict(table.select("estimator", pl.col(loss)).iter_rows())
        assert losses["survival"] <= 0.9 * losses["last-two"], loss


def test_walltimes_that_are_run_times_are_not_learned_from(tmp_path):
    """Where a trace has no requested times, the reader puts run times in their place, and says so."""
    lines = [f"{k} {1000 * k} 0 {100 * k} 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1" for k in range(1, 6)]
    (tmp_path / "bare.swf").write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    workload = fb.read(tmp_path / "bare.swf")
    assert fb.learn.asked_of(workload)[0].walltime == np.inf
    assert fb.learn.score(workload, ["walltime"]).table["pinball_50"][0] > 0
