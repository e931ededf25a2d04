"""Memory in SWF: field 10 asks for kilobytes a processor; it becomes a job's total in bytes, and reads back equal."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from forebay.errors import InputError
from forebay.workload import fitting, models
from forebay.workload.formats import swf
from forebay.workload.workload import Workload, job_table

pytestmark = pytest.mark.small

KIB, GIB = 1024, 2**30


def line(job, memory, nodes=2, run=600):
    return f"{job} {job} -1 {run} {nodes} -1 777 {nodes} 900 {memory} 1 -1 -1 -1 -1 -1 -1 -1"


@pytest.fixture
def read(tmp_path):
    def put(*lines, head=""):
        (tmp_path / "trace.swf").write_text(head + "\n".join(lines))
        return swf.read(tmp_path / "trace.swf")

    return put


def test_it_is_asked_for_by_each_processor(read):
    w = read(line(1, 4 * KIB**2, 3), line(2, -1), line(3, 0.5), line(4, 0))
    assert w.jobs["memory"].to_list() == [12 * GIB, 0, KIB, 0]
    assert w.notes == (
        "memory of 2 jobs is not known: taken as 0",
        "memory is a demand (bytes, a job's total): machines without a pool of that name ignore it",
    )


def test_a_trace_without_any_has_no_such_column(read):
    w = read(line(1, -1), line(2, 0), line(3, 5, run=0))
    assert (w.resources, w.notes) == ((), ())


def test_it_stands_beside_further_resources(read):
    w = read(line(1, 8) + " 300", head="; MaxProcs: 64\n; BurstBuffer: 500\n")
    assert w.resources == ("burst_buffer", "memory")
    assert w.platform == "flat:nodes=64,burst_buffer=500B"


@pytest.mark.parametrize("memory", ["1e300", "9e15"])
def test_more_than_can_be_counted_is_refused(read, memory):
    with pytest.raises(InputError, match=r"line 1: the memory asked for in all, in bytes, is .*; it must be a whole"):
        read(line(1, memory))


def test_models_and_fits_take_it(read):
    """4 GiB for each of 2 nodes; and requests per node of 100 jobs, each in its own size."""
    w = models.attach(read(line(1, 4 * KIB**2), head="; MaxProcs: 64\n"), ["burst-buffer:from=memory"], 0)
    assert w.jobs["burst_buffer"].to_list() == [8 * GIB]
    name, each = fitting.requests(read(*(line(job, 1000 + job) for job in range(1, 101))))
    assert (name, sorted(each)) == ("memory", [(1000 + job) * KIB for job in range(1, 101)])


def test_it_reads_back_equal(read, tmp_path):
    """Also where it does not divide by the processors; above 2^51 bytes only where it does, which is noted."""
    totals = [0, 1, 7, 10**12 + 1, 2**51 - 1, 2**52, 2**52 + 1, 2**60]
    n = len(totals)
    columns = {"id": range(1, n + 1), "submit": range(n), "walltime": [9] * n, "run_time": [5] * n}
    jobs = job_table(columns | {"nodes": [1, 3, 3, 7, 3, 4, 3, 2], "memory": totals})
    notes = swf.write(Workload("w", jobs), tmp_path / "w.swf")
    assert "memory of 2 jobs is not written: SWF's unit cannot hold it exactly" in notes
    known = pl.col("id") < n - 1
    want = jobs.with_columns(memory=pl.when(known).then("memory").otherwise(0))
    assert_frame_equal(swf.read(tmp_path / "w.swf").jobs, want, check_exact=True)


def test_it_does_not_keep_further_resources_from_being_written(read, tmp_path):
    w = read(line(1, 8) + " 300", head="; MaxProcs: 64\n; BurstBuffer: 500\n")
    assert swf.write(w, tmp_path / "again.swf") == []
    again = swf.read(tmp_path / "again.swf")
    assert_frame_equal(again.jobs, w.jobs, check_exact=True)
    assert again.platform == w.platform
