"""Jobs with a bandwidth of their own (`per_job`), solved by hand: private lanes, and lanes into what all share."""

import polars as pl
import pytest

import forebay as fb
from forebay import metrics
from forebay.core.schemas import PHASE_SCHEMA
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs, shared_bb
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

GB = 10**9
KILLED = "COMPLETED_WALLTIME_REACHED"


def workload(*jobs):
    """Jobs as (submit, nodes, walltime, phases), numbered 1, 2, ...; phases as (kind, bytes), or seconds to compute."""
    table = job_table(
        {
            "id": range(1, len(jobs) + 1),
            "submit": [float(job[0]) for job in jobs],
            "walltime": [float(job[2]) for job in jobs],
            "run_time": [0.0] * len(jobs),
            "nodes": [job[1] for job in jobs],
            "burst_buffer": [GB] * len(jobs),
        }
    )
    rows = []
    for number, (*_, phases) in enumerate(jobs, 1):
        for phase in phases:
            kind, seconds, size = (*phase[:1], 0.0, phase[1]) if isinstance(phase, tuple) else ("compute", phase, 0.0)
            rows.append((number, 0, kind, float(seconds), 0.0, 0.0, float(size), None))
    return fb.Workload("lanes", table, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row"))


def machine(files=8e9, buffer=8e9, shared=None, **more):
    """2,000 nodes; lanes to the file system and to the buffer, and what all jobs share of either, each way."""
    tiers = (
        shared_bb.Tier(name="burst_buffer", capacity=1000 * GB, per_job=buffer, bandwidth=shared, **more),
        pfs.Tier(name="pfs", per_job=files, read=shared, write=shared),
    )
    return Platform(name="lanes", nodes=2000, tiers=tiers)


def ends(platform, *jobs):
    """When each job ends."""
    return fb.simulate(workload(*jobs), platform, "fcfs").jobs["finish_time"].to_list()


KINDS = ("stage_in", "fetch", "checkpoint", "read", "write", "stage_out")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nodes", [1, 7, 1000])
def test_a_job_has_its_lane_whatever_its_size(kind, nodes):
    # 11 GB at 8 GB/s: 1.375 s
    assert ends(machine(), (0, nodes, 100, [(kind, 11 * GB)])) == [1.375]


@pytest.mark.parametrize("kind", KINDS)
def test_private_lanes_never_meet(kind):
    # three jobs at once, the third half a second later: each as if it were alone
    jobs = [(0, 1, 100, [(kind, 8 * GB)]), (0, 500, 100, [(kind, 24 * GB)]), (0.5, 3, 100, [(kind, 8 * GB)])]
    assert ends(machine(), *jobs) == [1, 3, 1.5]


def test_ends_are_exact():
    # 8 GB/s and whole gigabytes: all times are eighths of a second, and floats hold those exactly, however many
    # transfers begin and end on the way. 300 jobs, one every 0.125 s: job k reads k mod 97 + 1 GB and writes 3.
    jobs = [(0.125 * k, 1, 1e6, [("read", (k % 97 + 1) * GB), ("write", 3 * GB)]) for k in range(300)]
    late = 2**20  # twelve days on
    jobs += [(late + 0.125 * k, 1, 1e6, [("stage_in", 9 * GB), ("drain", 5 * GB), 0.25]) for k in range(50)]
    expected = [0.125 * (k + k % 97 + 1 + 3) for k in range(300)]
    assert ends(machine(), *jobs) == expected + [late + 0.125 * (k + 9 + 5) for k in range(50)]


def test_others_do_not_change_a_bit():
    # times that floats cannot hold exactly: still the end is the beginning and bytes / rate, to the last bit
    jobs = [(0.1 * k, 1, 1e6, [("read", 1234567891 * (k % 7 + 1))]) for k in range(50)]
    assert ends(machine(), *jobs) == [0.1 * k + 1234567891 * (k % 7 + 1) / 8e9 for k in range(50)]


def test_lanes_into_a_shared_bandwidth():
    # 10 GB/s for all, 8 for each. Job 1 alone has 8 GB/s from 0 to 1 s; then two have 5 each. Job 2 moves 10 GB until
    # 3 s, when job 1 has moved 8 + 10 of 26 GB: 8 more at 8 GB/s, until 4 s.
    for kind in KINDS:
        jobs = [(0, 1, 100, [(kind, 26 * GB)]), (1, 1000, 100, [(kind, 10 * GB)])]
        assert ends(machine(shared=10e9), *jobs) == [4, 3]


def test_four_jobs_share_by_jobs_not_by_nodes():
    # 2.5 GB/s each of 10, though they have 1, 2, 3 and 400 nodes
    jobs = [(0, nodes, 100, [("write", 10 * GB)]) for nodes in (1, 2, 3, 400)]
    assert ends(machine(shared=10e9), *jobs) == [4] * 4


@pytest.mark.parametrize(
    ("files", "buffer", "staging", "inside"), [(2e9, 8e9, 4, 1), (8e9, 2e9, 4, 4), (2e9, None, 4, 0)]
)
def test_staging_goes_at_the_slower_lane(files, buffer, staging, inside):
    # 8 GB between file system and buffer, then 8 GB from the nodes into the buffer
    (end,) = ends(machine(files, buffer), (0, 10, 100, [("stage_in", 8 * GB), ("checkpoint", 8 * GB)]))
    assert end == staging + inside


def test_a_lane_on_one_side_makes_staging_one_stream():
    # The file system gives 10 GB/s to all and a lane to nobody; the buffer's lanes take 8. Jobs of 1 and 3 nodes stage
    # in 10 GB at 5 GB/s each; they then read 10 GB, in 1 and 3 streams: 2.5 and 7.5 GB/s. The second ends after 4/3 s;
    # the first has 20/3 GB left, at 10 GB/s: 2 s.
    tiers = (
        shared_bb.Tier(name="burst_buffer", capacity=100 * GB, per_job=8e9),
        pfs.Tier(name="pfs", read=10e9, write=10e9),
    )
    both = [("stage_in", 10 * GB), ("read", 10 * GB)]
    found = ends(Platform(name="half", nodes=4, tiers=tiers), (0, 1, 100, both), (0, 3, 100, both))
    assert found == [pytest.approx(4), pytest.approx(2 + 4 / 3)]


def test_a_buffer_on_servers():
    # four servers of 2.5 GB/s, a job's data on all: 10 GB/s for all jobs
    jobs = [(0, 1, 100, [("fetch", 8 * GB)]), (1, 9, 100, [("fetch", 10 * GB)]), (1, 9, 100, [("fetch", 10 * GB)])]
    assert ends(machine(shared=10e9, servers=4), *jobs) == [1, 3, 3]


def test_a_kill_on_the_way():
    # 8 GB/s until it is killed at 2.5 s: 20 GB; the other goes on
    jobs = workload((0, 5, 2.5, [("read", 40 * GB)]), (0, 5, 100, [("read", 40 * GB)]))
    result = fb.simulate(jobs, machine(), "fcfs")
    assert result.jobs["final_state"].to_list() == [KILLED, "COMPLETED_SUCCESSFULLY"]
    assert result.jobs["finish_time"].to_list() == [2.5, 5]
    moved = result.log.filter(pl.col("kind") == "end_phase").select("job", "amount").rows()
    assert moved == [(1, 20 * GB), (2, 40 * GB)]


def test_results_without_any_shared_link():
    result = fb.simulate(workload((0, 1, 100, [("fetch", 8 * GB), 1, ("stage_out", 8 * GB)])), "trinity", "fcfs")
    assert result.facts["job_model"] == "io-aware"
    assert result.links.is_empty()
    assert result.jobs["io_time"].to_list() == [2]
    assert metrics.pfs_utilisation(result) is None
    assert metrics.moved(result)["fetch"] == metrics.moved(result)["stage_out"] == 8 * GB
    assert metrics.summary(result)["bytes_fetch"] == 8 * GB
    assert "pfs_utilisation" not in metrics.summary(result)


def test_trinity_with_and_without_its_buffer():
    # 40 GB: 5 s at 8 GB/s, 16 s at 2.5 GB/s
    assert ends("trinity:cores=1001", (0, 1000, 100, [("stage_in", 40 * GB)])) == [5]
    assert ends("trinity-io:cores=1001", (0, 1000, 100, [("read", 40 * GB)])) == [16]
    assert ends("trinity:cores=1001,shared=10GB/s", *[(0, n, 100, [("stage_in", 40 * GB)]) for n in (1, 1000)]) == [
        8,
        8,
    ]
    assert ends("trinity-io:cores=1001,shared=4GB/s", *[(0, n, 100, [("read", 40 * GB)]) for n in (1, 1000)]) == [
        20,
        20,
    ]


def test_jobs_that_say_nothing_of_phases():
    # io-aware by itself, for there are files, if behind lanes alone: in 8 GB, compute 60 s, out 8 GB
    jobs = job_table(
        {"id": [1], "submit": [0.0], "walltime": [99.0], "run_time": [60.0], "nodes": [5], "burst_buffer": [8 * GB]}
    )
    result = fb.simulate(fb.Workload("plain", jobs), "trinity", "fcfs")
    assert (result.facts["job_model"], result.jobs["finish_time"][0]) == ("io-aware", 62)
