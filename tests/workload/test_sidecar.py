"""Sidecar tables: columns by job number, from CSV or Parquet; what is noted and what is refused, by column and line."""

import math
from dataclasses import replace

import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import LEG_SCHEMA
from forebay.errors import InputError
from forebay.workload import _sidecar
from forebay.workload.operations import attach_table
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small


@pytest.fixture
def trace():
    jobs = {"id": [1, 2, 3], "submit": [0, 5, 9], "walltime": [60] * 3, "run_time": [30] * 3, "nodes": [1, 2, 4]}
    return Workload("trace", job_table(jobs), epoch=100.0)


def table(tmp_path, content, name="side.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return _sidecar.load(path)


def test_new_columns_are_demands_and_known_ones_replace(trace):
    w = attach_table(trace, pl.DataFrame({"id": [3, 1, 2], "burst_buffer": [30, 10, 20], "priority": [3, 1, 2]}), "s")
    assert w.resources == ("burst_buffer",)
    assert w.jobs.select("id", "burst_buffer", "priority").rows() == [(1, 10, 1.0), (2, 20, 2.0), (3, 30, 3.0)]
    assert (w.notes, w.provenance) == ((), ("burst_buffer, priority of 3 jobs from s",))
    same = [name for name in trace.jobs.columns if name != "priority"]
    assert w.jobs.select(same).equals(trace.jobs.select(same))


def test_rows_without_jobs_and_jobs_without_rows_are_noted(trace):
    w = attach_table(trace, pl.DataFrame({"job": [2, 8, 9], "burst_buffer": [5, 6, 7], "user": [4, 4, 4]}), "side.csv")
    assert w.jobs["burst_buffer"].to_list() == [0, 5, 0]
    assert w.jobs["user"].to_list() == [-1, 4, -1]
    assert w.notes == (
        "2 rows of side.csv are for jobs not in the workload: not used",
        "2 jobs have no row in side.csv: they keep their values, and 0 for burst_buffer",
    )


def test_new_submit_times_put_jobs_in_order(trace):
    w = attach_table(trace, pl.DataFrame({"id": [1], "submit": [7.0]}))
    assert w.jobs.select("id", "submit").rows() == [(2, 0.0), (1, 2.0), (3, 4.0)]
    assert w.epoch == 105.0


def test_times_without_an_end_are_given_as_inf(trace, tmp_path):
    w = attach_table(trace, table(tmp_path, "id,walltime,cancel\n1,inf,7.5\n2,9,inf\n"))
    assert w.jobs.select("walltime", "cancel").rows() == [(math.inf, 7.5), (9.0, math.inf), (60.0, math.inf)]


def test_work_may_be_given_as_flop_in_place_of_seconds(trace):
    w = attach_table(trace, pl.DataFrame({"id": [1], "run_time": [0.0], "flop": [1e9]}))
    assert w.jobs.select("run_time", "flop").row(0) == (0.0, 1e9)


def test_csv_and_parquet_say_the_same(trace, tmp_path):
    frame = pl.DataFrame({"JobID": [1, 2], "burst_buffer": [2**60 + 1, 7]})
    frame.write_parquet(tmp_path / "side.parquet")
    text = frame.write_csv()
    wanted = attach_table(trace, frame).jobs
    assert wanted["burst_buffer"][0] == 2**60 + 1
    assert attach_table(trace, _sidecar.load(tmp_path / "side.parquet")).jobs.equals(wanted)
    assert attach_table(trace, table(tmp_path, text)).jobs.equals(wanted)
    assert attach_table(trace, table(tmp_path, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())).jobs.equals(
        wanted
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("a,b\n1,2", "line 1: no column of job numbers; name it 'id'"),
        ("id;bb\n1;2", "line 1: columns are divided by ';'; a sidecar divides them by ','"),
        ("id\tbb\n1\t2", r"line 1: columns are divided by '\\t'"),
        ("id\n1", "line 1: has job numbers only"),
        ("id,bb,bb\n1,2,3", "line 1: a column occurs twice"),
        ("id,deadline,own:deadline\n1,2,3", "line 1: 'deadline' occurs twice, also as own:deadline; keep one"),
        ("id,burst buffer\n1,2", "line 1: 'burst buffer' cannot name a column"),
        (f"id,{'y' * 101}\n1,2", "cannot name a column; names are made of letters, digits and _, at most 100 of them"),
        ("id,bb\n1,2\n2", "line 3: 1 fields, and the header names 2; is the file cut short"),
        ("id,bb\n1,2\n2,x", "line 3: bb is 'x'; it must be a whole number from 0 up"),
        ("id,bb\n1,2\n2,", "line 3: bb is ''"),
        ("id,bb\n1,2.5", "line 2: bb is '2.5'"),
        ("id,bb\n1,-1", "line 2: bb is '-1'"),
        ("id,nodes\n1,0", "line 2: nodes is '0'; it must be a whole number from 1 up"),
        ("id,run_time\n1,nan", "line 2: run_time is 'nan'; it must be a number from 0 up"),
        ("id,run_time\n2,0", "side.csv: job 2 has no work left, neither run_time nor flop"),
        ("id,run_time\n2,inf", "line 2: run_time is 'inf'"),
        ("id,walltime\n1,0", "line 2: walltime is '0'; it must be a number above 0"),
        ("id,walltime\n1,nan", "line 2: walltime is 'nan'; it must be a number above 0"),
        ("id,cancel\n1,5\n2,0", "line 3: cancel is '0'; it must be a number above 0"),
        ("id,cancel\n1,-3", "line 2: cancel is '-3'"),
        ("id,user\n1,-2", "line 2: user is '-2'; it must be a whole number from -1 up"),
        ("id,bb\nx,1", "line 2: id is 'x'"),
        ("id,bb\n1,1\n2,1\n1,3", "lines 2 and 4 are both job 1"),
        ("id,bb\n7,1", "none of its rows is for a job of trace"),
        (b"id,bb\n\xff,1", "line 2: not text"),
        (b"PAR1 and no more", "not Parquet that can be read"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(trace, tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        attach_table(trace, table(tmp_path, text), "side.csv")


@pytest.mark.parametrize(
    ("value", "shown"), [(True, "True"), ([1, 2], r"\[1, 2\]"), (None, "None"), ({"a": 1}, "{'a': 1}"), (b"x", "b'x'")]
)
def test_columns_of_a_wrong_type_are_named(trace, value, shown):
    with pytest.raises(InputError, match=f"table: line 2: bb is {shown}; it must be a whole number"):
        attach_table(trace, pl.DataFrame({"id": [1], "bb": [value]}))


def test_odd_names_of_columns_cannot_spoil_a_message(trace):
    with pytest.raises(InputError) as caught:
        attach_table(trace, pl.DataFrame({"a\x1b[31m\r" * 20: [1]}), "s.parquet")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200


def test_jobs_with_legs_are_refused(trace):
    legs = pl.DataFrame({"job": [1], "leg": [0], "walltime": [1.0], "nodes": [1], "carry": [""]}, schema=LEG_SCHEMA)
    with pytest.raises(InputError, match="legs have demands of their own"):
        attach_table(replace(trace, legs=legs), pl.DataFrame({"id": [1], "bb": [2]}))


def test_attached_demands_are_met_by_a_machine(trace):
    w = attach_table(trace, pl.DataFrame({"id": [1, 2], "burst_buffer": [8, 8]}))
    jobs = fb.simulate(w, platform="flat:nodes=8,burst_buffer=10B", policy="fcfs-bb").jobs
    assert jobs.sort("job_id")["starting_time"].to_list() == [0.0, 30.0, 9.0]


@pytest.mark.parametrize("name", ["walltime", "submit", "account", "told_input"])
@pytest.mark.parametrize("values", [[1e30, None], [1.5, 2.0]])
def test_a_column_of_ones_own_takes_the_place_of_no_other(trace, name, values):
    """Else what it holds would be taken for times, unchecked."""
    frame = pl.DataFrame({"id": trace.jobs["id"][:2], f"own:{name}": values})
    with pytest.raises(InputError, match=f"table: line 1: 'own:{name}' is the name of a column that means something"):
        attach_table(trace, frame)
