"""The published means of Kopański & Rządca (2021), met run by run on the parts of their log that are at hand.

Their values were read from vector figures: linear ones to about 0.1 %, those on log scales (fcfs, filler, fcfs-easy) to
0.15 %. The rest of the tolerance is what a chaotic system makes of what we leave out, latencies above all.
"""

import os
from pathlib import Path

import polars as pl
import pytest

import forebay as fb
from forebay.metrics import mean_bounded_slowdown

DATA = os.environ.get("FOREBAY_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="FOREBAY_DATA is not set: the parts of the log are not here")


def deviations(model, policy, metric, value):
    """Ours / published - 1 for each part."""
    folder = Path(DATA) / "kopanski"
    table = pl.read_csv(folder / "published_means_parts.csv").filter(
        (pl.col("model") == model) & (pl.col("policy") == policy) & (pl.col("metric") == metric)
    )
    found = {}
    for part, published in table.select("part", "value").rows():
        workload = fb.read(folder / model / f"part-{part}.json.gz")
        result = fb.simulate(workload, "dragonfly-96", f"{policy}:reservations=pinned", job_model=model)
        found[part] = value(result) / published - 1
    return found


@pytest.mark.parametrize("model", ["alloc-only", "io-aware"])
@pytest.mark.parametrize(("policy", "tolerance"), [("fcfs-bb", 0.002), ("sjf-bb", 0.002), ("fcfs", 0.015)])
def test_mean_waits(model, policy, tolerance):
    found = deviations(model, policy, "mean_waiting_time_s", lambda result: result.jobs["waiting_time"].mean())
    assert len(found) == 4
    assert all(abs(deviation) < tolerance for deviation in found.values()), found


@pytest.mark.parametrize("model", ["alloc-only", "io-aware"])
def test_mean_waits_of_filler(model):
    found = deviations(model, "filler", "mean_waiting_time_s", lambda result: result.jobs["waiting_time"].mean())
    assert all(abs(deviation) < 0.015 for deviation in found.values()), found


@pytest.mark.parametrize("model", ["alloc-only", "io-aware"])
@pytest.mark.parametrize("policy", ["fcfs-bb", "sjf-bb"])
def test_mean_bounded_slowdowns(model, policy):
    found = deviations(
        model, policy, "mean_bounded_slowdown_10min", lambda result: mean_bounded_slowdown(result, 600.0)
    )
    assert all(abs(deviation) < 0.003 for deviation in found.values()), found
