"""Capacity of one class of nodes, where nodes are shared, for some of the jobs: against every number of nodes."""

import polars as pl
import pytest

import forebay as fb
from forebay import platforms
from forebay.errors import InputError
from forebay.experiments.targets import parse_target
from forebay.platforms.variation import varied

pytestmark = pytest.mark.small

FILE = """policy = "fcfs-easy"
sharing = true
[classes.cpu]
nodes = 3
cores = 4
[classes.gpu]
nodes = 2
cores = 4
gpus = 2
[partitions.day]
classes = ["cpu"]
default = true
[partitions.fast]
classes = ["gpu"]
"""


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return path


@pytest.fixture
def jobs():
    rows = range(48)
    table = {
        "id": [k + 1 for k in rows],
        "submit": [40.0 * (k + k // 5 * 3) for k in rows],
        "walltime": [2400.0 for k in rows],
        "run_time": [600.0 + 170 * (k % 7) for k in rows],
        "nodes": [1 for k in rows],
        "cores": [1 + k % 3 for k in rows],
        "gpus": [k % 2 for k in rows],
        "user": [k % 3 for k in rows],
        "queue": [1 if k % 2 else (0 if k % 4 else -1) for k in rows],
    }
    names = {"queue": {0: "day", 1: "fast"}, "user": {0: "ann", 1: "bob", 2: "cem"}}
    return fb.Workload("jobs", fb.workload.job_table(dict(table)), names=names)


@pytest.mark.parametrize(
    ("target", "name", "chosen", "limit"),
    [
        ("p95_wait[partition=fast] <= 5min", "classes.gpu.nodes", pl.col("queue") == 1, 300),
        ("mean_wait[gpus > 0, user=ann] <= 1min", "classes.gpu.nodes",
         (pl.col("gpus") > 0) & (pl.col("user") == 0), 60),
        ("mean_wait[partition=day] <= 10min", "classes.cpu.nodes", pl.col("queue") < 1, 600),
        ("p95_wait <= 20min", "nodes", pl.lit(True), 1200),
    ],
)  # fmt: skip
def test_the_answer_is_that_of_every_number_of_nodes(machine, jobs, target, name, chosen, limit):
    wanted = jobs.jobs.filter(chosen)["id"]
    number, there = target.partition("[")[0].split()[0], platforms.load(machine)
    fails = []
    for nodes in range(2, 25):
        result = fb.simulate(jobs, varied(there, {name: nodes}))
        waits = result.jobs.filter(pl.col("job_id").is_in(wanted.implode()))["waiting_time"]
        value = waits.mean() if number == "mean_wait" else waits.quantile(0.95, "linear")
        fails += [nodes] if value > limit else []
    found = fb.capacity(
        jobs, target, vary=name, range="2:24", platform=machine, replicas=1, precision="0.01%", jobs=1, page=False
    )
    assert found.answers["policy"].to_list() == ["site"]
    assert 2 <= max(fails) < 23
    assert found.answers["capacity"].to_list() == [max(fails) + 1.0]
    assert name.replace("classes.", "").split(".")[0] in str(found)


def test_prices_by_class(machine, jobs):
    found = fb.capacity(
        jobs,
        "p95_wait <= 20min",
        vary=["classes.cpu.nodes", "classes.gpu.nodes"],
        range=["classes.cpu.nodes=3:6", "classes.gpu.nodes=3:8"],
        price="classes.cpu.nodes=8000EUR,classes.gpu.nodes=30000EUR",
        platform=machine,
        replicas=1,
        jobs=1,
        page=False,
    )
    best = found.document()["cheapest"]
    assert best["cost"] == 8000 * best["beside"]["classes.cpu.nodes"] + 30000 * best["capacity"]
    reached = [one for one in found.document()["answers"] if one["reached"]]
    assert best["cost"] == min(one["cost"] for one in reached)


def test_whose_jobs_in_words():
    target = parse_target("p95_wait[partition=gpu,  gpus > 0] <= 4h")
    assert target.only == ("queue==gpu", "gpus>0")
    assert str(target) == "p95 wait of partition=gpu, gpus > 0 <= 4 h"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("p95_wait[] <= 4h", "does not say whose jobs count"),
        ("p95_wait[gpu] <= 4h", "'gpu' does not say whose jobs count; write such as"),
        ("p95_wait[partition=gpu <= 4h", "is not a target"),
        ("p95_wait[partition=fsat] <= 4h", "no queue is called 'fsat'; did you mean 'fast'"),
        ("p95_wait[qso=long] <= 4h", "unknown column 'qso'"),
        ("p95_wait[gpus > 8] <= 4h", "jobs has no such job; name others"),
    ],
)
def test_whose_jobs_cannot_be_told(machine, jobs, target, says):
    with pytest.raises(InputError, match=says.replace("'", ".")) as caught:
        fb.capacity(jobs, target, vary="classes.gpu.nodes", platform=machine, replicas=1)
    assert str(caught.value).startswith("--target")
