"""The study of Kopański & Rządca: what it runs, and a smoke of it on one part."""

from collections import Counter

import polars as pl
import pytest

from forebay.errors import InputError
from forebay.studies import Options, load
from forebay.studies.kopanski2021 import SECTIONS, _plan

QUEUES = ("fcfs", "fcfs-easy", "filler", "fcfs-bb", "sjf-bb")


@pytest.mark.small
def test_what_is_run(no_data):
    plan = load("kopanski2021").plan(Options(policies=QUEUES))
    counts = Counter(run.tags["section"] for run in plan.runs)
    # Of ours: plan-2 to compare with, 10 seeds and 20 replicas; each queue policy once and 20; sjf-bb again, all known.
    assert counts == {
        "parts": 2 * 4 * 5 * 21,
        "choices": 4 * 2 * 4 * 5 * 21,
        "full-log": 3 * 5,
        "sixteen": 3 * 16 * 5,
        "better": 4 * (30 + 5 * 21 + 21),
    }
    pinned = {run.policy for run in plan.runs if run.tags["section"] != "choices"}
    assert pinned == {f"{policy}:reservations=pinned" for policy in (*QUEUES, "plan-2")}
    assert len({(run.tags["section"], run.key) for run in plan.runs}) == len(plan.runs)
    assert len({run.name for run in plan.runs}) == len(plan.runs)


@pytest.mark.small
def test_policies_of_unknown_randomness_get_every_seed(no_data):
    plan = load("kopanski2021").plan(Options(policies=("conservative-bb", "fcfs-bb"), sections=("parts",), parts=(3,)))
    seeds = Counter((run.tags["policy"], run.tags["job_model"]) for run in plan.runs if not run.tags["replica"])
    assert seeds["conservative-bb", "io-aware"] == 5
    assert seeds["fcfs-bb", "io-aware"] == 1


@pytest.mark.small
def test_replicas_are_the_same_for_every_policy_and_model(no_data):
    plan = load("kopanski2021").plan(Options(policies=QUEUES, sections=("parts",)))
    added = {}
    for run in plan.runs:
        added.setdefault((run.tags["part"], run.tags["replica"]), set()).add(run.added)
    assert all(len(some) == 1 for some in added.values())
    assert added[3, 0] == {None}
    assert next(iter(added[3, 1])).stream == (0, 3)


@pytest.mark.small
def test_choices(no_data):
    study = load("kopanski2021")
    quick = study.plan(Options(policies=QUEUES, quick=True))
    assert quick.sections == ("parts",)
    assert len(quick.runs) == 2 * 2 * 5 * 3
    one = study.plan(Options(policies=("sjf-bb",), parts=(7,), sections=("sixteen",), seeds=2))
    assert [(run.jobs.part, run.jobs.draw) for run in one.runs] == [((7, 16), draw) for draw in range(3)]
    with pytest.raises(InputError, match="no part 7; known: 3, 10, 13, 15"):
        study.plan(Options(policies=QUEUES, parts=(7,), sections=("parts",)))
    with pytest.raises(InputError, match="divides by the means of sjf-bb"):
        study.plan(Options(policies=("fcfs",), sections=("sixteen",)))
    with pytest.raises(InputError, match="unknown policy 'plan-9'"):
        study.plan(Options(policies=("plan-9",)))


@pytest.mark.small
def test_data_named_but_missing(no_data, tmp_path):
    (tmp_path / "io-aware").mkdir()
    (tmp_path / "io-aware" / "part-3.json.gz").touch()
    wanted = Options(policies=QUEUES, sections=("parts",), parts=(3,), data=tmp_path)
    with pytest.raises(InputError, match=r"1 of 2 files missing: alloc-only/part-3\.json\.gz"):
        load("kopanski2021").plan(wanted)


@pytest.mark.small
def test_made_up_parts_differ_and_have_no_io_where_none_is_simulated(no_data):
    scope = _plan.scope(Options(policies=QUEUES), SECTIONS)
    assert scope.files is None
    assert scope.part("io-aware", 3) != scope.part("io-aware", 10)
    assert "io-phases" in scope.part("io-aware", 3).models
    assert "io-phases" not in scope.part("alloc-only", 3).models


def test_smoke(data, carried_out):
    """One part as published, two policies, one seed: our means are the published ones."""
    wanted = Options(policies=("fcfs-bb", "sjf-bb"), parts=(13,), sections=("parts",), quick=True)
    report, files = carried_out("kopanski2021", wanted)
    told = report.frames["parts"].filter(pl.col("metric") == "mean_waiting_time")
    assert len(told) == 4
    assert told["as_given_percent"].abs().max() < 0.2
    assert told["within"].all()
    assert told["n_runs"].to_list() == [3] * 4
    assert {file.name for file in files} >= {"report.md", "runs.csv", "parts.csv", "fig-01-toy-fcfs-easy.svg"}
    assert all(file.stat().st_size for file in files)
    assert "4 of 4 published mean waits" in report.notes[-1]


@pytest.mark.full
def test_the_whole_log_and_its_parts(data, carried_out):
    """Requests are another draw: means of bb-aware policies come within a quarter of the published ones."""
    report, files = carried_out("kopanski2021", Options(policies=QUEUES, sections=("full-log", "sixteen")))
    told = report.frames["full-log"].filter(pl.col("metric") == "mean_waiting_time")
    near = told.filter(pl.col("policy").is_in(["filler", "fcfs-bb", "sjf-bb"]))
    assert near["mean_percent"].abs().max() < 25
    ratios = report.frames["sixteen"].filter(pl.col("policy").is_in(["filler", "fcfs-bb"]))
    assert ((ratios["median"] / ratios["published"] - 1).abs() < 0.25).all()
    assert sum(file.suffix == ".svg" for file in files) == 12


def test_policies_that_the_paper_does_not_have(data, carried_out):
    wanted = Options(policies=("conservative-bb",), parts=(13,), sections=("parts",), quick=True)
    report, files = carried_out("kopanski2021", wanted)
    assert report.frames["parts"]["published"].null_count() == len(report.frames["parts"]) > 0
    assert report.notes == []
    assert [file.name for file in files if file.suffix == ".svg"] == [
        "fig-01-toy-fcfs-easy.svg",
        "fig-02-toy-fcfs-bb.svg",
        "fig-02-toy-as-the-text-says.svg",
    ]
