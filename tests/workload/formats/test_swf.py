"""SWF: what each field becomes, what is left out, what is refused and how; and that files read back equal."""

import gzip
import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import forebay as fb
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.formats import swf
from forebay.workload.workload import Workload, job_table

small = pytest.mark.small


def line(job=1, submit=0, run=10, allocated=4, asked=8, time=60, user=-1, group=-1, queue=-1, tail="") -> str:
    return f"{job} {submit} -1 {run} {allocated} -1 -1 {asked} {time} -1 1 {user} {group} -1 {queue} -1 -1 -1{tail}"


@pytest.fixture
def file(tmp_path):
    """A function that puts text or bytes in a file and gives its path."""

    def put(content, name="trace.swf"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@small
def test_every_column_comes_from_its_field(file):
    text = "; UnixStartTime: 1000\n; MaxProcs: 512\n" + line(7, 50, 10.5, 4, 8, 60, 3, 2, 1) + "\n" + line(8, 70)
    path = file(text)
    w = swf.read(path)
    expected = job_table(
        {
            "id": [7, 8],
            "submit": [0.0, 20.0],
            "walltime": [60.0, 60.0],
            "run_time": [10.5, 10.0],
            "nodes": [8, 8],
            "user": [3, -1],
            "group": [2, -1],
            "queue": [1, -1],
        }
    )
    assert_frame_equal(w.jobs, expected)
    assert (w.name, w.epoch, w.platform, w.records) == ("trace", 1050.0, "flat:nodes=512", 2)
    assert (w.dropped, w.notes) == ({}, ())
    assert w.provenance == ("read trace.swf (SWF, 2 records)",)
    assert w.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@small
def test_allocated_processors_and_run_time_stand_in_for_what_was_not_requested(file):
    w = swf.read(file("\n".join([line(1, asked=-1, time=-1), line(2, asked=0, time=0), line(3)])))
    assert w.jobs["nodes"].to_list() == [4, 4, 8]
    assert w.jobs["walltime"].to_list() == [10.0, 10.0, 60.0]
    assert w.notes == ("2 jobs without a requested time: the run time is taken, a perfect estimate",)


@small
def test_only_records_without_run_time_or_processors_are_dropped_and_counted(file):
    records = [
        line(1, run=0),
        line(2, run=-1, asked=-1, allocated=-1),
        line(3, asked=-1, allocated=0),
        line(4, submit=9),
    ]
    w = swf.read(file("\n".join(records)))
    assert w.jobs["id"].to_list() == [4]
    assert w.dropped == {"run time not positive": 2, "no processors": 1}
    assert (w.records, w.epoch) == (4, 9.0)


@small
def test_jobs_are_put_in_order_by_submit_then_id(file):
    w = swf.read(file("\n".join([line(5, 30), line(9, -20), line(2, -20), line(1, 30)])))
    assert w.jobs["id"].to_list() == [2, 9, 1, 5]
    assert w.jobs["submit"].to_list() == [0.0, 0.0, 50.0, 50.0]
    assert w.epoch == -20.0
    assert w.notes == ("1 job is listed after one submitted later: put in order of submission",)


@small
@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf; MaxProcs: 9\r\n\r\n" + line().encode() + b"\r\n\r\n",
        b"; MaxProcs: 9\r" + line().encode() + b"\r",
        b"  \n\t; MaxProcs: 9 (8 since May)\n; Installation: K\xf8benhavn\n" + line().replace(" ", "\t ").encode(),
        gzip.compress(b";MaxProcs:9\n" + line().encode() + b"\n; the end", mtime=0),
    ],
    ids=["BOM and CRLF", "CR", "blanks, tabs and Latin-1 comments", "gzip without .gz"],
)
def test_layout_does_not_matter(file, content):
    w = swf.read(file(content))
    assert (len(w), w.platform, w.epoch) == (1, "flat:nodes=9", 0.0)


