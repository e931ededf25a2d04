"""Tables of jobs by a mapping: what cells mean, mappings that come with forebay, what is refused and how."""

import math
from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forebay as fb
from forebay.errors import InputError
from forebay.workload.tables import mapping

pytestmark = pytest.mark.small

PLAIN = "submit=t,run_time=r,nodes=n"
GIB = 2**30


@pytest.fixture
def table(tmp_path):
    def put(text, name="jobs.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return put


def frame(path, columns):
    return fb.read(path, columns=columns).jobs


# One small file each, made from the published description of the columns; what comes out by hand.
KNOWN = {
    "acme": (
        "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
        "11,ua,1,8,128,Other,FAILED,2023-03-01 08:00:00+08:00,2023-03-01 08:00:30+08:00,,90,30,720.0\n"
        "12,ub,2,16,256,Eval,COMPLETED,2023-03-01 00:01:00+00:00,2023-03-01 00:01:00+00:00,,50,0,800.0\n",
        [(11, 0, 30, 90, math.inf, 1), (12, 60, 60, 50, math.inf, 2)],
        {"cores": [128, 256], "gpus": [8, 16]},
        datetime(2023, 3, 1, tzinfo=UTC),
    ),
    "helios": (
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
        "5,ua,v1,1,4,1,COMPLETED,2020-06-09 18:00:00,2020-06-09 18:00:10,2020-06-09 18:01:10,60,10\n"
        "6,ub,v1,0,2,1,CANCELLED,2020-06-09 18:00:20,,,0,0\n",
        [(5, 0, 10, 60, math.inf, 1)],
        {"cores": [4], "gpus": [1]},
        datetime(2020, 6, 9, 10, tzinfo=UTC),
    ),
    "lassen": (
        "allocation_id,primary_job_id,num_nodes,begin_time,end_time,job_submit_time,queue,time_limit,hashed_user_id\n"
        "1,71,4,2019-07-01 01:00:10.5,2019-07-01 01:10:10.5,2019-07-01 01:00:00.25,pbatch,7200,h1\n",
        [(71, 0, 10.25, 600, 7200, 4)],
        {},
        datetime(2019, 7, 1, 8, 0, 0, 250_000, tzinfo=UTC),
    ),
    "alibaba-gpu-2023": (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "p1,88000,1024,8,1000,,Burstable,Succeeded,1000,1500,1010\n"
        "p2,4500,2048,1,220,,BE,Running,1100,1300,1100\n"
        "p3,4500,2048,1,220,,BE,Pending,1100,1300,\n",
        [(1, 0, 10, 490, math.inf, 1), (2, 100, 100, 200, math.inf, 1)],
        {"cores": [88, 5], "gpus": [8, 1], "memory": [GIB, 2 * GIB]},
        datetime(1970, 1, 1, 0, 16, 40, tzinfo=UTC),
    ),
    "alibaba-gpu-2020": (
        "j1,tensorflow,1.0,Terminated,2000.0,2100.0,600.0,2.0,50.0,MISC\n"
        "j2,worker,3.0,Terminated,2010.0,2040.0,250.0,1.5,100.0,V100\n",
        [(1, 0, 0, 100, math.inf, 1), (2, 10, 10, 30, math.inf, 3)],
        {"cores": [6, 9], "gpus": [1, 3], "memory": [2 * 10**9, 45 * 10**8]},
        datetime(1970, 1, 1, 0, 33, 20, tzinfo=UTC),
    ),
}
START = datetime(2022, 5, 1, 12)
PARQUET = {
    "pm100": (
        {
            "job_id": [3], "submit_time": [START], "eligible_time": [START + timedelta(seconds=5)],
            "start_time": [START + timedelta(seconds=65)], "end_time": [START + timedelta(seconds=365)],
            "run_time": [300], "time_limit": [60], "num_nodes_alloc": [2], "num_cores_alloc": [256],
            "num_gpus_alloc": [8], "mem_alloc": [500], "user_id": [9], "group_id": [4], "partition": ["1"],
            "qos": ["0"], "priority": [100],
        },
        (3, 0, 60, 300, 3600, 2),
    ),
    "f-data": (
        {
            "jid": ["jid_3"], "adt": [START.replace(tzinfo=UTC)], "sdt": [START.replace(tzinfo=UTC)],
            "edt": [(START + timedelta(minutes=5)).replace(tzinfo=UTC)], "duration": [300], "elpl": [3600],
            "nnuma": [12], "usr": ["usr_1"], "jobenv_req": ["jobenv_req_0"], "pri": [127],
        },
        (1, 0, 0, 300, 3600, 12),
    ),
    "eagle": (
        {
            "job_id": [3], "user": ["u"], "account": ["a"], "partition": ["short"], "qos": ["normal"],
            "submit_time": [START], "start_time": [START + timedelta(seconds=7)],
            "end_time": [START + timedelta(seconds=307)], "run_time": [300], "wallclock_req": [3600], "nodes_req": [2],
            "processors_req": [72], "mem_req": [1000], "gpus_req": [0],
        },
        (3, 0, 7, 300, 3600, 2),
    ),
}  # fmt: skip
COLUMNS = ("id", "submit", "recorded_start", "run_time", "walltime", "nodes")


@pytest.mark.parametrize("name", KNOWN)
def test_published_traces_are_read_by_name(table, name):
    text, rows, more, first = KNOWN[name]
    w = fb.read(table(text), columns=name)
    assert w.jobs.select(COLUMNS).rows() == rows
    assert {column: w.jobs[column].to_list() for column in more} == more
    assert w.epoch == first.timestamp()


@pytest.mark.parametrize("name", PARQUET)
def test_published_tables_in_parquet_are_read_by_name(tmp_path, name):
    columns, row = PARQUET[name]
    pl.DataFrame(columns).write_parquet(tmp_path / "x.parquet")
    assert frame(tmp_path / "x.parquet", name).select(COLUMNS).row(0) == row


def test_every_mapping_that_comes_with_forebay_is_tested():
    assert {*KNOWN, *PARQUET} == set(mapping.names())


@pytest.mark.parametrize("name", mapping.names())
def test_a_mapping_written_and_read_is_the_same(tmp_path, name):
    one = mapping.mapping(name)
    (tmp_path / "m.toml").write_text(one.toml())
    again = mapping.mapping(tmp_path / "m.toml")
    assert (again.columns, again.zone, again.header) == (one.columns, one.zone, one.header)


MOMENT = datetime(2021, 1, 1, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("cell", "unit"),
    [
        (f"{MOMENT:.0f}", ""),
        (f"{MOMENT * 1000:.0f}", ":ms"),
        (f"{MOMENT * 1e9:.0f}", ":ns"),
        ("2021-01-01 12:00:00", ""),
        ("2021-01-01T12:00:00.000", ""),
        ("2021-01-01T12:00:00Z", ""),
        ("2021-01-01 12:00:00 UTC", ""),
        ("2021-01-01 13:30:00+01:30", ""),
        ("2021-01-01 04:00:00-0800", ""),
    ],
)
def test_moments(table, cell, unit):
    assert fb.read(table(f"t,r,n\n{cell},5,1\n"), columns=f"submit=t{unit},run_time=r,nodes=n").epoch == MOMENT


@pytest.mark.parametrize(
    ("cell", "unit", "seconds"),
    [
        *(("90", "", 90), ("1.5", ":h", 5400), ("90", ":min", 5400), ("1500", ":ms", 1.5)),
        *(("1-02:03:04", "", 93784), ("02:03:04", "", 7384), ("2 days 00:00:01.5", "", 172801.5)),
    ],
)
def test_lengths(table, cell, unit, seconds):
    found = frame(table(f"t,r,n\n0,{cell},1\n"), f"submit=t,run_time=r{unit},walltime=r{unit},nodes=n")
    assert found.select("run_time", "walltime").row(0) == (seconds, seconds)


@pytest.mark.parametrize("cell", ["UNLIMITED", "inf", "", "0", "Partition_Limit", "NaN"])
def test_no_limit(table, cell):
    assert frame(table(f"t,r,n,w\n0,5,1,{cell}\n"), f"{PLAIN},walltime=w")["walltime"][0] == math.inf


def test_summer_time_of_a_place(tmp_path, table):
    """New York, 2021: hours are 4 behind UTC from 14 March, 2:00 on, 5 before."""
    (tmp_path / "m.toml").write_text('zone = "America/New_York"\n[columns]\nsubmit = "t"\nrun_time = "r"\nnodes = 1\n')
    w = fb.read(table("t,r\n2021-03-14 01:59:59,5\n2021-03-14 03:00:00,5\n"), columns=tmp_path / "m.toml")
    assert w.jobs["submit"].to_list() == [0, 1]
    assert w.epoch == datetime(2021, 3, 14, 6, 59, 59, tzinfo=UTC).timestamp()


def test_waits_give_starts_and_eligible_is_the_arrival(table):
    found = frame(table("t,e,w,r,n\n0,10,5,60,1\n"), "submit=t,eligible=e,wait=w,run_time=r,nodes=n")
    assert found.select("submit", "recorded_start").row(0) == (0, 5)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_quotes_and_packed_files(tmp_path, table, delimiter):
    import gzip

    text = f't,r,n,who\n0,5,1,"a{delimiter}b"\n'.replace(",", delimiter)
    w = fb.read(table(text), columns=f"{PLAIN},user=who")
    assert w.names["user"] == {1: f"a{delimiter}b"}
    (tmp_path / "j.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert fb.read(tmp_path / "j.csv.gz", columns=f"{PLAIN},user=who").jobs.equals(w.jobs)


def test_a_dictionary_does_as_well(table):
    columns = {"submit": "t", "run_time": {"column": "r", "unit": "min"}, "nodes": 2}
    assert frame(table("t,r\n0,5\n"), columns).select("run_time", "nodes").row(0) == (300, 2)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("helois", "did you mean 'helios'"),
        ("submit=t,submit=u,run_time=r,nodes=n", "gives submit twice; keep one"),
        ("submit=t", r"no column is run_time \(or start and end\), nor nodes"),
        ("run_time=r,nodes=n", "no column is submit"),
        (f"{PLAIN},start=s,wait=w", "start and wait contradict each other"),
        (f"{PLAIN},wall=w", "no field 'wall'; did you mean 'walltime'"),
        (f"{PLAIN},cores=t2", r"jobs.csv: has no column 't2', which is to be cores; did you mean 't'"),
        ({"submit": {"column": "t", "unit": "GB"}, "run_time": "r", "nodes": "n"}, "submit cannot be in 'GB'; units"),
        ({"submit": 5, "run_time": "r", "nodes": "n"}, "submit cannot be 5 for all jobs"),
        ({"submit": "t", "run_time": "r", "nodes": {"column": "n", "each": "node"}}, "nodes cannot be for each 'node'"),
        ({"submit": "t", "run_time": "r", "nodes": {}}, "nodes is {}; write a column"),
        ("none.toml", "none.toml: cannot be read"),
    ],
)
def test_mappings_that_cannot_be_are_refused(table, columns, says):
    with pytest.raises(InputError, match=says):
        fb.read(table("t,r,n\n0,5,1\n"), columns=columns)


