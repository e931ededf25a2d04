"""Plausible mistakes in Python: what is meant is taken, and everything else gets one message that names the cure."""

from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload import job_table

pytestmark = pytest.mark.small

JOB = {"id": [1], "submit": [0.0], "walltime": [10.0], "run_time": [5.0], "nodes": [1]}


def without(name):
    return {key: value for key, value in JOB.items() if key != name}


@pytest.fixture(scope="module")
def table1():
    return fb.read("table1")


@pytest.fixture(scope="module")
def result(table1):
    return fb.simulate(table1)


def test_a_workload_may_be_named():
    assert fb.simulate("table1").facts["workload_sha256"] == fb.simulate(fb.read("table1")).facts["workload_sha256"]


def test_a_seed_of_numpy_is_a_number_like_any_other(table1, tmp_path):
    result = fb.simulate(table1, seed=np.int64(3))
    assert type(result.facts["seed"]) is int
    result.save(tmp_path)


class InOrder:
    def __init__(self, patience=3):
        self.patience = patience

    def decide(self, view, act):
        for job in view.queue:
            if not act.fits(job):
                return
            act.start(job)


class Needy(InOrder):
    def __init__(self, patience):
        self.patience = patience


def test_a_policy_may_be_a_class(table1):
    result = fb.simulate(table1, policy=InOrder)
    assert result.facts["policy"] == "InOrder"
    assert result.facts["log_sha256"] == fb.simulate(table1, policy=InOrder()).facts["log_sha256"]
    assert fb.testing.check_policy(InOrder, n_cases=2).passed


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"policy": Needy}, "policy Needy is a class, and no object can be made without arguments"),
        ({"policy": Needy}, "'patience'); give an object: Needy(...)"),
        ({"policy": dict}, "dict: a policy needs a method decide"),
        ({"workload": None}, "the workload is None, of type NoneType; give a Workload, or what forebay.read takes"),
        ({"workload": pl.DataFrame(JOB)}, "make forebay.Workload"),
        ({"workload": Path("nope.swf")}, "nope.swf: no such file"),
        ({"platform": 123}, "the platform is 123, of type int; give text such as"),
        ({"platform": "fcfs"}, "'fcfs' is a policy, where the platform is expected; write policy='fcfs'"),
        ({"platform": "fcfs-bb:depth=3"}, "write policy='fcfs-bb:depth=3'"),
        ({"policy": 3}, "a policy needs a method decide"),
        ({"seed": "a"}, "the seed is 'a', of type str; give a whole number from 0 up"),
        ({"seed": 1.5}, "the seed is 1.5"),
        ({"seed": None}, "the seed is None"),
        ({"seed": -1}, "the seed is -1; give a whole number from 0 up"),
        ({"job_model": 3}, "the job model is 3, of type int; give its name"),
        ({"progress": "yes"}, "progress is 'yes', of type str; give True for a bar"),
    ],
)
def test_what_simulate_says(table1, given, says):
    with pytest.raises(InputError) as error:
        fb.simulate(**{"workload": table1, **given})
    assert says in str(error.value)


def test_a_workload_without_a_machine_tells_how_to_name_one():
    with pytest.raises(InputError, match='in Python platform="flat:nodes=100"'):
        fb.simulate(fb.Workload("mine", job_table(JOB)))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (without("submit"), "the job table lacks submit; it has id, walltime, run_time, nodes, and needs id, submit"),
        ({**without("run_time"), "runtime": [5.0]}, "lacks run_time (rename runtime to run_time?)"),
        ({**without("submit"), "submit_time": [5.0]}, "(rename submit_time to submit?)"),
        ({**without("id"), "job_id": [5.0]}, "(rename job_id to id?)"),
        ({**JOB, "nodes": ["four"]}, "row 0 of nodes is 'four', not a whole number"),
        ({**JOB, "nodes": [1.5]}, "row 0 of nodes is 1.5, not a whole number"),
        ({**JOB, "submit": [None]}, "row 0 of submit is None, not a number"),
        ({**JOB, "burst_buffer": [0.5]}, "not a whole number; further columns are demands on resources"),
        ({**JOB, "who": ["ada"]}, "row 0 of who is 'ada', not a whole number; further columns are demands"),
        (
            {**JOB, "submit": [datetime(2026, 1, 1)]},
            "submit holds Datetime(time_unit='us'",
        ),
        ([JOB], "id holds List(Int64); give numbers, times in seconds"),
        ({**JOB, "nodes": [1, 2]}, "is no table"),
        (None, "the job table lacks id, submit, walltime, run_time, nodes; it has no column"),
    ],
)
def test_what_a_job_table_needs(columns, says):
    with pytest.raises(InputError) as error:
        job_table(columns)
    assert says in str(error.value)


