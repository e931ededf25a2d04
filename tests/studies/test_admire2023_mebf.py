"""The study of malleable EASY backfilling: what it runs, its numbers by hand, and a small version of it."""

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.experiments.runs import perform
from forebay.studies import Options, load
from forebay.studies._expected import read_expected
from forebay.studies._tables import tagged
from forebay.studies.admire2023_mebf import SECTIONS, _claims, _figures, _plan, _report
from forebay.studies.admire2023_mebf import _numbers as numbers
from forebay.workload import models

EBF, MEBF = "ebf", "mebf:times=recorded"


@pytest.mark.small
def test_what_is_run():
    plan = load("admire2023-mebf").plan(Options())
    counts = Counter(run.tags["section"] for run in plan.runs)
    varied = _plan.scope(Options(), SECTIONS).settings.choices.varied
    models = {choice.model for choice in varied.values()}
    assert counts["published"] == 4 * 3 * 10 * 2
    assert counts["choices"] == 2 * 10 * (len(varied) + len(models))
    assert counts["beyond"] == 3 * 10 * 6
    # A draw is the same jobs for every policy.
    assert len({run.jobs for run in plan.runs if run.tags["section"] == "published"}) == 4 * 3 * 10
    assert {run.policy for run in plan.runs if run.tags["section"] == "published"} == {EBF, MEBF}
    with pytest.raises(InputError, match="has no parts"):
        load("admire2023-mebf").plan(Options(parts=(1,)))


@pytest.mark.small
def test_a_quick_version_has_two_draws():
    plan = load("admire2023-mebf").plan(Options(quick=True))
    assert len(plan.runs) == 4 * 3 * 2 * 2
    assert {run.tags["section"] for run in plan.runs} == {"published"}


@pytest.mark.small
def test_other_policies_stand_beside_what_claims_are_about():
    plan = load("admire2023-mebf").plan(Options(policies=("fcfs-malleable",), seeds=1, sections=("published",)))
    assert {run.tags["policy"] for run in plan.runs} == {EBF, MEBF, "fcfs-malleable"}
    assert len(plan.runs) == 4 * 3 * 3


def row(draw, policy, turnaround, waiting=10.0, **more):
    times = {"mean_execution_time": turnaround - waiting, "mean_turnaround_time": turnaround, "makespan": 100.0}
    tags = {"draw": draw, "policy": policy, "application": "mixed", "jobs": 100}
    return {**tags, **times, "utilisation_nodes": 0.5, "allocations_per_node": 4.0, **more}


@pytest.mark.small
def test_numbers_by_hand():
    bases = [row(0, EBF, 110.0), row(1, EBF, 210.0)]
    mine = [row(1, MEBF, 110.0), row(0, MEBF, 80.0)]  # in another order: 70 of 100 and 100 of 200
    fall = numbers.falls(mine, bases, numbers.EXECUTION)
    assert fall.mean == pytest.approx((0.3 + 0.5) / 2)
    assert (fall.least, fall.largest) == pytest.approx((0.3, 0.5))
    assert numbers.more(mine, bases, numbers.TURNAROUND).mean == pytest.approx((-30 - 100) / 2)


@pytest.mark.small
def test_tolerances_are_a_third_of_the_published_change():
    expected = read_expected(Path(_plan.__file__).parent / "expected.csv")
    for metric, change in (("allocations_per_node", 6.4 - 4.1), ("makespan", 60 * (700 - 400))):
        for policy in ("ebf", "mebf"):
            found = expected.find(section="published", policy=policy, metric=metric)
            assert found.value * found.tolerance == pytest.approx(change / 3, rel=0.01)
    for application in ("compute", "read", "write", "mixed"):
        found = expected.find(section="published", policy="mebf", metric=f"execution_falls_{application}")
        assert found.tolerance == pytest.approx(1 / 3, rel=0.01)


@pytest.mark.small
@pytest.mark.parametrize(("policy", "times_as_many"), [(EBF, 1), (MEBF, 4)])
def test_nodes_that_compute(policy, times_as_many):
    """A job alone: at any size it computes for as many node-seconds as at the preferred one, and reads and writes."""
    jobs = models.generate("admire-mebf:jobs=1,application=write,cost=0", 1)
    plain = fb.simulate(jobs, policy=EBF, job_model="application:kill=false").jobs
    times, shares = _figures.computing(fb.simulate(jobs, policy=policy, job_model="application:kill=false"))
    nodes = jobs.jobs["nodes"].item()
    assert shares[0] == shares[-1] == 0  # it reads first
    assert shares.max() == pytest.approx(100 * times_as_many * nodes / 500)
    computes = plain["execution_time"].item() - plain["io_time"].item()
    assert shares[:-1] @ np.diff(times) == pytest.approx(100 * nodes / 500 * computes)


@pytest.fixture(scope="module")
def small():
    """Two draws of 20 and 40 jobs of two applications on 100 nodes, two choices, one policy beyond."""
    scope = _plan.scope(Options(), SECTIONS)
    chosen = scope.settings
    varied = {name: chosen.choices.varied[name] for name in ("as it is", "largest size 2")}
    changes = {
        "platform": "admire2023:nodes=100",
        "draws": 2,
        "published": chosen.published.model_copy(update={"applications": ["compute", "mixed"], "jobs": [20, 40]}),
        "choices": chosen.choices.model_copy(update={"jobs": [20], "varied": varied}),
        "beyond": chosen.beyond.model_copy(update={"jobs": [20], "policies": ["fcfs-easy"]}),
    }
    scope = _plan.Scope(chosen.model_copy(update=changes), scope.sections, scope.specs)
    return scope, [(run, perform(run)) for run in _plan.runs(scope)]


def test_a_small_study(small, tmp_path):
    scope, finished = small
    report = _report.report(scope, finished)
    claims = report.frames["claims"]
    assert claims["claim"].n_unique() == 8
    assert set(claims["verdict"].str.slice(0, 2)) <= {"ye", "no", "un"}
    assert [len(report.frames[name]) for name in ("published", "choices", "beyond")] == [2 * 2 * 2, 2, 2]
    # A policy that never changes sizes gives each node to as many jobs as prefer it, whatever they do.
    static = report.frames["published"].filter(pl.col("policy") == "ebf", pl.col("jobs") == 40)
    assert static["allocations_per_node"].n_unique() == 1
    assert (static["falls_makespan"] == 0).all()
    for name, draw in report.figures.items():
        pictures = [path for path in draw(tmp_path / f"{name}.svg") if path.suffix == ".svg"]
        assert len(pictures) == (2 if "schedule" in name else 1)
        assert all("</svg>" in picture.read_text(encoding="utf-8") for picture in pictures)
    assert [name[:7] for name in report.figures] == [f"fig-4-{k}" for k in range(1, 6)]


def test_claims_can_fail(small):
    """Under a MEBF that takes ten times as long nothing falls."""
    scope, finished = small
    rows = tagged(numbers.rows_of(finished), section="published")
    for one in tagged(rows, policy=MEBF):
        one |= {metric.name: 10 * one[metric.name] for metric in numbers.TIMES} | {"utilisation_nodes": 0.01}
    expected = read_expected(Path(_plan.__file__).parent / "expected.csv")
    told = _claims.of(scope, rows, expected)
    falls = [row for row in told if row["claim"].startswith(("Fig. 4.1", "Conclusion", "Fig. 4.4"))]
    assert {row["verdict"] for row in falls} <= {"no", "no: less", "undecided"}
    assert {row["verdict"] for row in falls if row["claim"].startswith("Fig. 4.1")} == {"no: less"}