@pytest.mark.parametrize(
    ("text", "columns", "says"),
    [
        ("", PLAIN, "no table in CSV or Parquet"),
        ("t,r,n\n", PLAIN, "has no row"),
        ("t,r,n\n0,5,1\nsoon,5,1\n", PLAIN, "row 2: t is 'soon'; as submit it must be a date"),
        ("t,r,n\n0,5,1\n0,long,1\n", PLAIN, "row 2: r is 'long'; as run_time it must be a length"),
        ("t,r,n\n0,5,-1\n", PLAIN, "row 1: n is '-1'; as nodes it must be a number from 0 up"),
        (f"t,r,n\n{MOMENT * 1000:.0f},5,1\n", PLAIN, "row 1: t is .*; as submit"),
        ("t,r,n\n0,0,1\n", PLAIN, "holds no job that ran: 1 run time not positive; are the columns the right"),
        (
            "t,r,n\n2021-01-01 00:00:00,5,1\n2021-01-01 00:00:00Z,5,1\n",
            PLAIN,
            "t of row 2 names its time zone, t of row 1 does not; write all",
        ),
        (
            "t,s,e,r,n\n0,0,60,60000,1\n",
            f"{PLAIN},start=s,end=e",
            "run_time is 1000 times the time from start to end; one of them has another unit",
        ),
    ],
)
def test_tables_that_cannot_be_are_refused(table, text, columns, says):
    with pytest.raises(InputError, match=says):
        fb.read(table(text), columns=columns)


def test_rows_that_cannot_be_read_are_left_out_where_asked(table):
    w = fb.read(table("t,r,n\n0,5,1\nsoon,5,1\n9,5,1\n"), columns=PLAIN, skip_bad_lines=True)
    assert (len(w), w.records, w.dropped) == (2, 3, {"cannot be read": 1})


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)), st.integers(-14 * 60, 14 * 60)), min_size=1
    )
)
def test_dates_in_any_zone_are_what_python_makes_of_them(tmp_path_factory, dates):
    moments = [one.replace(tzinfo=timezone(timedelta(minutes=minutes))) for one, minutes in dates]
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_text("t,r,n\n" + "".join(f"{one.isoformat(' ')},1,1\n" for one in moments))
    w = fb.read(path, columns=PLAIN)
    wanted = sorted(one.timestamp() for one in moments)
    assert (w.jobs["submit"] + w.epoch).to_list() == pytest.approx(wanted, abs=1e-5)
