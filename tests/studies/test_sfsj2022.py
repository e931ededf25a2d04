"""The study of node stealing: what it runs, its toy example, its numbers by hand, and a small version of it."""

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from forebay.errors import InputError
from forebay.experiments.runs import perform
from forebay.results import Record
from forebay.studies import Options, load
from forebay.studies._expected import read_expected
from forebay.studies.sfsj2022 import SECTIONS, _claims, _plan, _report
from forebay.studies.sfsj2022 import _numbers as numbers

BASE, SFSJ = "conservative", "sfsj"
FOLDER = Path(_plan.__file__).parent


@pytest.mark.small
def test_what_is_run():
    plan = load("sfsj2022").plan(Options())
    counts = Counter(run.tags["section"] for run in plan.runs)
    cases = _plan.scope(Options(), SECTIONS).settings.beyond.cases.values()
    assert counts == {
        "toy": 3,
        "published": 6 * 3 * 10 * 2,
        "loads": 6 * 10 * 2,
        "variants": 10 * 20,
        "beyond": 5 * sum(len(case.policies) for case in cases),
    }
    published = [run for run in plan.runs if run.tags["section"] == "published"]
    # A draw is the same jobs and failures for every policy, and other ones than those of another draw.
    assert len({run.jobs for run in published}) == 10
    assert len({run.failures for run in published}) == 6 * 3 * 10
    assert {run.window for run in published} == {(10 * 86400.0, 30 * 86400.0)}
    with pytest.raises(InputError, match="has no parts"):
        load("sfsj2022").plan(Options(parts=(1,)))


@pytest.mark.small
def test_a_quick_version_has_one_draw_and_two_cells():
    plan = load("sfsj2022").plan(Options(quick=True))
    assert len(plan.runs) == 3 + 2 * 2
    assert {run.tags["section"] for run in plan.runs} == {"toy", "published"}


@pytest.mark.small
def test_variants_are_all_eighteen_and_the_other_reading():
    specs = _plan.variants(_plan.scope(Options(), SECTIONS))
    assert len(specs) == len(set(specs.values())) == 19
    assert specs["111"] == SFSJ
    assert specs["323"] == "steal:variant=323"
    assert specs["131"] == "steal:variant=131"


@pytest.mark.small
def test_arrivals_outlast_the_window():
    from forebay.experiments.runs import workload_of

    runs = load("sfsj2022").plan(Options(sections=("published",))).runs
    for jobs in dict.fromkeys(run.jobs for run in runs):
        assert workload_of(jobs).jobs["submit"].max() > 30 * 86400


@pytest.mark.small
def test_the_toy_example_is_that_of_the_text():
    runs = load("sfsj2022").plan(Options(sections=("toy",))).runs
    finished = [(run, perform(run)) for run in runs]
    flows = [record.measures["turnaround_time"].tolist() for _, record in finished]
    assert flows == [[8, 5, 10, 20, 7], [8, 5, 15, 25, 3], [8, 11, 11, 21, 10]]
    expected = read_expected(FOLDER / "expected.csv")
    told = _claims.toy(finished, expected)
    assert len(told) == len(expected) == 16
    assert {row["verdict"] for row in told} == {"yes"}
    # Flows of the one are not those of the other: the claims can fail.
    (_, first), (run, _) = finished[1], finished[2]
    assert {row["verdict"] for row in _claims.toy([(run, first)], expected)} == {"yes", "no"}


def row(draw, useful, large, small):
    return {"draw": draw, "useful_utilisation": useful, "flow_large": large, "flow_small": small}


@pytest.mark.small
def test_numbers_by_hand():
    bases = [row(0, 0.5, 100.0, 10.0), row(1, 0.6, 300.0, 30.0)]
    mine = [row(1, 0.62, 260.0, 33.0), row(0, 0.51, 80.0, 11.0)]  # in another order
    assert numbers.more(mine, bases, numbers.USEFUL).mean == pytest.approx(0.015)
    # The mean falls from 200 to 170, by 15 %.
    fall = numbers.rises(mine, bases, numbers.LARGE)
    assert fall.mean == pytest.approx(-0.15)
    assert (fall.least, fall.largest) == pytest.approx((-0.2, -0.1))
    assert numbers.rises(mine, bases, numbers.SMALL).mean == pytest.approx(0.1)


