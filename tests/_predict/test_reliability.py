"""Predictions scored: by hand, and on a trace."""

import os
from pathlib import Path

import numpy as np
import pytest

import forebay as fb
from forebay._predict import _scoring
from forebay._predict._quantiles import LEVELS

DATA = Path(os.environ.get("FOREBAY_DATA", "/nonexistent"))


def test_measures_by_hand():
    """Waits of 100 and 200 s, predicted as 100 s for sure, and as 100 to 300 s, 200 in the middle."""
    found = np.array([[100.0] * len(LEVELS), np.interp(LEVELS, [0.05, 0.5, 0.95], [100, 150, 300])])
    told = _scoring.measures(found, np.array([100.0, 290.0]))
    assert told["coverage"] == {"0.5": 0.5, "0.8": 0.5, "0.9": 1.0}
    assert told["median_absolute_error"] == 70.0
    assert told["mean_absolute_error"] == 70.0


def test_an_answer(tmp_path):
    found = fb.reliability("table1", policy="fcfs", moments=3, futures=4)
    told = found.document()
    assert set(told["coverage"]) == {"0.5", "0.8", "0.9"}
    assert set(told["baselines"]) == {"slurm", "similar", "recent"}
    assert all(set(told["coverage"]) == set(one["coverage"]) for one in told["baselines"].values())
    assert told["baselines"]["slurm"]["median_absolute_error"] == 0  # its walltimes are right
    assert {path.name for path in found.save(tmp_path)} == {
        *("reliability.json", "predictions.csv", "reliability.svg", "reliability.csv"),
    }
    assert r"\toprule" in found.to_latex()
    assert "3 waits" in str(found)
    assert [file.name for file in found.draw(tmp_path / "a.pdf")] == ["a.pdf", "a.csv"]
    with pytest.raises(fb.ForebayError, match="reliability"):
        found.plot("starts")


def test_nothing_to_predict():
    with pytest.raises(fb.ForebayError, match="no job had to wait"):
        fb.reliability("table1", "flat:nodes=100", "fcfs", futures=2)
    with pytest.raises(fb.ForebayError, match="moments is 0"):
        fb.reliability("table1", moments=0)


@pytest.mark.skipif(not DATA.is_dir(), reason="FOREBAY_DATA is not set: no traces")
@pytest.mark.full
@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb"])
def test_on_kth(policy):
    """Of 400 waits a share of 0.9 has a standard error of 1.5 %: 87 to 93 % is two of them either way."""
    told = fb.reliability(DATA / "swf/KTH-SP2-1996-2.1-cln.swf.gz", policy=policy, moments=400).document()
    assert 0.45 <= told["coverage"]["0.5"] <= 0.55
    assert 0.87 <= told["coverage"]["0.9"] <= 0.93
    errors = {name: one["median_absolute_error"] for name, one in told["baselines"].items()}
    assert told["median_absolute_error"] <= 0.5 * errors["slurm"]
    assert told["median_absolute_error"] < min(errors.values())
