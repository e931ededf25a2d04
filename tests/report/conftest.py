"""Folders of comparisons, made once."""

import json

import polars as pl
import pytest

from forebay import simulate
from forebay.metrics import summary
from forebay.results import document, saving

HOSTILE = "<script>alert(1)</script>"

VERDICTS = {
    "policy": ["fcfs-easy", "fcfs", "fcfs-easy", "fcfs"],
    "reference": ["fcfs-bb"] * 4,
    "metric": ["mean_wait"] * 2 + ["p95_wait"] * 2,
    "value": [345.0, 400.0, 900.0, None],
    "reference_value": [142.5, 142.5, 300.0, 300.0],
    "change": [1.421, -0.25, 2.0, None],
    "low": [0.9, -0.4, -0.1, None],
    "high": [2.0, -0.1, 5.0, None],
    "verdict": ["worse", "better", "undecided", "undecided"],
    "n": [20, 20, 20, 0],
    "over": ["blocks", "blocks", "blocks", "blocks"],
}


def save(folder, source, policy, **facts):
    """A run as the command line saves it."""
    result = simulate(source, policy=policy)
    folder.mkdir(parents=True)
    told = document(result, window=None, summary=summary(result)) | facts
    with saving(folder, result, told):
        pass
    return result


def comparison(folder, policies=("fcfs", "fcfs-easy", "fcfs-bb"), source="table1", **facts):
    """A folder as `forebay compare` leaves it."""
    for policy in policies:
        save(folder / policy, source, policy, **facts)
    return folder


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Three policies, and verdicts."""
    folder = comparison(tmp_path_factory.mktemp("small"))
    pl.DataFrame(VERDICTS).write_csv(folder / "verdicts.csv")
    files = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    (folder / "compare.json").write_text(json.dumps({"format": 1, "finished": True, "files": files}))
    return folder


@pytest.fixture(scope="session")
def default(tmp_path_factory):
    """Two policies on the embedded default workload: 3,000 jobs that stage data."""
    return comparison(tmp_path_factory.mktemp("default"), ("fcfs-bb", "fcfs-easy"), "default")