@small
@pytest.mark.parametrize(
    "header",
    ["", "; MaxProcs: 0\n", "; MaxProcs: many\n", "; MaxProcs: 1,152\n", "; MaxProcs: -1\n", "; MaxProcs: 1e300\n"],
)
def test_a_machine_is_named_only_if_the_header_gives_its_size(file, header):
    assert swf.read(file(header + line())).platform is None


@small
def test_a_comment_of_blanks_takes_no_time(file):
    w = swf.read(file(f"; Note: {' ' * 200_000}x\n; A{' ' * 200_000}x\n;MaxProcs :  8 \n{line()}"))
    assert w.platform == "flat:nodes=8"


@small
def test_columns_after_the_18th_are_noted_and_may_be_anything(file):
    w = swf.read(file(line(1, tail=" 5 6 7") + "\n" + line(2) + "\n" + line(3, tail=" caf\xe9 nan")))
    assert w.jobs["id"].to_list() == [1, 2, 3]
    assert w.notes == ("3 columns after SWF's 18 are not read",)


@small
@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ["holds no job"]),
        ("; Version: 2.2\n\n", ["holds no job"]),
        (line(run=0), ["holds no job", "1 record left out", "1 run time not positive"]),
        (f"; c\n{line()}\n1 2 3\n", ["line 3", "3 fields", "18", "-1"]),
        (line().replace(" 60 ", " 1h "), ["line 1", "field 9 (requested time)", "'1h'"]),
        (f"{line()}\n\n{line(2).replace(' 60 ', ' NaN ')}", ["line 3", "field 9", "'NaN'", "finite"]),
        (line(time="inf"), ["line 1", "field 9", "'inf'"]),
        (line(time="1e999"), ["line 1", "field 9", "'1e999'", "finite"]),
        (line(time="1_000"), ["line 1", "field 9", "'1_000'"]),
        (line(time="1.5.2"), ["line 1", "field 9", "'1.5.2'"]),
        (line(time="5-4"), ["line 1", "field 9", "'5-4'"]),
        (line(job="1.5"), ["line 1", "job number is 1.5", "whole number"]),
        (line(job=2**53), ["line 1", "job number", "below 2^53"]),
        (line(asked=2.5), ["line 1", "number of processors is 2.5"]),
        (line(user=0.5), ["line 1", "user is 0.5"]),
        (f"{line(4)}\n; c\n{line(3)}\n{line(4, 5)}", ["line 4: is job 4, as is line 1", "job 4"]),
        (gzip.compress(line().encode(), mtime=0)[:-9], ["gzip", "fetch the file again"]),
        (b"\x1f\x8b" + line().encode(), ["gzip", "damaged"]),
        (bytes(range(256)) * 8, ["line 1", "not text"]),
        (line().encode("utf-16"), ["line 1", "not text"]),
        ("Kopański " + line(), ["line 1", "field 1 (job number)", "'Kopański'"]),
        (line(time="9" * 5000), ["line 1", "field 9", "'99999", "..."]),
        (line(1, -1e308) + "\n" + line(2, 1e308), ["job 2: submit is inf", "1e+10 s", "in seconds?"]),
        (line(submit=1e300), ["its first job arrives 1e+300 s after 1970"]),
        (f"; UnixStartTime: 1e400\n{line()}", ["its first job arrives inf s after 1970"]),
        (line(run=1e16), ["job 1: run_time is 1e+16", "from 0 to 1e+10"]),
        (line(time=1e300), ["job 1: walltime is 1e+300", "1e+10 at most"]),
        (line(asked=10**15), ["job 1: nodes is 1000000000000000", "from 1 to 1,000,000,000"]),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(file, content, parts):
    path = file(content)
    with pytest.raises(InputError) as caught:
        swf.read(path)
    assert "\n" not in str(caught.value)
    for part in [str(path), *parts]:
        assert part in str(caught.value)


@small
def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.swf: no such file"):
        swf.read(tmp_path / "none.swf")
    with pytest.raises(InputError, match="is a folder"):
        swf.read(tmp_path)


positive = st.floats(min_value=1e-6, max_value=1e10) | st.integers(1, 10**9).map(float)
known = st.integers(-1, 10**6)


