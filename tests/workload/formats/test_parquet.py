"""forebay's own format: whatever is written reads back equal, in every field; damaged files are refused."""

import io
import json
import math
import zipfile

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.errors import InputError
from forebay.workload.formats import parquet
from forebay.workload.workload import LEG_SCHEMA, PHASE_SCHEMA, Workload, job_table

pytestmark = pytest.mark.small


@pytest.fixture
def full():
    """A workload in which nothing is at its default."""
    jobs = {
        "id": [7, 2**62],
        "submit": [0.0, 0.1],
        "walltime": [math.inf, 60.0],
        "run_time": [1 / 3, 5e-324],
        "flop": [1e300, 0.0],
        "nodes": [3, 4],
        "priority": [-0.5, 2.0],
        "burst_buffer": [2**62 + 1, 0],
        "licences": [1, 2],
    }
    legs = pl.DataFrame(
        {"job": [7, 7], "leg": [0, 1], "walltime": [1.0, 2.0], "nodes": [0, 3], "carry": ["", "burst_buffer"]},
        schema=LEG_SCHEMA,
    ).with_columns(burst_buffer=pl.Series([5, 0]))
    phases = pl.DataFrame(
        [(7, 0, "stage_in", 0.0, 0.0, 0.0, 1e9, None), (7, 1, "compute", 1.5, 2.0, 3.0, 0.0, "burst_buffer")],
        schema=PHASE_SCHEMA,
        orient="row",
    )
    return Workload(
        name="fülle, 1",
        jobs=job_table(jobs),
        legs=legs,
        phases=phases,
        epoch=1700000000.1,
        platform="flat:nodes=9,pools=1/2",
        records=5,
        dropped={"no nodes": 3},
        notes=("a note", "another"),
        provenance=("read x", "first 2"),
        sha256="ab" * 32,
    )


def assert_same(one, other):
    for name in ("jobs", "legs", "phases"):
        mine, yours = getattr(one, name), getattr(other, name)
        assert (mine is None) == (yours is None)
        if mine is not None:
            assert_frame_equal(mine, yours, check_exact=True)
    for name in ("name", "epoch", "platform", "records", "dropped", "notes", "provenance", "sha256"):
        assert getattr(one, name) == getattr(other, name), name


def test_nothing_is_lost(full, tmp_path):
    assert fb.write(full, tmp_path / "x.parquet.zip") == []
    assert_same(fb.read(tmp_path / "x.parquet.zip"), full)
    (tmp_path / "x.parquet.zip").rename(tmp_path / "nameless")
    assert_same(fb.read(tmp_path / "nameless"), full)


@pytest.mark.parametrize("name", ["table1", "default"])
def test_embedded_workloads_read_back(name, tmp_path):
    fb.write(fb.read(name), tmp_path / "x.parquet.zip")
    assert_same(fb.read(tmp_path / "x.parquet.zip"), fb.read(name))


def test_a_run_of_the_copy_is_the_same(tmp_path):
    fb.write(fb.read("table1"), tmp_path / "x.parquet.zip")
    copy = fb.simulate(fb.read(tmp_path / "x.parquet.zip"), policy="fcfs-bb").jobs
    assert_frame_equal(copy, fb.simulate(fb.read("table1"), policy="fcfs-bb").jobs, check_exact=True)


def test_equal_workloads_are_equal_bytes(full, tmp_path):
    for name in ("a.parquet.zip", "b.parquet.zip"):
        parquet.write(full, tmp_path / name)
    assert (tmp_path / "a.parquet.zip").read_bytes() == (tmp_path / "b.parquet.zip").read_bytes()


def test_other_tools_can_open_the_tables(full, tmp_path):
    parquet.write(full, tmp_path / "x.parquet.zip")
    with zipfile.ZipFile(tmp_path / "x.parquet.zip") as file:
        assert file.namelist() == ["workload.json", "jobs.parquet", "legs.parquet", "phases.parquet"]
        assert_frame_equal(pl.read_parquet(io.BytesIO(file.read("jobs.parquet"))), full.jobs)


def changed(full, tmp_path, **parts):
    """A written file with some of its parts replaced, or left out where None."""
    parquet.write(full, tmp_path / "x.parquet.zip")
    with zipfile.ZipFile(tmp_path / "x.parquet.zip") as file:
        content = {name: file.read(name) for name in file.namelist()}
    content |= {name.replace("_", "."): data for name, data in parts.items()}
    path = tmp_path / "bad.parquet.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name, data in content.items():
            if data is not None:
                file.writestr(name, data)
    return path


def packed(frame):
    data = io.BytesIO()
    frame.write_parquet(data)
    return data.getvalue()


FACTS = {
    "version": 1,
    "name": "x",
    "epoch": 0,
    "records": 1,
    "dropped": {},
    "notes": [],
    "provenance": [],
    "sha256": "",
}


@pytest.mark.parametrize(
    ("part", "data", "says"),
    [
        ("workload_json", None, "holds no workload.json"),
        ("jobs_parquet", None, "holds no jobs.parquet"),
        ("workload_json", "{", "workload.json: not JSON"),
        ("workload_json", "[]", "it must be an object"),
        ("workload_json", "{}", "'version' is missing"),
        ("workload_json", json.dumps(FACTS | {"version": 2}), "version 2, and this forebay reads 1"),
        ("workload_json", json.dumps(FACTS | {"epoch": "x"}), "'epoch' is 'x'"),
        ("workload_json", json.dumps(FACTS | {"notes": "x"}), "'notes' is 'x'; it must be a list of text"),
        ("workload_json", json.dumps(FACTS | {"dropped": 1}), "'dropped' is 1"),
        ("jobs_parquet", b"PAR1", "jobs.parquet: not Parquet"),
        ("jobs_parquet", packed(pl.DataFrame({"id": [1]})), "the job table lacks submit"),
        ("jobs_parquet", packed(pl.DataFrame({"id": [1, 1]})), "each with an id of its own"),
        ("jobs_parquet", packed(pl.DataFrame({"id": [1, None]})), "jobs.parquet: id of row 2 is missing"),
        ("jobs_parquet", packed(pl.DataFrame({"id": []}, schema={"id": pl.Int64})), "must have jobs"),
    ],
)
def test_damaged_parts_are_named(full, tmp_path, part, data, says):
    with pytest.raises(InputError, match=says):
        parquet.read(changed(full, tmp_path, **{part: data}))


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_file_cut_short_is_refused(full, tmp_path, keep):
    parquet.write(full, tmp_path / "x.parquet.zip")
    data = (tmp_path / "x.parquet.zip").read_bytes()
    (tmp_path / "x.parquet.zip").write_bytes(data[:keep])
    with pytest.raises(InputError, match="is the file whole"):
        fb.read(tmp_path / "x.parquet.zip")
