"""`forebay capacity`: answers that can be worked out by hand, and messages for questions that make no sense."""

import json

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.experiments.execution import executor
from forebay.experiments.runs import Added, Jobs, lengthened, workload_of

HOUR = 3600
GB = 10**9
MACHINE = ("--platform", "flat:nodes=8,burst_buffer=1TB")


@pytest.fixture
def four(tmp_path):
    """Four jobs at once, each with 100 GB for an hour: as many run together as there are hundreds of GB."""
    jobs = fb.workload.job_table(
        {
            "id": range(1, 5),
            "submit": [0.0] * 4,
            "nodes": [1] * 4,
            "run_time": [float(HOUR)] * 4,
            "walltime": [float(HOUR)] * 4,
            "burst_buffer": [100 * GB] * 4,
        }
    )
    path = tmp_path / "four.parquet.zip"
    fb.write(fb.Workload("four", jobs), path)
    return path


@pytest.fixture
def asking(forebay, four, tmp_path):
    """The answer to a question on the four jobs, as JSON."""

    def ask(target, *more, code=0):
        words = (
            "--jobs",
            1,
            "--replicas",
            1,
            "--precision",
            "1%",
            "--no-plots",
            "-o",
            tmp_path / "out",
            "--format",
            "json",
        )
        done = forebay("capacity", four, *MACHINE, "--target", target, *words, *more)
        assert done.code == code, done.err
        return json.loads(done.out) if code == 0 else done.err

    return ask


@pytest.mark.small
@pytest.mark.parametrize(
    ("target", "hundreds"),
    [
        ("max_wait <= 0", 4),
        ("max_wait <= 59 min", 4),
        ("max_wait <= 1h", 2),
        ("max_wait <= 2h", 2),  # with 100 GB the last waits for three others
        ("max_wait <= 3h", 1),
        ("mean_wait <= 15min", 3),  # one of four waits for an hour
        ("mean_wait <= 30min", 2),
        ("mean_wait <= 90min", 1),  # (0 + 1 + 2 + 3) / 4 hours
        ("bounded_slowdown <= 1.25", 3),
        ("makespan <= 2h", 2),
        ("utilisation >= 50%", 4),  # of 8 nodes, 4 are in use for the hour that all takes
    ],
)
def test_by_hand(asking, target, hundreds):
    found = asking(target, "--range", "50GB:1TB")
    [answer] = found["answers"]
    assert answer["reached"]
    assert hundreds * 100 * GB <= answer["capacity"] <= hundreds * 101 * GB
    assert answer["interval"] is None
    assert [point["meets"] for point in answer["points"]] == [
        point["burst_buffer"] >= hundreds * 100 * GB for point in answer["points"]
    ]


@pytest.mark.small
def test_a_machine_that_rejects_jobs_never_meets_a_target(forebay, tmp_path):
    """Without the large job, the small one would not wait at all: 10 GB look perfect."""
    jobs = fb.workload.job_table(
        {"id": [1, 2], "submit": [0.0, 0.0], "nodes": [1, 1], "run_time": [60.0, 60.0], "walltime": [60.0, 60.0]}
        | {"burst_buffer": [300 * GB, 5 * GB]}
    )
    fb.write(fb.Workload("two", jobs), tmp_path / "two.parquet.zip")
    words = ("--target", "mean_wait <= 0", "--replicas", 1, "--no-plots", "-o", tmp_path / "out", "--format", "json")
    done = forebay(
        "capacity", tmp_path / "two.parquet.zip", *MACHINE, "--range", "10GB:1TB", "--precision", "1%", *words
    )
    [answer] = json.loads(done.out)["answers"]
    assert 305 * GB <= answer["capacity"] <= 309 * GB
    assert {point["rejected"] for point in answer["points"] if point["burst_buffer"] < 300 * GB} == {1}
    assert all(point["mean"] is None for point in answer["points"] if point["rejected"])
    # Of a range below its need, no size is enough.
    done = forebay("capacity", tmp_path / "two.parquet.zip", *MACHINE, "--range", "10GB:200GB", *words)
    found = json.loads(done.out)
    assert not found["answers"][0]["reached"]
    assert "1 job asks for more than the range goes to" in found["notes"][0]