@st.composite
def workloads(draw):
    submits = sorted(draw(st.lists(st.floats(0, 1e9) | st.integers(0, 10**9).map(float), min_size=1, max_size=8)))
    n = len(submits)

    def some(values):
        return st.lists(values, min_size=n, max_size=n)

    columns = {
        "id": sorted(draw(st.lists(st.integers(0, 2**53 - 1), min_size=n, max_size=n, unique=True))),
        "submit": [0.0, *submits[1:]],
        "walltime": draw(some(positive)),
        "run_time": draw(some(positive)),
        "nodes": draw(some(st.integers(1, 10**7))),
    }
    columns |= {name: draw(some(known)) for name in ("user", "group", "queue")}
    epoch = draw(st.integers(0, 2 * 10**9).map(float) | st.floats(0, 1e9))
    return Workload("w", job_table(columns), epoch=epoch, platform=draw(st.sampled_from([None, "flat:nodes=96"])))


@small
@settings(derandomize=True, deadline=None, max_examples=50)
@given(workloads(), st.sampled_from(["w.swf", "w.swf.gz"]))
def test_written_jobs_read_back_equal(w, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        notes = swf.write(w, path)
        back = swf.read(path)
    assert notes == []
    assert_frame_equal(back.jobs, w.jobs, check_exact=True)
    assert (back.epoch, back.platform, back.name) == (w.epoch, w.platform, "w")


def one_job(**columns) -> Workload:
    base = {"id": [1], "submit": [0.0], "walltime": [9.0], "run_time": [5.0], "nodes": [2]}
    return Workload("w", job_table(base | columns))


@small
def test_the_file_is_plain_swf(tmp_path):
    w = replace(
        one_job(run_time=[0.1], user=[7]),
        platform="flat:nodes=96",
        epoch=12.0,
        provenance=("read a.swf (SWF, 1 records)", "first 1:\n 1 of 1 jobs"),
    )
    swf.write(w, tmp_path / "w.swf")
    assert (tmp_path / "w.swf").read_text() == (
        "; Version: 2.2\n; MaxJobs: 1\n; MaxRecords: 1\n; MaxProcs: 96\n; UnixStartTime: 12\n"
        "; Note: read a.swf (SWF, 1 records)\n; Note: first 1: 1 of 1 jobs\n"
        "1 0 -1 0.1 2 -1 -1 2 9 -1 -1 7 -1 -1 -1 -1 -1 -1\n"
    )


@small
def test_packed_files_repeat_byte_for_byte(tmp_path):
    swf.write(one_job(), tmp_path / "a.swf.gz")
    swf.write(one_job(), tmp_path / "b.swf.gz")
    first = (tmp_path / "a.swf.gz").read_bytes()
    assert first[:2] == b"\x1f\x8b"
    assert first[4:8] == bytes(4)  # gzip's date
    assert first == (tmp_path / "b.swf.gz").read_bytes()


@small
def test_what_swf_cannot_hold_is_noted(tmp_path):
    w = one_job(flop=[1.0], communication=[2.0], priority=[3.0], burst_buffer=[4], nothing=[0], walltime=[float("inf")])
    phases = pl.DataFrame([(1, 0, "compute", 5.0, 0.0, 0.0, 0.0, None)], PHASE_SCHEMA, orient="row")
    w = replace(
        w, phases=phases, platform="flat:nodes=4,burst_buffer=9GB", jobs=w.jobs.with_columns(submit=pl.lit(3.0))
    )
    notes = swf.write(w, tmp_path / "w.swf")
    assert [note.split()[0] for note in notes[:4]] == ["flop", "communication", "priority", "burst_buffer"]
    assert notes[4:] == [
        "1 job without a walltime: read back, the run time is taken, a perfect estimate",
        "legs and phases are not written: SWF has jobs only",
        "the first job is not submitted at 0: read back, it is, and the epoch moves instead",
        "the platform 'flat:nodes=4,burst_buffer=9GB' is not kept, at most its number of nodes: "
        "name it again when you simulate",
    ]
    back = swf.read(tmp_path / "w.swf")
    assert (back.jobs["walltime"][0], back.epoch, back.platform) == (5.0, 3.0, "flat:nodes=4")


@small
def test_work_in_flop_alone_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(InputError, match=r"job 1 \(1 in all\) has its work in flop.*Batsim"):
        swf.write(one_job(run_time=[0.0], flop=[1e9]), tmp_path / "w.swf")
    with pytest.raises(InputError, match="job 1 has a submit or run time that is not finite"):
        swf.write(one_job(run_time=[float("nan")]), tmp_path / "w.swf")
    with pytest.raises(InputError, match="is a folder"):
        swf.write(one_job(), tmp_path)
    with pytest.raises(InputError, match="cannot write there"):
        swf.write(one_job(), tmp_path / "none" / "w.swf")
    assert list(tmp_path.iterdir()) == []


# Counts below follow from the files: awk over fields 4, 5, 8 gives the same numbers.
REAL = {
    # 8 records have run time 0, one asks for no processors; 28,467 is also what Kopański & Rządca (2021) kept.
    "KTH-SP2-1996-2.1-cln.swf.gz": (28476, 28467, {"run time not positive": 8, "no processors": 1}, 844079881, 100),
    # 173 jobs of the iPSC log ended within their first second; nobody requested a time.
    "NASA-iPSC-1993-3.1-cln.swf.gz": (18239, 18066, {"run time not positive": 173}, 749458803, 128),
    "ANL-Intrepid-2009-1_first1185.swf.gz": (1185, 1185, {}, 1231135224, 163840),
    # UnixStartTime is 0 and submits are Unix times: the epoch is the first of them.
    "theta_1000.swf.gz": (1000, 1000, {}, 1641021254, 4360),
    "bbsched_test.swf": (100, 100, {}, 1512771489, 4392),
}
NOTES = {
    "NASA-iPSC-1993-3.1-cln.swf.gz": (
        "18,066 jobs without a requested time: the run time is taken, a perfect estimate",
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_real_logs(data, name, tmp_path):
    records, jobs, dropped, epoch, nodes = REAL[name]
    w = swf.read(data / "swf" / name)
    assert (w.records, len(w), w.dropped, w.epoch) == (records, jobs, dropped, epoch)
    assert w.platform.split(",")[0] == f"flat:nodes={nodes}"
    assert w.notes == NOTES.get(name, ())
    assert w.jobs["submit"].is_sorted()
    assert swf.write(w, tmp_path / "again.swf") == []
    assert_frame_equal(swf.read(tmp_path / "again.swf").jobs, w.jobs, check_exact=True)


@pytest.mark.small
def test_preceding_jobs_are_waited_for(tmp_path):
    path = tmp_path / "w.swf"
    path.write_text(
        "1 0 0 100 1 -1 -1 1 200 -1 1 1 1 -1 -1 -1 -1 -1\n"
        "2 10 0 100 1 -1 -1 1 200 -1 1 1 1 -1 -1 -1 1 50\n"
        "3 20 0 100 1 -1 -1 1 200 -1 1 1 1 -1 -1 -1 2 -1\n"
        "4 30 0 100 1 -1 -1 1 200 -1 1 1 1 -1 -1 -1 99 7\n"
    )
    found = fb.read(path)
    assert found.dependencies.rows() == [(2, 1, "afterany", 50.0, False), (3, 2, "afterany", 0.0, False)]
    assert found.notes == (
        "2 jobs wait for the end of a preceding job (field 17), and the think time after it (18)",
        "1 dependency is on a job that is left out: taken as met",
    )
    assert fb.simulate(found, "flat:nodes=4", "fcfs").jobs["starting_time"].to_list() == [0.0, 150.0, 250.0, 30.0]
    path.write_text(path.read_text().replace(" -1 -1\n", " 1 -1\n", 1))
    with pytest.raises(InputError, match=r"w\.swf: dependency of job 1: parent is 1; it must be another job"):
        fb.read(path)
