"""Traffic of runs small enough to solve by hand.

`staged`: 4 nodes, 10 GB of pooled buffer, a file system that reads and writes 1 GB/s, each on a link of its own.

    job  submit  nodes  buffer  computes  walltime
    1         0      2    8 GB    7200 s    9000 s  two compute phases, so a checkpoint and a drain of 4 GB between
    2         0      1    2 GB      60 s     100 s
    3         5      1       -      10 s      50 s
    4      8000      1    2 GB      60 s      63 s  killed while it stages out

Jobs 1 and 2 stage in with 2 streams and 1, so at 2/3 and 1/3 GB/s: job 2 is ready at 6 s, when job 1 has 4 of its 8 GB;
the rest goes at 1 GB/s, until 10 s. Job 2 computes until 66 s and stages out until 68 s. Job 1 computes until 3610 s,
writes its checkpoint in no time (nothing limits the way to the buffer), drains it until 3614 s while it computes until
7210 s, and stages out until 7218 s. Job 4 stages in until 8002 s, computes until 8062 s, and is killed at 8063 s, with
1 of its 2 GB staged out.
"""

import polars as pl
import pytest

import forebay
from cases.failing import Tape, guarded
from forebay import metrics
from forebay.core.schemas import PHASE_SCHEMA
from forebay.errors import InputError
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

GB = 10**9
NEW = {"mean_stage_in_time", "mean_io_time", "pfs_utilisation"} | {
    f"bytes_{kind}" for kind in ("stage_in", "checkpoint", "drain", "stage_out", "read", "write", "fetch")
}


@pytest.fixture(scope="module")
def staged():
    jobs = job_table(
        {
            "id": [1, 2, 3, 4],
            "submit": [0, 0, 5, 8000],
            "walltime": [9000, 100, 50, 63],
            "run_time": [7200, 60, 10, 60],
            "nodes": [2, 1, 1, 1],
            "burst_buffer": [8 * GB, 2 * GB, 0, 2 * GB],
        }
    )
    workload = forebay.Workload("staged", jobs)
    return forebay.simulate(workload, "flat:nodes=4,burst_buffer=10GB,pfs=1GB/s", "fcfs-bb")


@pytest.fixture(scope="module")
def phased():
    """One node of dragonfly-96: reads 5 GB at 5 GB/s, writes a checkpoint of 2.5 GB at 1.25 GB/s, writes 5 GB: 10 s."""
    jobs = job_table(
        {"id": [1], "submit": [0], "walltime": [20], "run_time": [0], "nodes": [1], "burst_buffer": 3 * GB}
    )
    phases = pl.DataFrame(
        [
            (1, 0, "read", 0.0, 0.0, 0.0, 5e9, None),  # 1 s
            (1, 0, "compute", 6.0, 0.0, 0.0, 0.0, None),
            (1, 0, "checkpoint", 0.0, 0.0, 0.0, 2.5e9, None),  # 2 s: the port of node 0, and of server 0 on its router
            (1, 0, "write", 0.0, 0.0, 0.0, 5e9, None),  # 1 s
        ],
        schema=PHASE_SCHEMA,
        orient="row",
    )
    return forebay.simulate(forebay.Workload("phased", jobs, phases=phases), "dragonfly-96", "fcfs-bb")


def test_times_of_jobs_that_stage(staged):
    # Job 3 moves nothing and is in neither mean.
    assert metrics.mean_stage_in_time(staged) == pytest.approx((10 + 6 + 2) / 3)
    assert metrics.mean_io_time(staged) == pytest.approx((7218 - 7200 + 68 - 60 + 63 - 60) / 3)
    assert metrics.percentiles(staged, "io_time")["max"] == pytest.approx(18)


def test_use_of_the_file_system(staged):
    # In: 8 + 2 + 2 GB. Out: a drain of 4, and 8 + 2 + 1 GB of stage-out. From 0 to 8063 s.
    assert metrics.link_utilisation(staged, "pfs read") == pytest.approx(12 / 8063)
    assert metrics.link_utilisation(staged, "pfs write") == pytest.approx(15 / 8063)
    assert metrics.pfs_utilisation(staged) == pytest.approx(27 / (2 * 8063))


def test_bytes_by_kind(staged, phased):
    gigabytes = {kind: amount / GB for kind, amount in metrics.moved(staged).items()}
    none = dict.fromkeys(("stage_in", "drain", "stage_out", "read", "write", "fetch"), 0)
    assert gigabytes == none | {"stage_in": 12, "checkpoint": 4, "drain": 4, "stage_out": 11}
    gigabytes = {kind: amount / GB for kind, amount in metrics.moved(phased).items()}
    assert gigabytes == none | {"checkpoint": 2.5, "read": 5, "write": 5}


