"""Jobs cancelled before they started: left out unless asked for; kept, in every format that can tell of them."""

import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.errors import InputError
from forebay.workload import operations as op
from forebay.workload.formats import sacct
from forebay.workload.workload import Workload, job_table

small = pytest.mark.small


@pytest.fixture
def file(tmp_path):
    def put(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return put


def swf(job, wait, run, allocated=-1, asked=8, time=60, status=5):
    return f"{job} {job} {wait} {run} {allocated} -1 -1 {asked} {time} -1 {status} 3 -1 -1 -1 -1 -1 -1"


RECORDS = [
    swf(1, 0, 10, status=1),
    swf(2, 25, -1),
    swf(3, 30.5, 0, time=-1),
    swf(4, 40, -1, allocated=2, asked=-1),
    swf(5, -1, -1),  # not known when
    swf(6, 0, -1),  # at once
    swf(7, 25, 0, status=0),  # failed at once
    swf(8, 25, 50),  # cancelled while it ran
    swf(9, 25, -1, asked=-1),
]
COLUMNS = ("id", "run_time", "walltime", "nodes", "cancel")


@small
def test_swf_leaves_them_out_and_says_so(file):
    w = fb.read(file("a.swf", *RECORDS))
    assert w.jobs["id"].to_list() == [1, 8]
    assert w.jobs["cancel"].to_list() == [math.inf, math.inf]
    assert w.dropped == {"cancelled before it started": 6, "run time not positive": 1}
    assert w.notes == ()


@small
def test_swf_keeps_those_whose_wait_is_known(file):
    w = fb.read(file("a.swf", *RECORDS), cancelled="keep")
    assert w.jobs.select(COLUMNS).rows() == [
        (1, 10, 60, 8, math.inf),
        (2, 60, 60, 8, 25),
        (3, 30.5, 30.5, 8, 30.5),  # asks for no time: until it was cancelled
        (4, 60, 60, 2, 40),
        (8, 50, 60, 8, math.inf),
    ]
    assert w.dropped == {
        "cancelled at once, or not known when": 2,
        "run time not positive": 1,
        "no processors": 1,
    }
    assert w.notes == (
        "3 jobs cancelled before they started are kept: withdrawn as long after submission as then",
        "the run time of cancelled jobs is not known: their walltime is taken, or without one their time until then",
    )


HEAD = "JobID|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|State"
LISTED = [
    HEAD,
    "1|100|100|110|170|60|00:02:00|2|COMPLETED",
    "2|100|105|Unknown|150|0|00:02:00|4|CANCELLED by 1000",
    "3|100|105|None|150|0||4|CANCELLED",
    "4|100|105|150|150|0|00:02:00|4|CANCELLED+",  # some versions write the end as the start
    "5|100|105|Unknown|Unknown|0|00:02:00|4|CANCELLED",
    "6|100|105|Unknown|105|0|00:02:00|4|CANCELLED",
    "7|100|105|120|150|0|00:02:00|4|CANCELLED",  # held nodes, for a time that is not known
    "8|100|105|Unknown|150|0|00:02:00|0|CANCELLED",
    "9|100|105|Unknown|150|0|00:02:00|1|FAILED",
    "10_[4-9]|100|105|Unknown|150|0|00:02:00|1|CANCELLED",
    "11|100|100|110|170|60|00:02:00|2|CANCELLED by 1000",
]


@small
def test_sacct_leaves_them_out_and_says_so(file):
    w = fb.read(file("a.sacct", *LISTED))
    assert w.jobs["id"].to_list() == [1, 11]
    assert w.dropped == {"cancelled before it started": 13, "never started": 1}
    assert w.records == 16  # a record of six tasks counts as six


@small
def test_sacct_keeps_those_whose_end_is_known(file):
    w = fb.read(file("a.sacct", *LISTED), cancelled="keep")
    assert w.jobs.select("submit", *COLUMNS).rows() == [
        (0, 1, 60, 120, 2, math.inf),
        (0, 11, 60, 120, 2, math.inf),
        (5, 2, 120, 120, 4, 45),
        (5, 3, 45, math.inf, 4, 45),
        (5, 4, 120, 120, 4, 45),
        *[(5, number, 120, 120, 1, 45) for number in range(12, 18)],
    ]
    assert w.jobs.filter(w.jobs["array"] == 10)["array_task"].to_list() == [4, 5, 6, 7, 8, 9]
    assert w.records == len(w) + sum(w.dropped.values())
    assert w.dropped == {"cancelled at once, or not known when": 3, "no nodes": 1, "never started": 1}
    assert w.platform == "flat:nodes=4"  # of those that ran
    assert any(note.startswith("9 jobs cancelled before they started are kept") for note in w.notes)


@small
@pytest.mark.parametrize(
    ("tasks", "those"),
    [
        ("3", [3]),
        ("1-3,7,10-20:5%2", [1, 2, 3, 7, 10, 15, 20]),
        ("1-3,7,...", [-1]),  # Slurm cuts long lists short
        ("9-1", [-1]),
        ("3,2", [-1]),
        ("0-999999999", [-1]),
    ],
)
def test_array_tasks_that_were_cancelled_in_one_record(file, tasks, those):
    line = LISTED[10].replace("4-9", tasks)
    w = fb.read(file("a.sacct", HEAD, LISTED[1], line), cancelled="keep")
    kept = w.jobs.filter(w.jobs["cancel"] < math.inf)
    assert (kept["array_task"].to_list() if "array_task" in kept.columns else [-1]) == those
    assert kept["cancel"].to_list() == [45] * len(those)
    assert (those == [-1]) == any("stand for several array tasks each, but are one job" in note for note in w.notes)


@small
def test_a_listing_of_cancelled_jobs_alone_has_no_machine(file):
    path = file("a.sacct", HEAD, LISTED[2])
    w = fb.read(path, cancelled="keep")
    assert (len(w), w.platform) == (1, None)
    assert "the machine's size is not known, as no job ran: name a platform when you simulate" in w.notes
    with pytest.raises(InputError, match=r"1 record left out \(1 cancelled before it started\)"):
        fb.read(path)


@small
def test_an_arrival_that_is_not_known_leaves_it_open_when(file):
    w = fb.read(file("a.sacct", HEAD, LISTED[1], "2|Unknown|Unknown|None|150|0||4|CANCELLED"), cancelled="keep")
    assert w.dropped == {"cancelled at once, or not known when": 1}


@small
def test_formats_without_such_records_have_none_to_keep(tmp_path):
    for name in ("a.json", "a.parquet.zip"):
        fb.write(fb.read("table1"), tmp_path / name)
        assert_frame_equal(fb.read(tmp_path / name, cancelled="keep").jobs, fb.read(tmp_path / name).jobs)
    assert len(fb.read("table1", cancelled="keep")) == 8
    with pytest.raises(InputError, match="cancelled is 'maybe'; give 'drop' or 'keep'"):
        fb.read("table1", cancelled="maybe")


def some_cancelled():
    """One that stays; two that never started, with and without a walltime; and one whose run time is known."""
    jobs = {"id": [1, 2, 3, 4], "submit": [0.0, 1.0, 2.0, 3.0], "nodes": [1] * 4}
    jobs |= {"walltime": [60.0, 60.0, math.inf, 60.0], "run_time": [30.0, 60.0, 7.5, 20.0]}
    return Workload("w", job_table(jobs | {"cancel": [math.inf, 9.0, 7.5, 5.0]}))


NOTES = [
    "2 cancelled jobs are written as never started: read back, such records are left out unless you ask for them "
    "(--keep-cancelled)",
    "cancel of 1 job with a known run time is not written, the run time is",
]


@small
@pytest.mark.parametrize("name", ["a.swf", "a.sacct"])
def test_formats_that_tell_of_records_which_never_started_write_them_so(tmp_path, name):
    w = some_cancelled()
    notes = fb.write(w, tmp_path / name)
    assert [note for note in notes if "cancel" in note] == NOTES
    assert fb.read(tmp_path / name).jobs["id"].to_list() == [1, 4]
    kept = fb.read(tmp_path / name, cancelled="keep").jobs
    assert kept.select("id", "run_time", "cancel").rows() == [
        (1, 30, math.inf),
        (2, 60, 9),
        (3, 7.5, 7.5),
        (4, 20, math.inf),
    ]


@small
@pytest.mark.parametrize("name", ["a.json", "a.parquet.zip"])
def test_other_formats_hold_the_time_itself(tmp_path, name):
    notes = fb.write(some_cancelled(), tmp_path / name)
    assert not [note for note in notes if "cancel" in note]
    assert_frame_equal(fb.read(tmp_path / name).jobs, some_cancelled().jobs, check_exact=True)


seconds = st.integers(1, 10**6).map(float)


@small
@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(seconds, seconds, st.none() | seconds), min_size=1, max_size=6),
    st.sampled_from(["swf", "sacct"]),
)
def test_written_jobs_that_never_started_read_back_equal(rows, form):
    jobs = {"id": range(1, len(rows) + 1), "submit": [0.0] * len(rows), "nodes": [1] * len(rows)}
    jobs["walltime"] = [walltime for walltime, _, _ in rows]
    jobs["run_time"] = [run if cancel is None else walltime for walltime, run, cancel in rows]
    jobs["cancel"] = [math.inf if cancel is None else cancel for _, _, cancel in rows]
    w = Workload("w", job_table(jobs), epoch=1000.0)
    with tempfile.TemporaryDirectory() as folder:
        fb.write(w, Path(folder) / f"w.{form}")
        back = fb.read(Path(folder) / f"w.{form}", cancelled="keep")
    assert_frame_equal(back.jobs, w.jobs, check_exact=True)


