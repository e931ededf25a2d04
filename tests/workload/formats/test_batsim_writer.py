"""Writing Batsim JSON: the file as others will read it, that it reads back equal, and what it cannot hold."""

import json
import math
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.formats import batsim
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

number = st.floats(min_value=1e-6, max_value=1e10) | st.integers(1, 10**9).map(float)
maybe = st.just(0.0) | number


@st.composite
def workloads(draw):
    submits = sorted(draw(st.lists(maybe, min_size=1, max_size=6)))
    n = len(submits)

    def some(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    nodes = some(st.integers(1, 10**4))
    columns = {
        "id": sorted(draw(st.lists(st.integers(0, 10**17), min_size=n, max_size=n, unique=True))),
        "submit": [0.0, *submits[1:]],
        "walltime": some(number | st.just(math.inf)),
        "run_time": some(maybe),
        "flop": some(number),
        "communication": some(maybe),
        "nodes": nodes,
        "user": some(st.integers(-1, 99)),
        "priority": some(maybe),
    }
    if draw(st.booleans()):
        columns["burst_buffer"] = [count * bb for count, bb in zip(nodes, some(st.integers(0, 10**12)), strict=True)]
    return Workload("w", job_table(columns), epoch=draw(maybe), platform="flat:nodes=20000")


def again(w: Workload, name: str = "w.json") -> tuple[Workload, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        notes = batsim.write(w, Path(folder) / name)
        return batsim.read(Path(folder) / name), notes


@settings(derandomize=True, deadline=None, max_examples=50)
@given(workloads(), st.sampled_from(["w.json", "w.json.gz"]))
def test_written_jobs_read_back_equal(w, name):
    back, notes = again(w, name)
    assert notes == []
    assert_frame_equal(back.jobs, w.jobs, check_exact=True)
    assert (back.epoch, back.platform, back.name) == (w.epoch, w.platform, "w")


def two_jobs(**columns) -> Workload:
    base = {"id": [1, 2], "submit": [0.0, 1.0], "walltime": [9.0, 9.0], "run_time": [5.0, 6.0], "nodes": [2, 3]}
    return Workload("w", job_table(base | columns), platform="flat:nodes=4")


def test_the_file_is_plain_batsim(tmp_path):
    w = two_jobs(run_time=[5.5, 0.0], flop=[0.0, 8.0], walltime=[9.0, math.inf], burst_buffer=[4, 6])
    assert batsim.write(replace(w, provenance=("made",)), tmp_path / "w.json") == []
    assert json.loads((tmp_path / "w.json").read_text()) == {
        "description": "made",
        "nb_res": 4,
        "epoch": 0,
        "jobs": [
            {"id": 1, "subtime": 0, "walltime": 9, "res": 2, "profile": "1"},
            {"id": 2, "subtime": 1, "walltime": -1, "res": 3, "profile": "2"},
        ],
        "profiles": {
            "1": {"type": "delay", "delay": 5.5, "bb": 2},
            "2": {"type": "parallel_homogeneous", "cpu": 8, "com": 0, "bb": 2},
        },
    }


def test_phases_of_computing_survive(tmp_path):
    rows = [(1, 0, "compute", 2.0, 0.0, 0.0, 0.0, None), (1, 0, "compute", 0.0, 9.0, 1.0, 0.0, None)]
    phases = pl.DataFrame([*rows, (1, 0, "compute", 3.0, 0.0, 0.0, 0.0, None)], PHASE_SCHEMA, orient="row")
    w = replace(two_jobs(flop=[9.0, 0.0], communication=[1.0, 0.0]), phases=phases)
    back, notes = again(w)
    assert notes == []
    assert_frame_equal(back.phases, phases)
    assert_frame_equal(back.jobs, w.jobs)


def test_what_batsim_cannot_hold_is_noted():
    phases = pl.DataFrame([(1, 0, "stage_in", 2.0, 0.0, 0.0, 0.0, None)], PHASE_SCHEMA, orient="row")
    legs = pl.DataFrame([(1, 0, 9.0, 2, "")], LEG_SCHEMA, orient="row")
    w = replace(two_jobs(burst_buffer=[5, 6], gpus=[1, 0], fpga=[0, 0]), phases=phases, legs=legs, platform=None)
    back, notes = again(w)
    assert notes == [
        "1 job with phases that Batsim has no profile for: only the total work is written",
        "the machine's size is not known: nb_res is the widest job's 3 nodes",
        "gpus is not written: Batsim has no word for it",
        "legs are not written: a Batsim job starts once",
        "burst buffer of 1 job does not divide by the nodes: rounded up, a node at a time",
    ]
    assert back.jobs["burst_buffer"].to_list() == [6, 6]
    assert back.jobs["run_time"].to_list() == [5.0, 6.0]


def test_numbers_that_json_lacks_are_refused(tmp_path):
    with pytest.raises(InputError, match="job 2 has a number that is not finite"):
        batsim.write(two_jobs(run_time=[1.0, math.nan]), tmp_path / "w.json")
    assert list(tmp_path.iterdir()) == []
