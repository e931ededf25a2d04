"""The study of SAS: what it runs, its numbers by hand, and a smoke of two small workloads."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from forebay.errors import InputError
from forebay.experiments.runs import perform
from forebay.studies import Options, load
from forebay.studies._expected import read_expected
from forebay.studies._tables import tagged
from forebay.studies.sas2019 import SECTIONS, _claims, _plan, _report
from forebay.studies.sas2019 import _numbers as numbers


@pytest.mark.small
def test_what_is_run():
    plan = load("sas2019").plan(Options())
    counts = Counter(run.tags["section"] for run in plan.runs)
    # By workload and machine: 19 probabilities drawn ten times, 0 and 1 once, SAS once.
    each = 19 * 10 + 2 + 1
    assert counts["random"] == 10 * 2 * each
    assert counts["staging"] == 10 * 2 * 3 * each
    assert counts["mistakes"] == 10 * (19 * 10 + 2 + 40 * 10 + 1)
    assert 20_000 < len({run.key for run in plan.runs}) < 25_000
    # One workload is the same jobs for every policy, tier and bandwidth.
    assert len({run.jobs for run in plan.runs if run.tags["section"] in ("random", "staging")}) == 10
    with pytest.raises(InputError, match="has no parts"):
        load("sas2019").plan(Options(parts=(1,)))


@pytest.mark.small
def test_a_tenth_of_it():
    quick, full = (len(load("sas2019").plan(Options(quick=q)).runs) for q in (True, False))
    assert quick < 0.15 * full


@pytest.mark.small
def test_other_policies_stand_beside_sas():
    plan = load("sas2019").plan(Options(quick=True, policies=("sas-contention",), sections=("random",)))
    assert {run.tags["policy"] for run in plan.runs} == {"random", "sas", "sas-contention"}


def row(workload, makespan, nodes, **tags):
    return {"workload": workload, "makespan": makespan, "utilisation_nodes": nodes, **tags}


@pytest.mark.small
def test_numbers_by_hand():
    rows = [row(0, 100.0, 0.5, p=0.0), row(0, 300.0, 0.9, p=0.0), row(1, 400.0, 0.2, p=0.0)]
    # Equation (3): 50 + 270 + 80 of 800; workloads count once each: (200 + 400) / 2.
    assert numbers.utilisation(rows, numbers.NODES) == pytest.approx(0.5)
    assert numbers.mean(rows, numbers.MAKESPAN) == 300.0
    others = [row(0, 400.0, 1.0), row(1, 400.0, 1.0)]
    assert numbers.ratio(rows, others, numbers.MAKESPAN).mean == pytest.approx((0.5 + 1.0) / 2)


@pytest.mark.small
def test_the_lowest_point_of_a_fit():
    places = [k / 10 for k in range(11)]
    one = numbers.Curve(places, [3 + (x - 0.37) ** 2 for x in places], [0.0] * 11)
    assert one.lowest == 0.4
    assert one.fitted == pytest.approx(0.37, abs=1e-3)
    # A curve that only falls is lowest at its end, wherever its parabola would turn.
    assert numbers.Curve(places, [2 - x for x in places], [0.0] * 11).fitted == 1.0


@pytest.fixture(scope="module")
def small():
    """Two workloads, five probabilities, three thetas, all sections: 188 runs of 500 jobs."""
    scope = _plan.scope(Options(), SECTIONS)
    chosen = scope.settings
    chosen = chosen.model_copy(
        update={
            "workloads": 2,
            "repetitions": 1,
            "steps": 4,
            "mistakes": chosen.mistakes.model_copy(update={"steps": 2}),
            "staging": chosen.staging.model_copy(update={"k": [1]}),
            "beyond": chosen.beyond.model_copy(update={"k": [5], "policies": ["sas", "sas-contention"]}),
            "sensitivity": chosen.sensitivity.model_copy(update={"rate": [0.3], "data": [], "mean": [], "steps": 2}),
        }
    )
    scope = _plan.Scope(chosen, scope.sections, scope.specs)
    return scope, [(run, perform(run)) for run in _plan.runs(scope)]


def test_a_small_study(small, tmp_path):
    scope, finished = small
    report = _report.report(scope, finished)
    claims = report.frames["claims"]
    assert set(claims["verdict"]) <= {"yes", "no", "undecided"}
    assert claims["claim"].n_unique() > 12
    # A claim that two workloads of any draw can bear out: it is far from the edge. One with an interval is not decided.
    for claim, held in (
        ("Random: use of nodes slumps with p", {"yes"}),
        ("SAS: more fast storage is better, makespan", {"yes", "undecided"}),
    ):
        told = claims.filter((pl.col("claim") == claim) & pl.col("where").is_in(["2048GB", "k = 5"]))["verdict"]
        assert told[0] in held
    for name, draw in report.figures.items():
        (picture, table) = draw(tmp_path / f"{name}.svg")
        assert "</svg>" in picture.read_text(encoding="utf-8")
        assert len(pl.read_csv(table)) > 10
    assert set(report.figures) == {"fig-3-sas-and-random", "fig-4-staging-bandwidth", "fig-5-mistakes"}


def test_use_is_that_of_the_published_text_roughly(small):
    """Ten workloads are within 10 points, see the README; two are within twice that."""
    _, finished = small
    rows = [{**run.tags, **record.summary} for run, record in finished]
    sas = tagged(rows, section="random", policy="sas", capacity="2048GB")
    expected = read_expected(Path(_plan.__file__).parent / "expected.csv")
    for metric in (numbers.NODES, numbers.FAST):
        published = expected.find(section="random", policy="sas", metric=metric.name)
        assert abs(numbers.utilisation(sas, metric) - published.value) < 2 * published.tolerance * published.value


def test_claims_can_fail(small):
    """SAS three times as slow is below nobody, and its claims are not borne out."""
    scope, finished = small
    rows = []
    for run, record in finished:
        worse = 3.0 if run.tags["policy"] == "sas" else 1.0
        numbers_of = {key: value * worse for key, value in record.summary.items() if key in ("makespan",)}
        rows.append({**run.tags, **record.summary, **numbers_of})
    told = _claims.of(scope, "random", tagged(rows, section="random"))
    below = {row["verdict"] for row in told if row["claim"] == "SAS: makespan below every p"}
    assert "no" in below
    assert "yes" not in below
