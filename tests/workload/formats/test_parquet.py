"""forebay's own format: whatever is written reads back equal, in every field; damaged files are refused."""

import io
import json
import math
import zipfile

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.formats import parquet
from forebay.workload.workload import Workload, job_table

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
        "cancel": [9.5, math.inf],
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


def test_files_from_before_jobs_could_be_cancelled_are_read(full, tmp_path):
    w = parquet.read(changed(full, tmp_path, jobs_parquet=packed(full.jobs.drop("cancel"))))
    assert_frame_equal(w.jobs, full.jobs.with_columns(cancel=pl.lit(math.inf)), check_exact=True)


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
        ("workload_json", "{", "workload.json: line 1, column 2: not JSON"),
        ("workload_json", "[]", "it must be an object"),
        ("workload_json", "{}", "'version' is missing"),
        ("workload_json", json.dumps(FACTS | {"version": 4}), "version 4, and this forebay reads 1 to 3"),
        ("workload_json", json.dumps(FACTS | {"epoch": "x"}), "'epoch' is 'x'"),
        ("workload_json", json.dumps(FACTS | {"notes": "x"}), "'notes' is 'x'; it must be a list of text"),
        ("workload_json", json.dumps(FACTS | {"dropped": 1}), "'dropped' is 1"),
        (
            "workload_json",
            json.dumps(FACTS | {"dropped": {"x": -1}}),
            "'dropped' is -1; it must be a whole number from 0",
        ),
        ("workload_json", json.dumps(FACTS | {"records": -1}), "'records' is -1"),
        ("workload_json", json.dumps(FACTS | {"name": {}}), "'name' is {}; it must be text"),
        ("workload_json", json.dumps(FACTS | {"name": "\ud800"}), "has half a character"),
        (
            "workload_json",
            json.dumps(FACTS | {"platform": "flat:nodes"}),
            "'platform' is 'flat:nodes'; it must be as --pl",
        ),
        ("workload_json", json.dumps(FACTS | {"platform": 5}), "'platform' is 5"),
        ("workload_json", json.dumps(FACTS | {"epoch": 1e300}), r"its first job arrives 1e\+300 s after 1970"),
        ("workload_json", b"\xff{", "not text at byte 0; write JSON in UTF-8"),
        ("workload_json", b"[" * 100_000, "nest too deep"),
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


@pytest.mark.parametrize(
    ("name", "column", "values", "says"),
    [
        ("jobs", "submit", [0.0, math.nan], f"job {2**62}: submit is nan; it must be within"),
        ("jobs", "submit", [9.0, 8.0], "jobs are not in order of submission; sort them by submit, then id"),
        ("jobs", "run_time", [-1.0, 1.0], "job 7: run_time is -1.0; it must be seconds from 0 to"),
        ("jobs", "walltime", [0.0, 1.0], "job 7: walltime is 0.0; it must be seconds above 0"),
        ("jobs", "walltime", [math.nan, 1.0], "job 7: walltime is nan"),
        ("jobs", "cancel", [-1.0, 1.0], "job 7: cancel is -1.0; it must be seconds above 0"),
        ("jobs", "flop", [math.inf, 1.0], "job 7: flop is inf; it must be a finite number from 0 up"),
        ("jobs", "nodes", [1, 0], f"job {2**62}: nodes is 0; it must be from 1 to 1,000,000,000"),
        ("jobs", "nodes", ["1", "2"], "the job table must have nodes as Int64"),
        ("jobs", "priority", [math.inf, 1.0], "job 7: priority is inf; it must be a finite number"),
        ("jobs", "burst_buffer", [-5, 0], "job 7: burst_buffer is -5; it must be a whole number from 0 up"),
        ("jobs", "burst_buffer", [0.5, 0.5], "the job table must have burst_buffer as Int64"),
        ("jobs", "a b", [1, 2], "the job table has a column 'a b'; names are made of letters, digits and _"),
        ("legs", "job", [7, 8], "leg of job 8: job is 8; it must be the id of a job in the file"),
        ("legs", "leg", [0, 2], "leg of job 7: leg is 2; it must be 0, 1, 2, ... for each job"),
        ("legs", "walltime", [0.0, 1.0], "leg of job 7: walltime is 0.0"),
        ("legs", "nodes", [-1, 1], "leg of job 7: nodes is -1; it must be from 0 to"),
        ("legs", "burst_buffer", [-1, 1], "leg of job 7: burst_buffer is -1"),
        ("legs", "carry", ["", "bb"], "leg of job 7: carry names bb; known: nodes, burst_buffer, licences"),
        ("phases", "job", [8, 7], "phase of job 8: its leg 0 does not exist; correct its job or leg"),
        ("phases", "leg", [0, 5], "phase of job 7: its leg 5 does not exist"),
        (
            "phases",
            "kind",
            ["compute", "sleep"],
            "phase of job 7: kind is 'sleep'; it must be one of stage_in, compute",
        ),
        ("phases", "bytes", [math.nan, 0.0], "phase of job 7: bytes is nan"),
        ("phases", "seconds", [1e16, 0.0], "phase of job 7: seconds is 1e+16; it must be seconds from 0 to 1e+10"),
        (
            "phases",
            "release",
            [None, "bb=5"],
            "phase of job 7: release is 'bb=5'; it must be one of nodes, burst_buffer",
        ),
        ("phases", "release", [None, "nodes=0"], "perhaps with = and a whole number above 0, or none"),
        ("phases", "release", [None, "nodes=2.5"], "phase of job 7: release is 'nodes=2.5'"),
        ("phases", "release", [None, "bb"], "phase of job 7: release is 'bb'; it must be one of nodes, burst_buffer"),
    ],
)
def test_numbers_that_make_no_sense_are_named_with_their_job(full, tmp_path, name, column, values, says):
    table = getattr(full, name).with_columns(pl.Series(column, values))
    with pytest.raises(InputError) as caught:
        parquet.read(changed(full, tmp_path, **{f"{name}_parquet": packed(table)}))
    assert says in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "bad.parquet.zip"))


@pytest.mark.parametrize("way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_whatever_packed_it_damage_is_told(full, tmp_path, way):
    parquet.write(full, tmp_path / "x.parquet.zip")
    with zipfile.ZipFile(tmp_path / "x.parquet.zip") as file:
        parts = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(tmp_path / "y.parquet.zip", "w", way) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    assert_same(parquet.read(tmp_path / "y.parquet.zip"), full)
    data = (tmp_path / "y.parquet.zip").read_bytes()
    for damaged in (data[:60] + bytes(40) + data[100:], data[40:]):
        (tmp_path / "y.parquet.zip").write_bytes(damaged)
        with pytest.raises(InputError, match="not a zip that can be read; is the file whole"):
            parquet.read(tmp_path / "y.parquet.zip")


def test_a_panic_of_the_parquet_library_is_a_message(full, tmp_path, monkeypatch):
    """Some damaged files hit an assertion in polars, whose exception is none of Python's usual ones."""

    def panic(*_):
        raise pl.exceptions.PanicException("assertion failed: offset + length <= self.length")

    parquet.write(full, tmp_path / "x.parquet.zip")
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(InputError, match=r"x\.parquet\.zip: jobs\.parquet: not Parquet that can be read; is the file"):
        parquet.read(tmp_path / "x.parquet.zip")
