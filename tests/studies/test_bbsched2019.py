"""The study of BBSched: the motivating example, what it runs, and a smoke of one draw."""

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from forebay import platforms
from forebay.errors import InputError
from forebay.studies import Options, load
from forebay.studies._expected import read_expected
from forebay.studies.bbsched2019 import SECTIONS, _example, _fronts, _plan, _report


@pytest.mark.small
@pytest.mark.parametrize("policy", _example.METHODS)
def test_the_motivating_example(policy):
    assert _example.started(policy) == _example.METHODS[policy]


@pytest.mark.small
def test_the_example_uses_what_was_published():
    expected = read_expected(Path(_example.__file__).parent / "expected.csv")
    for policy in ("bbsched", "window-naive", "window-packing"):
        uses = dict(zip(("nodes_in_use", "buffer_in_use"), _example.used(_example.started(policy)), strict=True))
        for metric, use in uses.items():
            assert expected.find(section="example", policy=policy, metric=metric).value == use / 100


@pytest.mark.small
def test_what_is_run(no_data):
    plan = load("bbsched2019").plan(Options())
    expected = dict.fromkeys(("S1", "S2", "S3", "S4"), 9 * 30) | dict.fromkeys(("S5", "S6", "S7"), 8 * 30)
    assert Counter(run.tags["workload"] for run in plan.runs) == expected
    assert all(("theta-ssd" in run.platform) == (run.tags["section"] == "ssd") for run in plan.runs)
    assert all("order=wfp" in run.policy for run in plan.runs)
    # One draw is the same jobs for every method.
    assert len({run.jobs for run in plan.runs if run.tags["workload"] == "S1"}) == 30
    with pytest.raises(InputError, match="has no parts"):
        load("bbsched2019").plan(Options(parts=(1,)))


@pytest.mark.small
def test_another_policy_beside_the_reference(no_data):
    plan = load("bbsched2019").plan(Options(policies=("fcfs-bb",), quick=True))
    assert {run.policy for run in plan.runs} == {"window-naive:order=wfp", "fcfs-bb"}


@pytest.mark.small
def test_waste_by_hand():
    """Half of the time a job has all 100 nodes, of which 50 are large, and asks for half of what they have.

    Then a quarter of all SSDs over time is in use, and as much is in its nodes and unused.
    """
    machine = platforms.load("theta-ssd:nodes=100,large_nodes=50")
    row = {"utilisation_nodes": 0.5, "utilisation_ssd_large": 0.5, "utilisation_ssd": 0.25}
    assert _report.wasted(row, machine) == pytest.approx(0.25)
    # On the 50 small nodes alone, all the time: these have a third of all SSDs.
    row = {"utilisation_nodes": 0.5, "utilisation_ssd_large": 0.0, "utilisation_ssd": 0.1}
    assert _report.wasted(row, machine) == pytest.approx(1 / 3 - 0.1)


@pytest.mark.small
def test_hypervolume_by_hand():
    room = np.array([10, 10])
    assert _fronts.covered(np.array([[10, 2], [8, 9]]), room) == pytest.approx(0.8 * 0.9 + 0.2 * 0.2)
    assert _fronts.covered(np.array([[5, 5]]), room) == pytest.approx(0.25)
    assert _fronts.covered(np.array([[10, 10]]), room) == pytest.approx(1)


def test_smoke(no_data, carried_out):
    wanted = Options(quick=True, sections=("example", "workloads"), policies=("bbsched-exact", "window-packing"))
    report, files = carried_out("bbsched2019", wanted)
    told = report.frames["workloads"]
    assert len(told) == 4 * 3
    naive = told.filter(pl.col("policy") == "window-naive")
    assert naive["ratio_mean_waiting_time"].to_list() == [1.0] * 4
    example = report.frames["example"]
    assert example["jobs"].to_list() == example["expected"].to_list()
    assert {file.stem for file in files if file.suffix == ".svg"} == {"front-of-the-example", "waits", "slowdowns"}


def test_smoke_with_ssds(no_data, carried_out):
    report, _ = carried_out("bbsched2019", Options(quick=True, sections=("ssd",), policies=("window-packing",)))
    told = report.frames["ssd"]
    assert len(told) == 3 * 2
    # The more jobs need large nodes, the more is in use, and the less of their nodes' SSDs is unused.
    naive = told.filter(pl.col("policy") == "window-naive")
    assert naive["utilisation_ssd"].is_sorted()
    assert (told["wasted_ssd"] > 0).all()
    assert (told["utilisation_ssd"] + told["wasted_ssd"] < 1).all()


def test_genetic_fronts_come_near_the_exact_ones(no_data):
    """Never beyond, and nearer with every generation that is looked at."""
    scope = _plan.scope(Options(), SECTIONS)
    fewer = scope.settings.fronts.model_copy(update={"windows": 10, "seeds": 2})
    scope = _plan.Scope(scope.settings.model_copy(update={"fronts": fewer}), scope.sections, {}, None, None)
    found = _fronts.quality(scope, _fronts.windows(scope), 0.05)
    assert found.shape == (20, len(fewer.generations))
    assert (found <= 1 + 1e-12).all()
    assert found[:, -1].mean() > 0.95
    assert found[:, -1].mean() > found[:, 0].mean()