def test_a_file_system_of_one_link_and_a_server(phased):
    assert metrics.makespan(phased) == pytest.approx(10)
    assert metrics.pfs_utilisation(phased) == pytest.approx((5 + 5) / (5 * 10))
    assert metrics.link_utilisation(phased, "server0 in") == pytest.approx(2.5 / (1.25 * 10))
    assert metrics.link_utilisation(phased, "server1 in") == 0
    assert metrics.mean_stage_in_time(phased) == 0
    assert metrics.mean_io_time(phased) == pytest.approx(4)


def test_summary(staged):
    found = metrics.summary(staged)
    assert found["utilisation_burst_buffer"] == pytest.approx((8 * 7218 + 2 * 68 + 2 * 63) / (10 * 8063))
    assert found["pfs_utilisation"] == pytest.approx(27 / (2 * 8063))
    assert found["mean_stage_in_time"] == pytest.approx(6)
    assert found["mean_io_time"] == pytest.approx(29 / 3)
    assert found["bytes_stage_out"] == 11 * GB


def test_a_window_knows_its_jobs_but_not_when_links_were_used(staged):
    late = metrics.window(staged, 7000, 9000)
    assert metrics.link_utilisation(late, "pfs read") is None
    assert metrics.pfs_utilisation(late) is None
    assert metrics.moved(late)["stage_in"] == 2 * GB
    assert metrics.moved(late)["stage_out"] == GB
    assert metrics.mean_io_time(late) == pytest.approx(3)
    assert list(metrics.summary(late)) == list(metrics.summary(staged))


def test_runs_that_move_nothing_are_summed_up_as_ever(run, rejected, empty):
    for each in (run, rejected, empty):
        assert metrics.mean_io_time(each) is None
        assert metrics.mean_stage_in_time(each) is None
        assert metrics.pfs_utilisation(each) is None
        assert metrics.moved(each) == {}
        assert not NEW & set(metrics.summary(each))


def test_so_are_runs_whose_nodes_talk(staged):
    # 8 nodes compute for 10 s and send 1 kB to each other; there is a file system, but nobody uses it.
    jobs = job_table(
        {"id": [1], "submit": [0], "walltime": [20], "run_time": [10], "nodes": [8], "communication": [1e3]}
    )
    talking = forebay.simulate(forebay.Workload("talking", jobs), "dragonfly-96", "fcfs-bb")
    assert talking.links["bytes"].sum() > 0
    assert not NEW & set(metrics.summary(talking))
    assert set(metrics.summary(staged)) >= NEW


def test_times_of_phases_without_bytes():
    # Written seconds are times of staging too, but nothing crosses a link.
    jobs = job_table({"id": [1], "submit": [0], "walltime": [20], "run_time": [0], "nodes": [1]})
    rows = [(1, 0, "stage_in", 3.0, 0.0, 0.0, 0.0, None), (1, 0, "compute", 5.0, 0.0, 0.0, 0.0, None)]
    phases = pl.DataFrame(rows, schema=PHASE_SCHEMA, orient="row")
    found = metrics.summary(forebay.simulate(forebay.Workload("timed", jobs, phases=phases), "flat:nodes=4"))
    assert found["mean_stage_in_time"] == found["mean_io_time"] == 3
    assert NEW & set(found) == {"mean_stage_in_time", "mean_io_time"}


def test_unknown_links_are_named(staged, run):
    with pytest.raises(InputError, match="unknown link 'pfs raed': did you mean 'pfs read'"):
        metrics.link_utilisation(staged, "pfs raed")
    with pytest.raises(InputError, match="unknown link 'pfs': no shared link carried anything"):
        metrics.link_utilisation(run, "pfs")


def test_bytes_of_checkpoints_count_where_any_are_complete():
    """Of three checkpoints, one is cut off; the last takes seconds and moves nothing."""
    tape = Tape(1)
    tape.submit(0, 1, 1)
    tape.start(0, 1, "0")
    for time, amount in ((2, 8), (4, 0), (6, -1)):
        tape.row(time - 1, 1, "begin_phase", None, 0, "save")
        tape.row(time, 1, "end_phase", None, amount, "save")
    tape.end(6, 1, "walltime")
    assert {kind: amount for kind, amount in metrics.moved(tape.result()).items() if amount} == {"save": 8}
    assert metrics.moved(guarded()) == {}