@pytest.mark.small
def test_jobs_that_any_buffer_would_reject_stand_in_no_way(forebay, tmp_path):
    """The first wants 9 of 8 nodes."""
    jobs = fb.workload.job_table(
        {"id": [1, 2, 3], "submit": [0.0] * 3, "nodes": [9, 1, 1], "run_time": [60.0] * 3, "walltime": [60.0] * 3}
        | {"burst_buffer": [GB, 100 * GB, 100 * GB]}
    )
    fb.write(fb.Workload("wide", jobs), tmp_path / "wide.parquet.zip")
    words = ("--target", "max_wait <= 0", "--replicas", 1, "--no-plots", "-o", tmp_path / "out", "--format", "json")
    [answer] = json.loads(forebay("capacity", tmp_path / "wide.parquet.zip", *MACHINE, *words).out)["answers"]
    assert 200 * GB <= answer["capacity"] <= 210 * GB


@pytest.mark.small
def test_not_reached_is_an_answer(forebay, four, asking, tmp_path):
    found = asking("max_wait <= 0", "--range", "100GB:350GB")
    [answer] = found["answers"]
    assert not answer["reached"]
    assert (answer["capacity"], answer["interval"], answer["cost"]) == (None, None, None)
    assert answer["best"]["value"] == HOUR
    assert 200 * GB <= answer["best"]["capacity"] < 300 * GB
    done = forebay(
        "capacity", four, *MACHINE, "--target", "max_wait <= 0", "--range", "100GB:350GB", "--replicas", 1, "-o",
        tmp_path / "out", "--no-plots",
    )  # fmt: skip
    assert done.code == 0
    assert done.out.startswith("not reached: no burst buffer from 100 GB to 350 GB gives max wait <= 0 s under fcfs-bb")


@pytest.mark.small
def test_the_range_without_a_word_begins_at_the_need_of_the_largest_job(asking):
    found = asking("max_wait <= 3h")
    assert (found["vary"][0]["low"], found["vary"][0]["high"]) == (100 * GB, 16e12)
    assert found["answers"][0]["at_lowest"]


@pytest.mark.small
def test_nodes_and_policies(asking):
    """Four nodes for four jobs; a policy that is in order does no better or worse."""
    found = asking("max_wait <= 0", "--vary", "nodes", "--range", "1:64", "--policies", "fcfs,fcfs-bb")
    assert [(answer["policy"], answer["capacity"]) for answer in found["answers"]] == [("fcfs", 4), ("fcfs-bb", 4)]


def test_two_quantities_with_prices(asking, tmp_path):
    """No wait takes 4 nodes and 400 GB; an hour of waiting 2 and 200 GB, or more of either in vain."""
    words = ("--vary", "nodes", "--vary", "burst-buffer", "--price", "nodes=10EUR,burst-buffer=1EUR/GB")
    ranges = ("--range", "nodes=1:16", "--range", "burst_buffer=100GB:1TB")
    found = asking("max_wait <= 0", *words, *ranges)
    best = found["cheapest"]
    assert best["beside"] == {"nodes": 4}
    assert 440 <= best["cost"] <= 444
    reached = {answer["beside"]["nodes"]: answer["reached"] for answer in found["answers"]}
    assert reached == {1: False, 2: False, 4: True, 8: True, 16: True}
    table = pl.read_csv(tmp_path / "out" / "capacity.csv")
    assert table["cost"].to_list() == pytest.approx((10 * table["nodes"] + table["burst_buffer"] / GB).to_list())
    best = asking("max_wait <= 1h", *words, *ranges)["cheapest"]
    assert best["beside"] == {"nodes": 2}
    assert 220 <= best["cost"] <= 222


