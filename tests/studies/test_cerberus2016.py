"""The study of Cerberus: the authors' results to the last second, what it runs, and a smoke of one draw."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.studies import Options, load
from forebay.studies.cerberus2016 import replay
from forebay.studies.cerberus2016._replay import parse_variant
from forebay.workload import models
from forebay.workload.models import three_phase

RATE = {"io": 2.5e9, "one-phase": 8e9, "three-phase": 8e9}


@pytest.mark.parametrize("name", ["march_three_phase_iro", "april_cerberus_fcfs"])
def test_the_authors_results_to_the_last_second(data, name):
    """1,185 completion times, each the very number in the file: volumes and rates make all durations exact."""
    ours, theirs = replay(data / "cerberus" / f"{name}.csv")
    assert len(ours) == 1185
    assert (ours == theirs).all()
    assert ours.max() == {"march_three_phase_iro": 326296.0, "april_cerberus_fcfs": 376443.125}[name]


def test_a_changed_input_is_noticed(data, tmp_path):
    """The match is not built in: 125 s more of one job's input moves the completions of others."""
    table = pl.read_csv(data / "cerberus" / "march_three_phase_iro.csv")
    longer = pl.when(pl.int_range(pl.len()) == 0).then(pl.col("input") + 7250.0).otherwise(pl.col("input"))
    table.with_columns(input=longer).write_csv(tmp_path / "march_three_phase.csv")
    ours, theirs = replay(tmp_path / "march_three_phase.csv")
    assert (ours != theirs).sum() > 100


def results_file(path, version, system):
    """Results in the authors' layout, of jobs of our own on a machine that is too small for all of them."""
    n, rng = 60, np.random.default_rng(5)
    jobs = models.generate("lublin99:nodes=100000", 3, jobs=n).jobs.with_columns(submit=pl.lit(0.0))
    log = fb.Workload("log", jobs.with_columns(pl.col("run_time").round(), nodes=pl.col("nodes") + 20_000))
    unit = 10**9 if version == "april" else 10**12
    volumes = three_phase.Volumes(*rng.integers(1, 60, (3, n)) * [[unit], [10**12], [10**12]])
    told = volumes
    if system == "one-phase":
        told = three_phase.Volumes(*[volumes.data_in if version == "april" else volumes.largest()] * 3)
    made = three_phase.convert(log, volumes, told, version=version, system=system)
    service = {"march": "in/run/out", "april": "out/run/in"}[version]
    policy = f"cerberus-fcfs:service={service}" if system == "three-phase" else "fcfs"
    machine = "trinity-io" if system == "io" else "trinity"
    result = fb.simulate(made, machine, policy, job_model="io-aware:kill=false")
    seconds = [one / RATE[system] for one in volumes]
    april = version == "april"
    inside = (seconds[0] if april and system != "io" else 0) + (seconds[2] if april and system == "one-phase" else 0)
    pl.DataFrame(
        {
            "id": jobs["id"].cast(pl.Float64),
            "submit": jobs["submit"],
            "input": seconds[0],
            "run": log.jobs["run_time"].to_numpy() + seconds[1] + inside,
            "output": seconds[2] * (2 if april and system == "three-phase" else 1),
            "complete": result.jobs["finish_time"],
        }
    ).sample(fraction=1, shuffle=True, seed=1).write_csv(path)
    return log


@pytest.mark.parametrize("version", ["march", "april"])
@pytest.mark.parametrize("system", ["io", "one-phase", "three-phase"])
def test_every_layout_is_understood(tmp_path, version, system):
    """In files of ours, rows in any order. 2.5 GB/s makes no round seconds: there the last bits may differ."""
    log = results_file(tmp_path / "x.csv", version, system)
    trace = tmp_path / "log.swf"
    lines = ["; MaxNodes: 300000"]
    for row in log.jobs.iter_rows(named=True):
        lines.append(
            f"{row['id']} 0 -1 {row['run_time']:.0f} {row['nodes']} -1 -1 {row['nodes']} {row['walltime']:.0f} "
            "-1 1 1 1 1 1 1 -1 -1"
        )
    trace.write_text("\n".join(lines) + "\n")
    ours, theirs = replay(tmp_path / "x.csv", f"{version}/{system}", trace)
    assert np.abs(ours - theirs).max() < (1e-6 if system == "io" else 1e-9)


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("march_three_phase_iro", ("march", "three-phase")),
        ("april_cerberus_fcfs", ("april", "three-phase")),
        ("old 1pbb", ("march", "one-phase")),
        ("new-1pio", ("april", "io")),
        ("march/one-phase", ("march", "one-phase")),
        ("april_io_only", ("april", "io")),
        ("Old 3p_same", ("march", "three-phase")),
        ("march direct", ("march", "io")),
        ("april_one_phase_bb", ("april", "one-phase")),
    ],
)
def test_variants_by_many_names(text, found):
    assert parse_variant(text) == found


@pytest.mark.small
@pytest.mark.parametrize("text", ["april", "three-phase", "march april io", "something"])
def test_variants_that_say_too_little(text):
    with pytest.raises(InputError, match="does not say what was run"):
        parse_variant(text)


@pytest.mark.small
def test_runs_by_knapsack_are_not_repeated():
    with pytest.raises(InputError, match="rounds demands down"):
        parse_variant("april_maxt")


