"""Tables of results in the words of workloads, and for pandas."""

import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay._support.frames import as_pandas
from forebay.errors import InputError
from forebay.metrics._table import measure
from forebay.results._waits import completed

FIRST = ("id", "submit", "nodes", "walltime", "start", "end", "run_time", "wait", "turnaround", "slowdown", "state")


def test_words_are_those_of_workloads():
    result = fb.simulate("table1", policy="fcfs-easy")
    table, jobs, asked = result.table, result.jobs, fb.read("table1").jobs
    assert table.columns[: len(FIRST)] == list(FIRST)
    for name in ("id", "submit", "nodes", "walltime"):
        assert table[name].to_list() == asked[name].to_list()
    for old, new in (("starting_time", "start"), ("finish_time", "end"), ("execution_time", "run_time")):
        assert table[new].to_list() == jobs[old].to_list()
    assert table["wait"].to_list() == jobs["waiting_time"].to_list()
    assert set(jobs.columns) - set(table.columns) >= {"job_id", "metadata", "stretch"}


def test_waits_are_those_of_summaries():
    """Jobs that are interrupted wait more than until their first start."""
    result = fb.simulate("table1", policy="fcfs-easy", failures="mtbf=600s,downtime=60s", seed=3)
    for name, of in (("wait", "wait"), ("slowdown", "slowdown"), ("turnaround", "turnaround_time")):
        expected = completed(result.jobs.lazy(), result.jobs.columns).select(measure(of).alias("x")).collect()["x"]
        assert result.table[name].to_list() == expected.to_list()
    assert result.table["wait"].sum() > result.jobs["waiting_time"].sum()
    began = result.table.filter(pl.col("start").is_not_null())
    assert began["wait"].mean() == pytest.approx(result.summary["mean_wait"])


def test_shared_nodes_count_cores():
    platform = fb.Platform(name="a", sharing=True, classes=(fb.platforms.NodeClass(name="a", nodes=2, cores=4),))
    columns = {"submit": [0.0], "walltime": [9.0], "run_time": [5.0], "nodes": [2], "cores": [3]}
    workload = fb.Workload("small", fb.workload.job_table({"id": [7], **columns}))
    table = fb.simulate(workload, platform, "fcfs").table
    assert table["cores"].to_list() == [4]  # two a node
    assert table["nodes"].to_list() == [2]


def test_pandas_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r'pip install "forebay\[pandas\]"'):
        fb.simulate("table1").to_pandas()


def test_columns_for_pandas(monkeypatch):
    """Plain arrays and lists: nothing that wants pyarrow."""
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    frame = pl.DataFrame({"a": [1, 2], "b": [1.5, None], "c": [3, None], "d": ["x", None]})
    made = as_pandas(frame)
    assert made["a"].tolist() == [1, 2]
    assert made["a"].dtype == np.int64
    assert made["b"][0] == 1.5
    assert np.isnan(made["b"][1])
    assert np.isnan(made["c"][1])
    assert made["d"] == ["x", None]
