"""The study of the I/O-intensity-aware scheduler: what it runs, its numbers by hand, and a smoke of small workloads."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.experiments.runs import perform
from forebay.platforms import load as machine
from forebay.studies import Options, load
from forebay.studies._expected import read_expected
from forebay.studies.admire2023_io import SECTIONS, _claims, _plan, _report, _series
from forebay.studies.admire2023_io import _numbers as numbers
from forebay.studies.admire2023_io._settings import FOLDER
from forebay.workload import models
from twins import intensity

STUDY = "admire2023-io"
BASE = "fcfs-malleable"
RUN = "application:kill=false"


@pytest.mark.small
def test_what_is_run():
    plan = load(STUDY).plan(Options(sections=("published", "bound", "choices")))
    counts = Counter(run.tags["section"] for run in plan.runs)
    # Choices, by workload: four policies as they are and at four loads, three of them by the printed equation.
    assert counts == {"published": 20 * 7, "bound": 20 * 7, "choices": 3 * (4 * (1 + 4) + 3)}
    # One workload is the same jobs for every policy and both machines.
    assert len({run.jobs for run in plan.runs if run.tags["section"] != "choices"}) == 20
    assert {run.job_model for run in plan.runs} == {RUN}
    kept = [run for run in plan.runs if run.keep]
    assert {(run.tags["section"], run.tags["workload"]) for run in kept} == {("published", 0)}


@pytest.mark.small
def test_options():
    assert {run.tags["section"] for run in load(STUDY).plan(Options()).runs} == {"published"}
    few = load(STUDY).plan(Options(seeds=2, sections=("published", "choices"))).runs
    assert {run.tags["workload"] for run in few} == {0, 1}
    # The reference is always there: changes are against it.
    named = load(STUDY).plan(Options(policies=("io-intensity-adaptive",))).runs
    assert {run.tags["policy"] for run in named} == {BASE, "io-intensity-adaptive"}
    with pytest.raises(InputError, match="has no parts"):
        load(STUDY).plan(Options(parts=(1,)))


@pytest.mark.small
def test_what_is_reserved_goes_with_its_pool():
    """Beyond: jobs that say what they write run where there is a pool for it, others where there is none."""
    scope = without_io_bb(_plan.scope(Options(quick=True, sections=("beyond",)), SECTIONS))
    for run in _plan.runs(scope):
        pooled = run.tags["share"] is not None
        assert ("bandwidth=true" in run.jobs.source) == ("share=" in run.platform) == pooled
    shares = Counter((run.tags["policy"], run.tags["jobs"]) for run in _plan.runs(scope))
    assert shares["fcfs-bb", "admire-io"] == 3
    assert shares["plan-2", "admire-io:jobs=250"] == 3


@pytest.mark.small
@pytest.mark.parametrize(
    ("policy", "alpha"),
    [
        ("io-intensity:alpha=0", 0.0),
        ("io-intensity:alpha=0.4", 0.4),
        ("io-intensity", None),
        ("io-intensity:alpha=0.4,workload=cluster", None),
        (BASE, None),
        ("mine.py:Mine", None),
    ],
)
def test_alphas(policy, alpha):
    assert _plan.alpha_of(policy) == alpha


@pytest.mark.small
def test_changes_by_hand():
    ours = [{"workload": 1, "makespan": 90.0}, {"workload": 0, "makespan": 50.0}]
    theirs = [{"workload": 0, "makespan": 100.0}, {"workload": 1, "makespan": 100.0}]
    change = numbers.change(ours, theirs, numbers.MAKESPAN)
    assert (change.mean, change.least, change.largest) == pytest.approx((-30, -50, -10))
    assert numbers.change_text(numbers.change(theirs, theirs, numbers.MAKESPAN)) == "-"


def recording(alpha):
    """The slow twin of io-intensity, which also notes when it looked, and W and S once it has decided."""

    class Noting(intensity.Naive):
        def decide(self, view, act):
            super().decide(view, act)
            self.seen.append((float(view.now), self.target(), self.system(self.runs)))

    policy = Noting(alpha)
    policy.seen = []
    return policy


@pytest.mark.small
def test_intensities_are_those_that_the_policy_sees():
    """W and S from the log, at the time of every decision, against what the twin counted for itself."""
    workload = models.generate("admire-io:jobs=24", 3)
    policy = recording(0.4)
    result = fb.simulate(workload, "admire2023:nodes=60", policy, job_model=RUN)
    assert result.jobs["n_resizes"].sum() > 0
    ours = _series.intensities(result, workload, machine("admire2023:nodes=60"))
    last = {time: (target, system) for time, target, system in policy.seen}  # of one instant, the last
    at = np.searchsorted(ours.time, list(last), side="right") - 1
    assert ours.workload[at] == pytest.approx([target for target, _ in last.values()], abs=1e-9)
    assert ours.system[at] == pytest.approx([system for _, system in last.values()], abs=1e-9)
    assert len(last) > 20


@pytest.mark.small
def test_the_first_decision_by_hand():
    """Before it nothing runs, so S is 0; after it S is that of what started, and W still counts all jobs."""
    workload = models.generate("admire-io:jobs=8,malleable=0", 3)
    platform = machine("admire2023:nodes=30")
    result = fb.simulate(workload, "admire2023:nodes=30", "io-intensity:alpha=0", job_model=RUN)
    nodes = workload.jobs["nodes"].to_numpy()
    amounts = workload.applications.amounts.sort("job", "task")
    compute = amounts.filter(task=0)["flop"].to_numpy() / 100e9
    write = amounts.filter(task=1)["bytes"].to_numpy() / np.minimum(12.5e9 * nodes, 48e9)
    share = write / (compute + write)
    runs = (result.jobs["starting_time"] == 0).to_numpy()
    assert 0 < runs.sum() < 8
    ours = _series.intensities(result, workload, platform)
    assert ours.time[0] == 0
    assert ours.system[0] == pytest.approx(np.average(share[runs], weights=nodes[runs]), rel=1e-6)
    assert ours.workload[0] == pytest.approx(np.average(share, weights=nodes), rel=1e-6)


@pytest.mark.small
def test_deviation_by_hand():
    one = _series.Intensities(np.array([0.0, 1.0, 4.0]), np.array([0.5, 0.5, 0.0]), np.array([0.1, 0.7, 0.0]))
    assert one.deviation() == pytest.approx((0.4 * 1 + 0.2 * 3) / 4)


@pytest.mark.small
def test_nodes_that_compute():
    """Never more than jobs hold, and in all just what there was to compute."""
    workload = models.generate("admire-io:jobs=24", 3)
    platform = machine("admire2023:nodes=60")
    result = fb.simulate(workload, "admire2023:nodes=60", "io-intensity:alpha=0.4", job_model=RUN)
    begin, end, nodes = _series.computing(result, workload, platform)
    assert (nodes @ (end - begin)) * platform.speed == pytest.approx(
        (workload.jobs["flop"] * workload.jobs["nodes"]).sum(), rel=1e-9
    )
    assert nodes.min() >= 2
    assert nodes.max() <= 20
    cpu = _series.Series(result, workload, platform).cpu[1]
    assert -1e-9 < cpu.min() <= cpu.max() <= 1


def without_io_bb(scope):
    mine = scope.settings.beyond
    names = [name for name in mine.policies if not name.startswith("io-bb")]
    beyond = mine.model_copy(update={"policies": names})
    return replace(scope, settings=scope.settings.model_copy(update={"beyond": beyond}))


@pytest.fixture(scope="module")
def small():
    """Two workloads of 150 jobs, all sections."""
    scope = without_io_bb(_plan.scope(Options(seeds=2, sections=SECTIONS), SECTIONS))
    names = (BASE, *(f"io-intensity:alpha={alpha}" for alpha in (0, 0.2, 0.4, 0.6)))
    chosen = scope.settings
    plans = chosen.beyond.plans.model_copy(update={"policies": ["fcfs-bb"], "workload": "admire-io:jobs=100"})
    chosen = chosen.model_copy(
        update={
            "workload": "admire-io:jobs=150",
            "platform": "admire2023:nodes=100",
            "choices": chosen.choices.model_copy(update={"load": [2]}),
            "beyond": chosen.beyond.model_copy(update={"plans": plans}),
        }
    )
    scope = replace(scope, settings=chosen, policies=names)
    return scope, [(run, perform(run)) for run in _plan.runs(scope)]


def test_a_small_study(small, tmp_path):
    scope, finished = small
    report = _report.report(scope, finished)
    claims = report.frames["claims"]
    assert set(claims["verdict"].str.replace(":.*", "")) <= {"yes", "no", "undecided"}
    assert set(claims["section"]) == {"published", "bound"}
    # A claim that any workload bears out: nobody passes anybody.
    assert claims.filter(pl.col("claim") == "jobs are admitted in order of arrival")["verdict"].to_list() == ["yes"]
    assert {"published", "bound", "choices", "beyond"} <= set(report.frames)
    pools = report.frames["beyond"].filter(pl.col("share") != "-")
    assert set(pools["share"]) == {"1", "1.5"}
    for name, draw in report.figures.items():
        picture, table = draw(tmp_path / f"{name}.svg")
        assert "</svg>" in picture.read_text(encoding="utf-8")
        assert len(pl.read_csv(table)) >= len(scope.policies)
    assert len(report.figures) == 6


def test_use_is_that_of_the_log(small):
    """All that was computed and written over the makespan, against phases of the log."""
    scope, finished = small
    report = _report.report(replace(scope, sections=("published",)), [
        (run, record) for run, record in finished if run.tags["section"] == "published"
    ])  # fmt: skip
    run = next(run for run, _ in finished if run.tags["policy"] == BASE and run.tags["workload"] == 1)
    series = _series.of(run)
    begin, end, nodes = _series.computing(series.result, series.workload, series.platform)
    used = nodes @ (end - begin) / (series.platform.nodes * series.result.jobs["finish_time"].max())
    told = (
        report.frames["runs"].filter((pl.col("policy") == BASE) & (pl.col("workload") == 1))["cpu_utilisation"].item()
    )
    assert told == pytest.approx(used, rel=1e-9)


def test_claims_can_fail(small):
    """Where io-intensity takes three times as long as it did, no claim on its times holds."""
    scope, finished = small
    rows = []
    for run, record in finished:
        if run.tags["section"] == "published":
            worse = 1.0 if run.tags["policy"] == BASE else 3.0
            times = {metric.name: record.summary[metric.name] * worse for metric in numbers.TIMES}
            rows.append({**run.tags, **times, "cpu_utilisation": 0.5 / worse, "write_utilisation": 0.5})
    told = _claims.of(scope, rows, read_expected(FOLDER / "expected.csv"))
    assert len(told) == 7
    assert {row["verdict"] for row in told} <= {"no", "no: more", "undecided"}
    assert {row["verdict"] for row in told if "in the range of ours" in row["claim"]} == {"no: more"}


@pytest.mark.small
def test_claims_need_an_alpha():
    scope = _plan.scope(Options(policies=(BASE,)), SECTIONS)
    assert _claims.of(scope, [], read_expected(FOLDER / "expected.csv")) == []