GOOD = "id,submit,input,run,output,complete\n1,0,125,300,125,550\n"


@pytest.mark.small
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("output,", "").replace("300,125,", "300,"), r"line 1: lacks the column output"),
        (GOOD.replace("300", "long"), r"line 2: run is 'long'; give a number"),
        (GOOD.replace("0,125", "-5,125"), r"line 2: submit is -5"),
        (GOOD + "1,0,125,300,125,550\n", "job 1 occurs twice"),
        (GOOD.partition("\n")[0] + "\n", "no jobs"),
        (GOOD.replace("\n1,", "\n9,"), "job 9 is not in log"),
        (GOOD.replace("300", "100"), "job 1 runs shorter than it computes"),
        ("", "cannot be read as CSV"),
    ],
)
def test_files_that_are_no_results(tmp_path, text, said):
    (tmp_path / "march_three_phase.csv").write_text(text)
    (tmp_path / "log.swf").write_text("; MaxNodes: 300000\n1 0 -1 200 64 -1 -1 64 300 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(InputError, match=said):
        replay(tmp_path / "march_three_phase.csv", trace=tmp_path / "log.swf")


@pytest.mark.small
def test_without_the_log(no_data, tmp_path):
    (tmp_path / "march_three_phase.csv").write_text(GOOD)
    with pytest.raises(InputError, match="needed for sizes and run times"):
        replay(tmp_path / "march_three_phase.csv")


@pytest.mark.small
def test_what_is_run(no_data):
    plan = load("cerberus2016").plan(Options())
    counts = Counter(run.tags["section"] for run in plan.runs)
    assert counts == {"march": 11 * 20, "april": 13 * 20, "shared": 5 * 8 * 5}
    assert {run.policy.partition(",")[0] for run in plan.runs if run.tags["section"] == "march"} == {
        "fcfs",
        "cerberus-fcfs:service=in/run/out",
        "cerberus-throughput:knapsack=run/out",
        "cerberus-parallelism:knapsack=run/out",
        "cerberus-fcfs:service=out/run/in",
        "fcfs-bb",
    }
    # One draw is the same jobs for every variant, and another draw others.
    assert len({run.jobs.draw for run in plan.runs if run.tags["draw"] == 3}) == 1
    assert len({run.jobs for run in plan.runs if run.tags["policy"] == "io-only"}) == 40
    assert "trinity-io:shared=10GB/s" in {run.platform for run in plan.runs}


@pytest.mark.small
def test_choices(no_data):
    study = load("cerberus2016")
    quick = study.plan(Options(quick=True))
    assert quick.sections == ("march", "april", "replay")
    assert len(quick.runs) == (11 + 13) * 2
    own = study.plan(Options(policies=("cerberus-fcfs", "fcfs"), sections=("april",), seeds=1))
    assert [run.policy for run in own.runs] == ["cerberus-fcfs:service=out/run/in", "fcfs"]
    with pytest.raises(InputError, match="has no parts"):
        study.plan(Options(parts=(1,)))


def test_smoke(data, carried_out):
    """One draw of both versions: responses are near the published ones, which are of another draw."""
    report, files = carried_out("cerberus2016", Options(quick=True, seeds=1))
    for version in ("march", "april"):
        told = report.frames[version].filter(pl.col("metric").is_in(["mean_turnaround_time", "max_turnaround_time"]))
        known = told.filter(pl.col("published").is_not_null())
        assert len(known) == {"march": 8, "april": 12}[version]
        # The authors' own draws of a worst response are up to 11 % apart.
        assert known["mean_percent"].abs().max() < 12
    faster = report.frames["march"].filter(pl.col("metric") == "share_faster")
    assert (faster.filter(pl.col("published").is_not_null())["mean_percent"].abs() < 10).all()
    last = {
        row["policy"]: row["mean"]
        for row in report.frames["april"].iter_rows(named=True)
        if row["metric"] == "makespan"
    }
    assert max(last["throughput"], last["parallelism"]) < last["three-phase-iro"]
    assert report.frames["replay"]["wrong"].to_list() == [0, 0]
    assert {file.stem for file in files if file.suffix == ".svg"} == {
        "fig-01-response-io-or-buffer",
        "fig-02-throughput-io-or-buffer",
        "fig-03-response-phases",
        "fig-04-throughput-phases",
        "knapsack-response",
        "knapsack-throughput",
    }


def test_without_data_jobs_are_made_up(no_data, carried_out):
    wanted = Options(quick=True, seeds=1, policies=("cerberus-fcfs",), sections=("march", "replay"))
    report, _ = carried_out("cerberus2016", wanted)
    assert "made up" in report.notes[0]
    assert report.frames["march"]["published"].null_count() == len(report.frames["march"]) > 0
    assert "no per-job results" in report.notes[-1]


def test_shared_links(no_data, carried_out):
    wanted = Options(seeds=1, policies=("cerberus-fcfs",), sections=("shared",))
    report, files = carried_out("cerberus2016", wanted)
    told = report.frames["shared"]
    assert told["mean_turnaround_time"].is_sorted(descending=True)  # the more a link carries, the sooner
    assert [file.name for file in files if file.suffix == ".svg"] == ["shared-links.svg"]