def test_figures(forebay, four, tmp_path):
    words = (
        "--jobs",
        1,
        "--price",
        "burst-buffer=1EUR/GB",
        "--replicas",
        2,
        "--policies",
        "fcfs,fcfs-bb",
        "--range",
        "50GB:1TB",
    )
    done = forebay("capacity", four, *MACHINE, "--target", "mean_wait <= 20min", *words, "-o", tmp_path / "out")
    assert done.code == 0
    front = pl.read_csv(tmp_path / "out" / "pareto.csv").filter("on_front").sort("cost")
    assert front["y"].is_sorted(descending=True)
    for name in ("capacity.svg", "pareto.svg"):
        assert "mean wait &lt;= 20 min" in (tmp_path / "out" / name).read_text()
    done = forebay(
        "capacity",
        four,
        *MACHINE,
        "--target",
        "mean_wait <= 20min",
        *words[4:],
        "--no-plots",
        *words[:2],
        "-o",
        tmp_path / "out",
    )
    assert done.code == 0
    assert not list((tmp_path / "out").glob("*.svg"))  # none of an earlier answer


MODEL = "lublin99:jobs=150,nodes=16,load=0.9,longest=4h"


def test_against_a_dense_grid(forebay, tmp_path):
    """The mean over seeds of the mean wait, worked out at many sizes without any search."""
    words = ("--model", "burst-buffer", "--platform", "flat:nodes=16,burst_buffer=100GB", "--seeds", 3)
    sizes = [round(GB * size) for size in np.geomspace(40, 400, 16)]
    loads = [workload_of(Jobs(MODEL, made=True, models=("burst-buffer",), draw=seed)) for seed in range(3)]
    need = max(int(load.jobs["burst_buffer"].max()) for load in loads)
    waits = {}
    for size in (size for size in sizes if size >= need):
        machine = fb.platform(f"flat:nodes=16,burst_buffer={size}B")
        waits[size] = np.mean([fb.summary(fb.simulate(load, machine))["mean_waiting_time"] for load in loads])
    limit = round((max(waits.values()) + min(waits.values())) / 2)
    out = ("-o", tmp_path / "out", "--format", "json", "--no-plots", "--range", "40GB:400GB", "--jobs", 1)
    done = forebay("capacity", MODEL, *words, "--target", f"mean_wait <= {limit}s", *out)
    assert done.code == 0, done.err
    [answer] = json.loads(done.out)["answers"]
    failing = [size for size in sizes if waits.get(size, np.inf) > limit][-1]
    next_one = sizes[sizes.index(failing) + 1]
    assert failing <= answer["capacity"] <= 1.05 * next_one
    low, high = answer["interval"]
    assert low <= next_one
    assert high is None or high >= failing


def test_replicas_of_a_trace_differ_in_arrivals_alone(forebay, four, tmp_path):
    out = tmp_path / "out"
    words = (
        "--target",
        "max_wait <= 1h",
        "--replicas",
        3,
        "--no-plots",
        "-o",
        out,
        "--shake",
        "30s",
        "--format",
        "json",
    )
    done = forebay("capacity", four, *MACHINE, *words, "--no-plots", "-o", out, "--format", "json")
    assert json.loads(done.out)["answers"][0]["interval"] is not None
    documents = [json.loads(path.read_text())["run"] for path in (out / "runs").glob("*.json")]
    assert {document["seed"] for document in documents} == {0, 1, 2}
    assert {document["added"] and document["added"]["later"] for document in documents} == {None, 30.0}
    before = fb.read(four)
    after = lengthened(before, Added(0.0, (0, 1), 30.0))
    assert after.jobs["run_time"].equals(before.jobs["run_time"])
    assert after.jobs["submit"].max() <= 30


