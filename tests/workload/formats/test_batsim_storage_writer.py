"""Writing phases that move data as Batsim's storage profiles: they read back equal; what cannot be told is noted."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from forebay.core.schemas import PHASE_SCHEMA
from forebay.workload.formats import batsim
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

MOVES = ("read", "write", "fetch", "checkpoint", "stage_in", "stage_out")
WHOLE = st.integers(1, 2**51).map(float)


def table(*rows):
    """Phases of one leg that give nothing back."""
    return pl.DataFrame([(job, 0, *rest, None) for job, *rest in rows], PHASE_SCHEMA, orient="row")


@st.composite
def phased(draw):
    """Two jobs, of which the first goes through phases; the sums of these are its own work."""
    computing = st.tuples(st.just("compute"), st.just(0.0), WHOLE, st.just(0.0), st.just(0.0))
    moving = st.tuples(st.sampled_from(MOVES), st.just(0.0), st.just(0.0), st.just(0.0), WHOLE)
    rows = [*draw(st.lists(computing | moving, max_size=6)), draw(moving)]
    nodes = draw(st.integers(1, 10**4))
    columns = {"id": [1, 2], "submit": [0.0, 1.0], "walltime": [9.0, 9.0], "run_time": [0.0, 6.0], "nodes": [nodes, 3]}
    columns |= {"flop": [sum(row[2] for row in rows), 0.0], "burst_buffer": [nodes, 3]}
    phases = table(*((1, *row) for row in rows))
    return Workload("w", job_table(columns), phases=phases, platform="flat:nodes=20000")


@settings(derandomize=True, deadline=None, max_examples=100)
@given(phased())
def test_phases_that_move_whole_bytes_are_written_and_read_back_equal(w):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.json"
        assert batsim.write(w, path) == []
        back = batsim.read(path)
    assert_frame_equal(back.phases, w.phases, check_exact=True)
    assert_frame_equal(back.jobs, w.jobs, check_exact=True)
    assert back.notes == ()


def one_job(*rows):
    columns = {"id": [1], "submit": [0.0], "walltime": [9.0], "run_time": [5.0], "nodes": [4]}
    return Workload("w", job_table(columns), phases=table(*rows), platform="flat:nodes=4")


def test_written_profiles_are_those_of_batsim_4(tmp_path):
    w = one_job(
        (1, "read", 0.0, 0.0, 0.0, 8.0), (1, "compute", 5.0, 0.0, 0.0, 0.0), (1, "checkpoint", 0.0, 0.0, 0.0, 2.0),
        (1, "stage_out", 0.0, 0.0, 0.0, 9.0),
    )  # fmt: skip
    assert batsim.write(w, tmp_path / "w.json") == []
    assert json.loads((tmp_path / "w.json").read_text())["profiles"] == {
        "1": {"type": "composed", "repeat": 1, "seq": ["1.0", "1.1", "1.2", "1.3"]},
        "1.0": {"type": "parallel_homogeneous_pfs", "bytes_to_read": 2, "bytes_to_write": 0, "storage": "pfs"},
        "1.1": {"type": "delay", "delay": 5},
        "1.2": {
            "type": "parallel_homogeneous_pfs",
            "bytes_to_read": 0,
            "bytes_to_write": 0.5,
            "storage": "burst_buffer",
        },
        "1.3": {"type": "data_staging", "nb_bytes": 9, "from": "burst_buffer", "to": "pfs"},
    }


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": "reconfigure", "bytes": 0.0, "seconds": 5.0},
        {"seconds": 5.0},
        {"release": "nodes"},
    ],
)
def test_phases_that_batsim_cannot_tell_are_noted(tmp_path, odd):
    w = one_job((1, "compute", 5.0, 0.0, 0.0, 0.0), (1, "write", 0.0, 0.0, 0.0, 8.0))
    row = {"job": 1, "leg": 0, "kind": "write", "seconds": 0.0, "flop": 0.0, "communication": 0.0, "bytes": 8.0}
    w = replace(w, phases=pl.concat([w.phases, pl.DataFrame([row | {"release": None} | odd], PHASE_SCHEMA)]))
    assert batsim.write(w, tmp_path / "w.json") == [
        "1 job with phases that Batsim has no profile for: only the total work is written"
    ]
    back = batsim.read(tmp_path / "w.json")
    assert (back.phases, back.jobs["run_time"].to_list()) == (None, [5.0])


def test_drains_go_on_beside_what_follows(tmp_path):
    w = one_job(
        (1, "checkpoint", 0.0, 0.0, 0.0, 8.0), (1, "drain", 0.0, 0.0, 0.0, 8.0), (1, "compute", 5.0, 0.0, 0.0, 0.0)
    )  # fmt: skip
    assert batsim.write(w, tmp_path / "w.json") == [
        '1 drain is written with "beside": true, which Batsim itself does not know: there the job waits'
    ]
    assert json.loads((tmp_path / "w.json").read_text())["profiles"]["1.1"] == {
        "type": "data_staging", "nb_bytes": 8, "from": "burst_buffer", "to": "pfs", "beside": True
    }  # fmt: skip
    back = batsim.read(tmp_path / "w.json")
    assert_frame_equal(back.phases, w.phases, check_exact=True)


def test_phases_that_move_nothing_are_noted(tmp_path):
    w = one_job((1, "read", 0.0, 0.0, 0.0, 0.0), (1, "compute", 5.0, 0.0, 0.0, 0.0), (1, "write", 0.0, 0.0, 0.0, 8.0))
    assert batsim.write(w, tmp_path / "w.json") == ["1 phase moves nothing: not written"]
    back = batsim.read(tmp_path / "w.json")
    assert back.phases.select("kind", "bytes").rows() == [("compute", 0.0), ("write", 8.0)]
    assert batsim.write(replace(w, phases=w.phases.head(1)), tmp_path / "w.json") == [
        "1 phase moves nothing: not written"
    ]
    assert batsim.read(tmp_path / "w.json").jobs["run_time"].to_list() == [5.0]