def test_a_job_table_takes_a_frame_and_numbers_that_are_whole():
    made = job_table(pl.DataFrame({**JOB, "nodes": [4.0], "submit": [0]}))
    assert (made["nodes"].item(), made["submit"].dtype) == (4, pl.Float64)


@pytest.mark.parametrize(
    ("jobs", "says"),
    [
        (JOB, "the job table is {'id': [1]"),
        ("mine.swf", "give a polars DataFrame; forebay.workload.job_table makes one of your columns"),
        (None, "the job table is None"),
        (pl.DataFrame(JOB), "mine: the job table lacks flop"),
        (job_table(JOB).rename({"submit": "submitted"}), "lacks submit (rename submitted to submit?)"),
        (
            job_table(JOB).cast({"submit": pl.Int64}),
            "must have submit as Float64, not Int64; forebay.workload.job_table",
        ),
    ],
)
def test_what_a_workload_is_made_of(jobs, says):
    with pytest.raises(InputError) as error:
        fb.Workload("mine", jobs)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda result, folder: fb.load(None), "the folder is None, of type NoneType; give its name or path"),
        (
            lambda result, folder: fb.load(folder),
            "is not the folder of a run; forebay run -o DIR, or result.save(folder)",
        ),
        (lambda result, folder: result.save(3), "the folder is 3"),
        (lambda result, folder: fb.read(["a.swf"]), "the workload to read is ['a.swf'], of type list"),
        (lambda result, folder: fb.write("a.swf", result), "a Workload first, then the file: write(workload, path)"),
        (lambda result, folder: fb.write(fb.read("table1"), None), "the file to write is None"),
        (lambda result, folder: fb.platform(None), "the platform is None"),
        (lambda result, folder: fb.platform({"nodes": 4}), "the platform is {'nodes': 4}, of type dict"),
        (lambda result, folder: fb.summary("out"), "the result is 'out', of type str; give what forebay.simulate or"),
        (
            lambda result, folder: fb.summary(result, 3),
            "the window is 3, of type int; give its start and end in seconds",
        ),
        (lambda result, folder: fb.summary(result, "1d:2d"), "the window is '1d:2d'"),
        (lambda result, folder: fb.summary(result, (1, 2, 3)), "the window is (1, 2, 3)"),
        (lambda result, folder: fb.summary(result, ("0", "5")), "start or end is '0', of type str; give seconds"),
        (lambda result, folder: fb.metrics.mean(result, None), "unknown measure None"),
        (lambda result, folder: fb.metrics.weighted_mean(result, by="node"), "by is 'node': did you mean 'nodes'"),
        (lambda result, folder: fb.figures.draw("waits", [result], folder / "a.svg"), "a Result, or several by name"),
        (lambda result, folder: fb.figures.draw("waits", {"a": "out"}, folder / "a.svg"), "the run 'a' is 'out'"),
        (lambda result, folder: fb.figures.draw("waits", result, None), "the picture to write is None"),
    ],
)
def test_what_others_say(result, tmp_path, call, says):
    with pytest.raises(InputError) as error:
        call(result, tmp_path)
    assert says in str(error.value)


def test_a_figure_takes_one_result_and_a_name_of_a_file(result, tmp_path):
    files = fb.figures.draw("waits", result, str(tmp_path / "waits.svg"))
    assert "fcfs-bb" in files[0].read_text()


def test_a_number_that_a_summary_lacks_is_told_by_its_neighbours(result):
    numbers = fb.summary(result)
    with pytest.raises(KeyError, match=r"the summary has no number 'mean_wiat': did you mean .*'mean_wait'"):
        numbers["mean_wiat"]
    assert numbers.get("mean_wiat") is None
    assert "mean_wiat" not in numbers


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": "a"}, "Platform: nodes: missing; write nodes=100"),
        ({"name": "a", "nodes": -1}, "Platform: nodes: -1 is not above 0; write a number such as 100"),
        ({"name": 3, "nodes": 4}, 'Platform: name: 3 must be text in quotes, such as "mine"'),
        ({"name": "a", "nodes": 4, "nods": 5}, "Platform: nods: unknown key; did you mean 'nodes'?"),
        ({"name": "a", "nodes": 4, "tiers": [1]}, r"Platform: tiers: \[1\] must be a tuple"),
        ({"name": "a", "nodes": 4, "tiers": (1,)}, "Platform: tiers: 1 must be an object of a class in forebay.platf"),
        ({"name": "a", "nodes": 4, "topology": "flat"}, "Platform: topology: 'flat' must be an object"),
        (
            {"nodes": 1.5, "speed": "fast"},
            r"Platform: 3 problems\n  name: missing.*\n  nodes: 1.5 is not a whole number",
        ),
    ],
)
def test_a_platform_of_wrong_values_is_refused_as_in_a_file(given, says):
    with pytest.raises(InputError, match=says) as caught:
        fb.Platform(**given)
    assert caught.value.__suppress_context__
