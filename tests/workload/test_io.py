"""I/O for ordinary traces: Darshan's text and summaries, shares, a model for the rest."""

import numpy as np
import polars as pl
import pytest

import forebay as fb
from forebay.errors import InputError
from forebay.workload import io
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

LOG = """# darshan log version: 3.41
# exe: ./a.out
# uid: 1000
# jobid: {job}
# start_time: 1490000867
# end_time: 1490001867
# nprocs: 4
# run time: 1000

#<module>\t<rank>\t<record id>\t<counter>\t<value>\t<file name>\t<mount pt>\t<fs type>
POSIX\t-1\t77\tPOSIX_BYTES_READ\t1000000000\t/scratch/a\t/scratch\tlustre
POSIX\t-1\t77\tPOSIX_BYTES_WRITTEN\t3000000000\t/scratch/a\t/scratch\tlustre
POSIX\t-1\t77\tPOSIX_F_READ_TIME\t40.0\t/scratch/a\t/scratch\tlustre
POSIX\t-1\t77\tPOSIX_F_WRITE_TIME\t150.0\t/scratch/a\t/scratch\tlustre
POSIX\t-1\t77\tPOSIX_F_META_TIME\t10.0\t/scratch/a\t/scratch\tlustre
MPI-IO\t-1\t77\tMPIIO_BYTES_WRITTEN\t3000000000\t/scratch/a\t/scratch\tlustre
STDIO\t0\t78\tSTDIO_BYTES_WRITTEN\t500\t<STDOUT>\tUNKNOWN\tUNKNOWN
"""
TOTALS = """# darshan log version: 3.41
# jobid: 2
# nprocs: 1
total_POSIX_BYTES_READ: 70
total_POSIX_BYTES_WRITTEN: 30
"""


def jobs(**more):
    given = {"id": [1, 2, 3, 4], "submit": [0, 1, 2, 3], "walltime": [9e3] * 4, "run_time": [1000.0] * 4}
    return fb.Workload("four", job_table({**given, "nodes": [2] * 4, "queue": [1, 1, 2, 2], **more}))


def test_logs_of_programs_add_up_and_mpi_io_counts_once(tmp_path):
    (tmp_path / "a.txt").write_text(LOG.format(job=1) + TOTALS)
    (tmp_path / "b.txt").write_text(LOG.format(job=1))
    found = io.read([tmp_path])
    assert found.select("job", "read", "written").rows() == [(1, 2e9, 6e9 + 1000), (2, 70.0, 30.0)]
    assert found["io_seconds"][0] == 100.0  # twice 200 s of four processes
    assert np.isnan(found["io_seconds"][1])
    (tmp_path / "sum.csv").write_text("JobID,bytes_read,bytes_written,io_time\n3,5,7,1.5\n")
    assert io.read([tmp_path / "sum.csv"]).rows()[0][:4] == (3, 5.0, 7.0, 1.5)


def test_what_is_known_counts_in_order_and_run_times_lose_their_io(tmp_path):
    """Job 1 by its log, the rest of its queue by a share, queue 2 by a model. Bytes and seconds are kept."""
    (tmp_path / "a.txt").write_text(LOG.format(job=1))
    known = io.Known(
        io.read([tmp_path / "a.txt"]), [io.parse_share("queue=1:0.2,spread=0,node=1GB")], "io-share:io=0.1"
    )
    made = io.attach(jobs(), known, 5)
    assert made.jobs["id"].to_list() == [1, 2, 3, 4]
    assert made.jobs["run_time"][:2].to_list() == [950.0, 800.0]
    phases = made.phases.group_by("job").agg(pl.col("bytes").sum(), pl.col("seconds").sum()).sort("job")
    assert phases["bytes"][:2].to_list() == [4e9 + 500, 1000 * 0.2 * 2e9]
    assert phases["seconds"].to_list() == pytest.approx(made.jobs["run_time"].to_list())
    assert (phases["bytes"][2:] > 0).all()
    assert "Darshan for 1 job, share of queue=1 for 1 job, model io-share:io=0.1 for 2 jobs" in made.provenance[-1]
    again = io.attach(jobs(), known, 6)
    assert again.phases.filter(pl.col("job") <= 2).equals(made.phases.filter(pl.col("job") <= 2)), "nothing is drawn"
    assert not again.phases.equals(made.phases)


def test_a_buffer_then_changes_run_times():
    """Checkpoints of half the time go to the buffer at once, so that jobs end earlier than without it."""
    site = "flat:nodes=8,burst_buffer=100TB,pfs=8GB/s"
    share = [io.parse_share("all:0.5,spread=0,node=1GB,pfs=1GB")]
    ends = [
        fb.simulate(io.attach(jobs(), io.Known(shares=share, buffered=buffered)), site, "fcfs").summary["makespan"]
        for buffered in (False, True)
    ]
    assert ends[1] < 0.8 * ends[0]


def test_without_knowledge_it_says_what_a_buffer_can_do():
    with pytest.raises(InputError, match="a buffer can only add a constraint here"):
        io.attach(jobs(), io.Known())
    made = io.attach(jobs(), io.Known(shares=[io.parse_share("queue=1:0.1")]))
    assert "nothing says what 2 jobs of 4 read and write: for them a buffer can only add a constraint" in made.notes[0]


def test_bad_input_is_named(tmp_path):
    log = tmp_path / "a.txt"
    for text, words in (
        (LOG.format(job=99), "a.txt: job 99 is not in four, whose jobs are 1 to 4"),
        (LOG.format(job="x"), "a.txt, line 4: 'x' is not a number"),
        ("# darshan log version: 3\nPOSIX\n", "line 1: a log without '# jobid:'"),
        ("a,b\n1,2\n", "it lacks job, read, written"),
        ("job,read,written\n1,-2,3\n", "line 2: numbers below 0"),
        ("job,read,written\n1,x,3\n", "line 2"),
        ("\0binary", "darshan-parser --total"),
    ):
        log.write_text(text)
        with pytest.raises(InputError, match=words):
            io.attach(jobs(), io.Known(io.read([log])))
    with pytest.raises(InputError, match=r"gone\.txt: cannot be read"):
        io.read([tmp_path / "gone.txt"])
    with pytest.raises(InputError, match="'burst-buffer' gives jobs no phases of I/O"):
        io.attach(jobs(), io.Known(model="burst-buffer"))
    for text in ("gpu", "queue=1:x", "all:0.8", "all:0.1,speed=3", "queue=:0.1"):
        with pytest.raises(InputError, match="share"):
            io.parse_share(text)
    with pytest.raises(InputError, match="has no such job"):
        io.attach(jobs(), io.Known(shares=[io.parse_share("queue=9:0.1")]))