def test_the_same_command_goes_on_after_ctrl_c(forebay, four, tmp_path, monkeypatch):
    words = (
        "--target",
        "max_wait <= 1h",
        "--replicas",
        2,
        "--jobs",
        1,
        "--no-plots",
        "-o",
        tmp_path / "out",
        "--format",
        "json",
    )
    whole = json.loads(forebay("capacity", four, *MACHINE, *words, "-o", tmp_path / "whole").out)
    attempt, made = executor.attempt, []

    def stopped(run, *more):
        if len(made) == 5:
            raise KeyboardInterrupt
        made.append(run)
        return attempt(run, *more)

    monkeypatch.setattr(executor, "attempt", stopped)
    done = forebay("capacity", four, *MACHINE, *words)
    assert done.code == 130
    assert "5 runs kept in" in done.err
    assert not (tmp_path / "out" / "capacity.json").exists()
    monkeypatch.setattr(executor, "attempt", attempt)
    rest = json.loads(forebay("capacity", four, *MACHINE, *words).out)
    assert rest["runs"]["found"] == 5
    assert rest["runs"]["total"] == whole["runs"]["total"]
    assert rest["answers"] == whole["answers"]


@pytest.mark.small
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), "--target is missing"),
        (("--target", "p95_wiat <= 2h"), "did you mean 'p95_wait'"),
        (("--target", "p95_wait <= 2h", "--vary", "tape"), "table1 has no such thing; known: burst-buffer, nodes"),
        (("--target", "p95_wait <= 2h", "--range", "2TB:1TB"), "is empty"),
        (("--target", "p95_wait <= 2h", "--range", "1TB:1TB"), "is empty"),
        (("--target", "p95_wait <= 2h", "--range", "0B:1TB"), "is empty"),
        (("--target", "p95_wait <= 2h", "--range", "1TB"), "is not LOW:HIGH"),
        (("--target", "p95_wait <= 2h", "--range", "1:2"), "has no unit"),
        (("--target", "p95_wait <= 2h", "--range", "nodes=1:2"), "'nodes' is not varied"),
        (("--target", "p95_wait <= 2h", "--price", "nodes=1"), "'nodes' is not varied"),
        (("--target", "p95_wait <= 2h", "--vary", "nodes", "--vary", "burst-buffer"), "add --price"),
        (("--target", "p95_wait <= 2h", "--vary", "nodes", "--vary", "Nodes", "--price", "nodes=1"), "given twice"),
        (("--target", "p95_wait <= 2h", "--precision", "five"), "--precision 'five' is not a share"),
        (("--target", "p95_wait <= 2h", "--precision", "0"), "is not a share"),
        (("--target", "p95_wait <= 2h", "--seeds", 3), "is one trace; write --replicas"),
        (("--target", "p95_wait <= 2h", "--policy", "fcfs", "--policies", "fcfs"), "keep one"),
        (("--target", "p95_wait <= 2h", "--policy", "fcsf"), "did you mean 'fcfs'"),
        (("--target", "p95_wait <= 2h", "--platform", "flat:nodes=8"), "flat has no such thing"),
        (("--target", "p95_wait <= 2h", "--platform", "dragonfly-96", "--vary", "nodes"), "cannot have"),
        (("--target", "utilisation_tape >= 2", "--replicas", 1), "have no number 'utilisation_tape'"),
        (("--target", "p95_wait <= 2h", "--shake", "much"), "not a time"),
    ],
)
def test_questions_that_make_no_sense(forebay, tmp_path, more, told):
    done = forebay("capacity", "table1", *more, "-o", tmp_path / "out", "--no-plots")
    assert done.code == 2
    assert told in done.err
    assert done.err.startswith("forebay: ")
    assert done.out == ""
    assert not (tmp_path / "out" / "capacity.json").exists()


@pytest.mark.small
def test_a_model_makes_jobs_anew_and_a_buffer_that_nobody_asks_for_is_refused(forebay, tmp_path):
    words = ("--platform", "flat:nodes=16,burst_buffer=1TB", "--target", "mean_wait <= 1h", "-o", tmp_path / "out")
    done = forebay("capacity", MODEL, "--replicas", 3, *words)
    assert done.code == 2
    assert "write --seeds" in done.err
    done = forebay("capacity", MODEL, "--seeds", 2, *words)
    assert done.code == 2
    assert "no job asks for burst buffer" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.small
def test_folders_of_other_results_are_refused(forebay, four, asking, tmp_path):
    asking("max_wait <= 3h")
    done = forebay("run", "table1", "-o", tmp_path / "out")
    assert done.code == 2
    assert "holds a search for a capacity" in done.err
