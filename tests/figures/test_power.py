"""Where it is known what nodes draw, the figure of the machine over time has a panel for it."""

import polars as pl
import pytest

import forebay as fb
from cases.pooled import workload
from forebay.figures import usage

pytestmark = pytest.mark.small


def run(**parts):
    machine = fb.Platform(name="m", nodes=2, **parts)
    return fb.simulate(workload([{"id": 1, "submit": 5.0, "walltime": 20.0, "nodes": 1}]), machine, "fcfs")


@pytest.fixture(scope="module")
def drawn():
    return run(power={"idle": 100, "busy": 300, "cap": "1 kW"})


def steps(table, label):
    rows = table.filter((pl.col("panel") == "power") & (pl.col("result") == label))
    return rows.select("time", "value").rows()


def test_power_is_a_panel_in_watts(drawn, tmp_path):
    plan = usage.plan({"a": drawn, "without": run()})
    assert steps(plan.data[""], "a") == [(5.0, 400.0), (25.0, 200.0)]
    assert steps(plan.data[""], "without") == []
    assert len(plan.heights) == 3
    usage.draw({"a": drawn, "without": run()}, tmp_path / "usage.svg")


def test_of_many_results_it_is_a_strip_each(drawn, tmp_path):
    results = {**{f"run {k}": drawn for k in range(5)}, "without": run()}
    mean = (20 * 400 + 40 * 200) / 60  # over a minute from 5 on
    assert steps(usage.plan(results).data[""], "run 4") == [(5.0, pytest.approx(mean))]
    usage.draw(results, tmp_path / "usage.svg")


def test_without_power_there_is_no_panel():
    assert set(usage.plan({"a": run()}).data[""]["panel"]) == {"queue", "nodes"}