@pytest.mark.small
@pytest.mark.parametrize(
    ("large", "small", "held"),
    [
        ((-10.0, -11.0), (1.0, 1.1), ("yes", "yes")),
        ((-10.0, -11.0), (-1.0, -1.1), ("yes", "no")),
        ((-10.0, -11.0), (5.0, 5.1), ("yes", "yes, not slightly")),
        ((10.0, 11.0), (-1.0, 1.0), ("no", "undecided")),
    ],
)
def test_verdicts_by_hand(large, small, held):
    bases = [row(k, 0.5, 100.0, 20.0) for k in range(2)]
    mine = [row(k, 0.5, 100.0 + large[k], 20.0 + small[k]) for k in range(2)]
    assert (_claims.large_drop(mine, bases), _claims.small_rise(mine, bases)) == held
    assert _claims.utilisation_improves(mine, bases) == "undecided"


@pytest.mark.small
def test_flows_by_size():
    flow, nodes = np.array([1.0, 2.0, 4.0, 8.0]), np.array([512.0, 1024.0, 4096.0, 512.0])
    record = Record({"summary": {}}, {"turnaround_time": flow, "requested_nodes": nodes})
    found = numbers._by_size(record)
    assert found == {"flow_small": pytest.approx(11 / 3), "flow_middle": 4.0, "flow_large": None}


@pytest.fixture(scope="module")
def small():
    """Two draws of 60 jobs on 64 nodes that fail often, two cells, and two cases."""
    scope = _plan.scope(Options(), SECTIONS)
    chosen = scope.settings
    cases = {name: chosen.beyond.cases[name] for name in ("as published", "over EASY")}
    changes = {
        "platform": "flat:nodes=64",
        "workload": "lublin99:jobs=60,nodes=64",
        "draws": 2,
        "window": [0.0, 30.0],
        "published": chosen.published.model_copy(update={"mtbf": ["1h"], "downtime": ["10min", "1h"]}),
        "loads": chosen.loads.model_copy(update={"loads": [0.5]}),
        "beyond": chosen.beyond.model_copy(update={"draws": 2, "cases": cases}),
    }
    scope = _plan.Scope(chosen.model_copy(update=changes), scope.sections, scope.specs)
    with pytest.MonkeyPatch.context() as patch:
        classes = zip(numbers.SIZES, ((9, 64), (3, 8), (1, 2)), strict=True)
        patch.setattr(numbers, "SIZES", dict(classes))
        yield scope, [(run, perform(run)) for run in _plan.runs(scope)]


def test_a_small_study(small, tmp_path):
    scope, finished = small
    report = _report.report(scope, finished)
    assert [len(report.frames[name]) for name in ("toy", "claims", "published", "loads", "variants", "beyond")] == [
        16,
        6,
        2 * 2,
        2,
        20,
        2 * 2,
    ]
    published = report.frames["published"]
    shares = [metric.name for metric in numbers.SHARES.values()]
    assert published.select(total=pl.sum_horizontal(shares))["total"].to_list() == pytest.approx([1.0] * 4)
    assert (published.filter(policy=BASE)["change_useful_utilisation"] == 0).all()
    assert (published.filter(policy=BASE)["n_steals"] == 0).all()
    assert published.filter(policy=SFSJ)["n_steals"].sum() > 0
    # Over conservative backfilling the variant 111 is the proposed policy.
    same = published.filter(policy=SFSJ, downtime="1h").select("useful_utilisation", "mean_flow")
    assert report.frames["variants"].filter(policy="111").select("useful_utilisation", "mean_flow").equals(same)
    assert list(report.figures) == ["fig-3-1-toy", "changes", "node-time", "loads", "variants"]
    for name, draw in report.figures.items():
        pictures = [path for path in draw(tmp_path / f"{name}.svg") if path.suffix == ".svg"]
        assert len(pictures) == 1
        assert "</svg>" in pictures[0].read_text(encoding="utf-8")
