"""Who gains and who loses: totals of groups against the reference, their intervals, and their order."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from forebay.experiments.comparison import groups
from forebay.experiments.comparison.blocks import Blocks
from forebay.experiments.comparison.groups import Fares, Members
from forebay.experiments.statistics import t_quantile
from forebay.metrics._numbers import hours_of_change
from forebay.report import _losers

pytestmark = pytest.mark.small


def jury(n, resamples=400):
    return SimpleNamespace(blocks=Blocks(np.arange(float(n)), 0.0, resamples=resamples), reference="old")


def fares(wait):
    wait = np.atleast_2d(np.asarray(wait, float))
    return Fares(wait, np.ones(wait.shape), np.zeros((1, wait.shape[1])))


def members(place, names="abcdefgh"):
    return Members("user", np.asarray(place), list(names[: max(place) + 1]))


def slow_totals(values, place, n_groups, blocks):
    """Every drawn trace cell by cell, and the spread of its totals."""
    draws = np.zeros((len(blocks._weights), n_groups))
    for run in values:
        for job, value in enumerate(run):
            if np.isfinite(value):
                draws[:, place[job]] += blocks._weights[:, blocks._cells[job]] * value / len(values)
    half = draws[1:].std(axis=0) * np.sqrt(blocks.count / (blocks.count - 1)) * t_quantile(0.975, blocks.count - 1)
    return draws[0], half


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 1000), st.integers(1, 3), st.integers(50, 90))
def test_totals_are_those_of_every_drawn_trace(seed, runs, n):
    rng = np.random.default_rng(seed)
    values = rng.normal(1, 3, (runs, n))
    values[rng.random((runs, n)) < 0.2] = np.nan
    place = rng.integers(0, 4, n)
    blocks = Blocks(np.arange(float(n)), 0.0, resamples=300)
    net, half = blocks.totals(values, place, 4)
    wanted, width = slow_totals(values, place, 4, blocks)
    assert net == pytest.approx(wanted)
    assert half == pytest.approx(width)


def test_too_few_jobs_have_totals_without_an_interval():
    net, half = Blocks(np.arange(3.0), 0.0).totals(np.array([[1.0, 2.0, np.nan]]), np.array([0, 1, 1]), 2)
    assert (net.tolist(), half) == ([1.0, 2.0], None)


def test_hours_by_hand():
    """Two runs of three jobs: a waits 1 h longer in one of them, b 3 h less in both, c as long."""
    old = fares([[3600, 4 * 3600, 60], [0, 3 * 3600, 60]])
    new = fares([[7200, 3600, 60], [0, 0, 60]])
    frame = groups._frame(jury(3), members([0, 1, 2]), "new", new, old)
    assert frame["name"].to_list() == ["a", "c", "b"]
    assert frame["net_hours"].to_list() == [0.5, 0, -3]
    assert frame["lost_hours"].to_list() == [0.5, 0, 0]
    assert frame["gained_hours"].to_list() == [0, 0, 3]
    assert frame["wait_hours"].to_list() == [1, 60 / 3600, 0.5]
    assert frame["mean_wait"].to_list() == [3600, 60, 1800]
    assert frame["change"].to_list() == pytest.approx([1, 0, 0.5 / 3.5 - 1])
    assert frame["verdict"].to_list() == ["undecided", "same", "undecided"]  # no interval of three jobs


def test_a_group_that_always_loses_loses_and_one_job_decides_nothing():
    """Of 200 jobs: a's all wait an hour longer, b's an hour less, c has one job that waits ten days longer."""
    place = np.arange(200) % 2
    place[77] = 2
    later = np.where(place == 0, 3600.0, -3600.0)
    later[77] = 864_000
    old = fares(np.full(200, 7200.0))
    frame = groups._frame(jury(200), members(place.tolist()), "new", fares(7200.0 + later), old)
    assert dict(frame.select("name", "verdict").iter_rows()) == {"a": "loses", "b": "gains", "c": "undecided"}
    assert frame["name"].to_list() == ["c", "a", "b"]
    for row in frame.iter_rows(named=True):
        assert row["low_hours"] < row["net_hours"] < row["high_hours"]
        assert row["net_hours"] == row["lost_hours"] - row["gained_hours"]


def test_jobs_that_ran_under_one_policy_do_not_count():
    old, new = fares([np.nan, 3600, 0]), fares([7200, 7200, np.nan])
    frame = groups._frame(jury(3), members([0, 0, 0]), "new", new, old)
    assert frame["net_hours"].to_list() == [1]
    assert frame["jobs"].to_list() == [2]


def test_without_the_reference_there_is_no_change():
    frame = groups._frame(jury(2), members([0, 1]), "new", fares([5, 7]), None)
    assert frame.select(*groups.CHANGES, "verdict").null_count().row(0) == (2,) * 7
    assert sorted(frame["mean_wait"]) == [5, 7]


def test_a_quantile_is_a_mean_over_runs():
    waits = np.array([[0, 10, 20, 5.0], [4, 4, 4, np.nan]])
    found = groups._quantiles(members([0, 0, 0, 1]), waits, 0.5)
    assert found.tolist() == [(10 + 4) / 2, 5]


def test_ends_show_both_sides():
    assert _losers.ends([1, 2, 3], 3) == ([1, 2, 3], 0, [])
    assert _losers.ends(list(range(10)), 5) == ([0, 1, 2], 5, [8, 9])
    assert _losers.ends([1, 2], 1) == ([1], 1, [])


@pytest.mark.parametrize(
    ("value", "decided", "text"),
    [
        (1240.4, False, "+1,240"),
        (-99.96, False, "-100"),
        (10, False, "+10.0"),
        (-0.0042, False, "0"),
        (-0.0042, True, "-0.004"),
        (0.0, True, "0"),
        (0.5, False, "+0.50"),
    ],
)
def test_hours_show_their_sign(value, decided, text):
    assert hours_of_change(value, decided) == text


def test_hours_with_their_interval():
    row = {"net_hours": 120.0, "low_hours": 80.2, "high_hours": 160.0, "verdict": "loses"}
    assert _losers.hours(row) == "+120 h (+80.2 to +160)"
    assert _losers.hours(row, narrow=True) == "+120 h"
    assert _losers.hours(row | {"low_hours": None}) == "+120 h"
    assert _losers.hours({}) == "-"


@pytest.fixture(scope="module")
def compared():
    jobs = {
        "id": [1, 2, 3, 4, 5],
        "submit": [0.0, 1, 2, 3, 4],
        "walltime": [100.0, 100, 10, 10, 50],
        "run_time": [100.0, 100, 10, 10, 50],
        "nodes": [3, 4, 1, 1, 2],
    }
    table = fb.workload.job_table(jobs).with_columns(
        user=pl.Series([1, 2, 1, 3, -1], dtype=pl.Int64), qos=pl.Series([1, 1, 2, 2, 2], dtype=pl.Int64)
    )
    workload = fb.Workload("mine", table, names={"user": {1: "ann", 2: "bob"}})
    return fb.compare(workload, ["fcfs", "filler"], "flat:nodes=4", reference="fcfs", replicas=0)


def test_a_comparison_by_hand(compared):
    """Filler lets jobs 3 and 4 go at 2 and 12 s, on the node beside job 1: fcfs starts them at 200 s, after job 2."""
    rows = compared.groups
    assert rows["by"].unique(maintain_order=True).to_list() == ["user", "qos"]
    mine = rows.filter((pl.col("by") == "user") & (pl.col("policy") == "filler"))
    net = {"bob": 0, "unknown": 0, "3": (9 - 197) / 3600, "ann": (0 - 198) / 3600}
    assert dict(mine.select("name", "net_hours").iter_rows()) == pytest.approx(net)
    assert mine["name"].to_list() == ["bob", "unknown", "3", "ann"]  # of those that lose nothing, the largest first


def test_the_tally_counts_words(compared):
    frame = compared.groups.with_columns(verdict=pl.when(pl.col("policy") == "filler").then(pl.lit("loses")))
    (users, qos) = _losers.tally(frame, "filler")
    assert (users["by"], users["groups"], users["loses"], users["gains"]) == ("user", 4, 4, 0)
    assert users["worst"]["net_hours"] == max(
        frame.filter((pl.col("by") == "user") & (pl.col("policy") == "filler"))["net_hours"]
    )
    assert qos["groups"] == 2
    assert _losers.tally(frame, "fcfs") == []