@small
def test_operations_take_the_time_along():
    w = some_cancelled()
    assert op.slice_time(w, 1, 3).jobs["cancel"].to_list() == [9, 7.5]
    assert op.filter_jobs(w, op.parse_condition("cancel<inf")).jobs["id"].to_list() == [2, 3, 4]
    assert op.scale_load(w, 2).jobs["cancel"].to_list() == w.jobs["cancel"].to_list()
    twice = op.join([w, w]).jobs.sort("submit", "id")["cancel"].to_list()
    assert twice == [math.inf, math.inf, 9, 9, 7.5, 7.5, 5, 5]


def test_the_real_sample_keeps_its_cancelled_jobs(data):
    """199 of the records never started; each has an end, the number of nodes it asked for, and no time limit."""
    path = data / "slurm" / "cirrus_2024Q1_sacct_subset.csv.gz"
    w, plain = sacct.read(path, cancelled="keep"), sacct.read(path)
    kept = w.jobs.filter(w.jobs["cancel"].is_finite())
    assert (len(w), len(kept), w.dropped) == (11_633, 199, {"run time not positive": 2})
    assert (kept["run_time"] == kept["cancel"]).all()
    assert kept.row(0, named=True)["cancel"] > 0
    assert w.platform == plain.platform
    assert w.jobs.filter(w.jobs["id"] == 5313194)["cancel"].to_list() == [1704139565 - 1704119530]
