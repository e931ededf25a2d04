"""Jobs that move data, solved by hand: stage-ins that share, checkpoints on their way, drains, kills."""

import polars as pl
import pytest

import forebay as fb
from forebay.core.schemas import LEG_SCHEMA, PHASE_SCHEMA
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, pfs, shared_bb
from forebay.platforms.topologies import dragonfly, flat
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

GB = 10**9
KILLED = "COMPLETED_WALLTIME_REACHED"


def workload(*jobs, phases=()):
    """Jobs as (nodes, bytes of buffer a node, seconds, walltime); phases as (job, kind, seconds, communication, bytes).

    Jobs are numbered 1, 2, ... and all submitted at 0.
    """
    table = job_table(
        {
            "id": range(1, len(jobs) + 1),
            "submit": [0.0] * len(jobs),
            "walltime": [float(job[3]) for job in jobs],
            "run_time": [float(job[2]) for job in jobs],
            "nodes": [job[0] for job in jobs],
            "burst_buffer": [job[0] * int(job[1]) for job in jobs],
        }
    )
    rows = [(job, 0, kind, float(s), 0.0, float(c), float(b), None) for job, kind, s, c, b in phases]
    return fb.Workload("by hand", table, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row") if rows else None)


def run(jobs, machine="dragonfly-96", policy="fcfs", **more):
    return fb.simulate(jobs, machine, policy, job_model="io-aware", **more)


def phase(result, job, kind, which=0):
    """Seconds that the `which`-th phase of a kind took a job."""
    rows = result.log.filter((pl.col("job") == job) & (pl.col("reason") == kind))
    begun = rows.filter(pl.col("kind") == "begin_phase")["time"]
    ended = rows.filter(pl.col("kind") == "end_phase")["time"]
    return ended[which] - begun[which]


def near(seconds):
    return pytest.approx(seconds, rel=1e-12)


def test_four_nodes_stage_in():
    # 4 x 3.8187 GB over the one link of 5 GB/s: 15.2748 / 5 = 3.05496 s; the authors' own run shows 3.055
    result = run(workload((4, 3818700000, 60, 600)))
    assert result.jobs["stage_in_time"].to_list() == [near(3.05496)]
    assert result.jobs["compute_start"].to_list() == [near(3.05496)]
    # in, 60 s, out: 2 x 3.05496 + 60
    assert result.jobs["finish_time"].to_list() == [near(66.10992)]
    assert result.jobs["io_time"].to_list() == [pytest.approx(6.10992, rel=1e-9)]


def test_two_at_once_take_twice_as_long():
    result = run(workload((4, 3818700000, 60, 600), (4, 3818700000, 60, 600)))
    assert result.jobs["stage_in_time"].to_list() == [near(6.10992)] * 2


def test_four_and_twelve_nodes_share_one_to_three():
    # 10 GB each in 4 and in 12 streams: 1.25 and 3.75 GB/s. The second ends at 8/3 s; the first has 20/3 GB left,
    # now at 5 GB/s: 8/3 + 4/3 = 4 s. (12 x 833,333,333 B is 4 B short of 10 GB: 1e-9 of its time.)
    result = run(workload((4, 2500000000, 60, 600), (12, 833333333, 60, 600)))
    assert result.jobs["stage_in_time"].to_list() == [pytest.approx(4, rel=1e-9), pytest.approx(8 / 3, rel=1e-9)]


def test_through_the_port_of_one_server():
    # nodes 0 to 3 stand in chassis 0, so all four chunks lie on its server: 15.2748 GB through 1.25 GB/s
    result = run(workload((4, 3818700000, 60, 600)), "dragonfly-96-nic")
    assert result.jobs["stage_in_time"].to_list() == [near(12.21984)]


def test_checkpoint_inside_a_chassis():
    # two hours are two compute phases; between them half of 8 x 5 GB goes to the chassis' server: 20 / 1.25 = 16 s
    result = run(workload((8, 5 * GB, 7200, 9000)))
    assert phase(result, 1, "checkpoint") == pytest.approx(16, rel=1e-9)


def test_checkpoint_across_chassis():
    # job 1 fills server 0, so both nodes of job 2 write to server 1, of the next chassis: 2 x 5 GB through its port.
    # They start together, and job 1's stage-in of 40 GB shares with job 2's 20 GB in 1 and 2 streams; both compute
    # 3,600 s from the end of their own stage-in, so their checkpoints do not meet.
    result = run(workload((1, 40 * GB, 7200, 9000), (2, 10 * GB, 7200, 9000)))
    assert phase(result, 1, "checkpoint") == pytest.approx(16, rel=1e-9)
    assert phase(result, 2, "checkpoint") == pytest.approx(8, rel=1e-9)


def test_checkpoints_across_groups_share_the_link_between_them():
    # Six jobs of one node and 40 GB fill servers 0 to 5. All stage in together (240 GB: 48 s) and checkpoint 20 GB
    # together. Nodes 0 and 1, at router 0 like the servers, reach servers 0 and 1 alone: 16 s. Nodes 2 and 3, at router
    # 1, share the green link to router 0: 32 s. Nodes 4 and 5 share the one link to group 1, of servers 4 and 5: 32 s.
    result = run(workload(*[(1, 40 * GB, 7200, 9000)] * 6))
    assert result.jobs["stage_in_time"].to_list() == [near(48)] * 6
    took = [phase(result, job, "checkpoint") for job in range(1, 7)]
    assert took == [pytest.approx(seconds, rel=1e-9) for seconds in (16, 16, 32, 32, 32, 32)]


def test_fetch_is_a_checkpoint_the_other_way():
    # Six jobs of one node fill servers 0 to 5, as above; they fetch 20 GB together, then checkpoint 20 GB. Nodes 0 and
    # 1 fetch alone: 16 s. So do nodes 2 and 3, at router 1: servers 2 and 3 stand in chassis 2 and 3, and each way back
    # begins with the green link of its own chassis. Nodes 4 and 5 share the one link from group 1: 32 s. Checkpoints
    # take as long as above, for the other way has links of its own.
    phases = [(job, kind, 0, 0, 20 * GB) for job in range(1, 7) for kind in ("fetch", "checkpoint")]
    result = run(workload(*[(1, 40 * GB, 0, 9000)] * 6, phases=phases))
    for kind, expected in (("fetch", (16, 16, 16, 16, 32, 32)), ("checkpoint", (16, 16, 32, 32, 32, 32))):
        took = [phase(result, job, kind) for job in range(1, 7)]
        assert took == [pytest.approx(seconds, rel=1e-9) for seconds in expected]
    crossed = dict(result.links.select("link", "bytes").rows())
    assert crossed["green g0c2 r0>r1"] == crossed["green g0c3 r0>r1"] == pytest.approx(20 * GB)
    assert crossed["blue g1>g0"] == crossed["blue g0>g1"] == pytest.approx(40 * GB)
    assert crossed["server4 out"] == crossed["server4 in"] == pytest.approx(20 * GB)
    assert result.jobs["io_time"].to_list() == [pytest.approx(s, rel=1e-9) for s in (32, 32, 48, 48, 64, 64)]


def test_fetch_from_a_pool_on_a_crossbar():
    # 2 nodes behind ports of 1 GB/s, a buffer of 5 GB/s: 8 GB take 4 s. With a buffer of 1 GB/s each way, 8 s; and a
    # checkpoint of another job meanwhile, in the other direction, its own 4 s.
    files = pfs.Tier(name="pfs", bandwidth=5e9)
    for rate, took in ((5e9, 4), (1e9, 8)):
        buffer = shared_bb.Tier(name="burst_buffer", capacity=100 * GB, bandwidth=rate)
        machine = Platform(name="flat", nodes=4, topology=flat.Topology(bandwidth=1e9), tiers=(buffer, files))
        phases = [(1, "fetch", 0, 0, 8 * GB), (2, "checkpoint", 0, 0, 4 * GB)]
        result = run(workload((2, GB, 0, 100), (1, GB, 0, 100), phases=phases), machine)
        assert result.jobs["finish_time"].to_list() == [near(took), near(4)]


def test_fetch_from_the_nodes_own_devices():
    # 2 devices of 2 GB/s: 8 GB take 2 s, whoever else fetches; no file system is needed
    buffer = node_local.Tier(name="burst_buffer", capacity=10 * GB, bandwidth=2e9)
    machine = Platform(name="local", nodes=4, tiers=(buffer,))
    jobs = workload((2, GB, 0, 100), (1, GB, 0, 100), phases=[(1, "fetch", 0, 0, 8 * GB), (2, "fetch", 0, 0, 8 * GB)])
    assert run(jobs, machine).jobs["finish_time"].to_list() == [2, 4]


def test_fetch_needs_a_buffer():
    jobs = workload((1, 0, 0, 100), phases=[(1, "fetch", 0, 0, GB)])
    with pytest.raises(InputError, match="phases stage data, and the machine has no buffer"):
        run(jobs, "flat:nodes=1,pfs=5GB/s")


def test_a_compute_phase_and_a_transfer_on_one_link():
    # Two groups of two routers. Nodes 0 and 1 stand at routers 0 and 1 of group 0 and send 7.2 TB to each other in
    # 7,200 s: 1 GB/s on the link r1>r0. After 100 s node 2, at router 1, checkpoints 12.5 GB to the server at router 0,
    # over the same link of 1.25 GB/s: 625 MB/s each, 20 s. Job 1 has then done 100 + 12.5 GB of 7,200 and needs
    # 7,087.5 s more: 7,207.5 s in all.
    network = dragonfly.Topology(groups=2, chassis=1, routers=2, ports=2, storage=1, bandwidth=1.25e9)
    buffer = shared_bb.Tier(name="burst_buffer", capacity=100 * GB, placement="chunked", servers=2)
    machine = Platform(name="small", nodes=6, topology=network, tiers=(buffer, pfs.Tier(name="pfs", bandwidth=5e9)))
    phases = [(1, "compute", 7200, 7.2e12, 0), (2, "compute", 100, 0, 0), (2, "checkpoint", 0, 0, 12.5e9)]
    result = run(workload((2, 0, 7200, 9000), (1, 25 * GB, 100, 9000), phases=phases), machine)
    assert phase(result, 2, "checkpoint") == pytest.approx(20, rel=1e-9)
    assert result.jobs["finish_time"].to_list() == [near(7207.5), near(120)]


def test_a_drain_runs_beside_the_next_compute_phase():
    # in 40 / 5 = 8 s, compute 3,600, checkpoint 20 / 1.25 = 16, compute 3,600 with the drain of 4 s beside, out 8
    result = run(workload((1, 40 * GB, 7200, 9000)))
    assert result.jobs["finish_time"].to_list() == [near(8 + 3600 + 16 + 3600 + 8)]
    assert phase(result, 1, "drain") == pytest.approx(4, rel=1e-9)


SLOW = "flat:nodes=1,burst_buffer=40GB,pfs=5MB/s"


def test_a_drain_that_meets_the_stage_out():
    # in 40 GB at 5 MB/s: 8,000 s; compute to 11,600; the checkpoint crosses nothing; compute to 15,200, beside it the
    # drain moves 18 of 20 GB. Stage-out and drain then get 2.5 MB/s each: the drain ends after 800 s, at 16,000; the
    # stage-out has 38 GB left at 5 MB/s: 7,600 s. Ends at 23,600.
    result = run(workload((1, 40 * GB, 7200, 30000)), SLOW)
    assert result.jobs["finish_time"].to_list() == [near(23600)]
    assert phase(result, 1, "drain") == near(4400)


def test_a_kill_in_the_middle_of_a_transfer_frees_its_share_at_once():
    # two of 10 GB at 2.5 GB/s each; job 2 is killed at 1 s: job 1 has 7.5 GB left at 5 GB/s, 2.5 s in all
    result = run(workload((4, 2500000000, 60, 600), (4, 2500000000, 60, 1)))
    assert result.jobs["stage_in_time"].to_list() == [near(2.5), near(1)]
    assert result.jobs["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY", KILLED]
    assert result.jobs["finish_time"][1] == 1
    moved = result.log.filter((pl.col("kind") == "end_phase") & (pl.col("reason") == "stage_in"))
    assert dict(moved.select("job", "amount").rows()) == {1: 10 * GB, 2: 2500000000}


def test_drains_run_on_after_a_kill_and_hold_what_the_job_has():
    # as above, but killed at 12,000 s in its second compute phase: 400 s of draining are done, 2 of 20 GB; the drain
    # ends at 11,600 + 4,000 = 15,600, and only then can job 2 have the node
    result = run(workload((1, 40 * GB, 7200, 12000), (1, 0, 10, 100)), SLOW)
    assert result.jobs["final_state"].to_list() == [KILLED, "COMPLETED_SUCCESSFULLY"]
    assert result.jobs["finish_time"].to_list() == [near(15600), near(15610)]


def test_only_drains_are_left_at_the_walltime():
    # no stage-out: the phases end at 20 s, the drain of 1 GB at 5 MB/s at 210 s; the walltime of 100 s kills nobody
    phases = [(1, "compute", 10, 0, 0), (1, "drain", 0, 0, GB), (1, "compute", 10, 0, 0)]
    result = run(workload((1, 40 * GB, 20, 100), phases=phases), SLOW)
    assert result.jobs["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY"]
    assert result.jobs["finish_time"].to_list() == [near(210)]


def test_ten_phases_at_most():
    # 100 hours are 10 compute phases of 10 hours, not 100
    result = run(workload((1, GB, 360000, 400000)))
    begun = result.log.filter((pl.col("kind") == "begin_phase") & (pl.col("reason") == "compute"))
    assert len(begun) == 10


def test_without_data_on_such_a_machine():
    jobs = workload((4, 0, 60, 600))
    bare = fb.Workload("bare", jobs.jobs.drop("burst_buffer"))
    result = fb.simulate(bare, "dragonfly-96", "fcfs")
    assert result.facts["job_model"] == "alloc-only"
    assert [note.split(";")[0] for note in result.facts["notes"]] == [
        "the workload says nothing of burst_buffer: every job asks for 0 of it"
    ]
    assert result.jobs["execution_time"].to_list() == [60]


def test_the_model_is_io_aware_where_there_is_data_to_move():
    jobs = workload((4, GB, 60, 600))
    assert fb.simulate(jobs, "dragonfly-96").facts["job_model"] == "io-aware"
    assert fb.simulate(jobs, "flat:nodes=4,burst_buffer=10GB").facts["job_model"] == "alloc-only"  # no file system


def test_communication_over_ports_alone():
    # 4 nodes send 10 GB to each of 3 others through ports of 1 GB/s: 30 s, more than the 20 s that they compute
    jobs = workload((4, 0, 20, 600))
    jobs = fb.Workload("talk", jobs.jobs.with_columns(communication=pl.lit(1e10)))
    assert fb.simulate(jobs, "flat:nodes=4,port=1GB/s", "fcfs").jobs["execution_time"].to_list() == [near(30)]
    assert fb.simulate(jobs, "flat:nodes=4,port=2GB/s", "fcfs").jobs["execution_time"].to_list() == [near(20)]


def test_a_request_that_no_server_can_hold_is_rejected_by_name():
    result = run(workload((1, 41 * GB, 60, 600), (1, GB, 60, 600), (2, 42 * GB, 60, 600)))
    assert result.jobs["final_state"].to_list() == ["REJECTED", "COMPLETED_SUCCESSFULLY", "REJECTED"]
    (note,) = result.facts["notes"]
    assert "job 1 is rejected: it asks for 41 GB a node" in note
    assert "no server of burst_buffer holds more than 40 GB" in note
    assert "2 such jobs" in note


def test_chunks_that_fit_apart_but_not_together():
    # 12 servers hold one chunk of 21 GB each: 13 nodes can never start, though 273 GB are fewer than 480
    result = run(workload((13, 21 * GB, 60, 600), (12, 21 * GB, 60, 600)))
    assert result.jobs["final_state"].to_list() == ["REJECTED", "COMPLETED_SUCCESSFULLY"]


def test_an_automatic_buffer():
    # requests of 1 and 3 GB a node: mean 2 GB x 96 nodes, over 12 servers: 16 GB each
    result = run(workload((4, GB, 60, 600), (1, 3 * GB, 60, 600)), "dragonfly-96:burst_buffer=auto")
    assert result.resources["burst_buffer"] == 192 * GB


@pytest.mark.parametrize("machine", ["flat:nodes=96,pfs=5GB/s,burst_buffer=auto", "dragonfly-96:burst_buffer=auto"])
def test_an_automatic_buffer_rejects_nobody(machine):
    # Requests of 1, 1, 1, 21 and 30 GB a node: 10.8 GB x 96 nodes are less than the 21 GB of 90 nodes, 8 of which share
    # a server. The last job has more nodes than there are: no buffer would help it.
    jobs = [(1, GB, 60, 600)] * 3 + [(90, 21 * GB, 60, 6000), (97, 30 * GB, 60, 600)]
    result = run(workload(*jobs), machine)
    assert result.jobs["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY"] * 4 + ["REJECTED"]
    assert result.resources["burst_buffer"] == {"flat": 90 * 21 * GB, "drag": 12 * 8 * 21 * GB}[machine[:4]]
    size = {"flat": "1.89 TB", "drag": "2.016 TB"}[machine[:4]]
    assert result.facts["notes"][0] == (
        f"burst_buffer is auto: {size}, what job 4 needs; jobs of the mean request on all nodes would fill 1.037 TB"
    )


def test_an_automatic_buffer_has_room_for_every_leg():
    # The job table says 1 GB a node, 4 GB for 4 nodes; a leg of job 1 asks for 20 GB.
    legs = pl.DataFrame([(1, 0, 60.0, 1, "", 20 * GB)], schema={**LEG_SCHEMA, "burst_buffer": pl.Int64}, orient="row")
    phases = pl.DataFrame([(1, 0, "compute", 1.0, 0.0, 0.0, 0.0, None)], PHASE_SCHEMA, orient="row")
    jobs = fb.Workload("legs", workload((1, GB, 1, 60), (1, GB, 1, 60)).jobs, legs, phases)
    result = run(jobs, "flat:nodes=4,pfs=5GB/s,burst_buffer=auto")
    assert result.resources["burst_buffer"] == 20 * GB
    assert result.jobs["success"].to_list() == [1, 1]


def test_chunks_before_all_nodes():
    # Leg 0 has 1 node and takes the buffer of a job of 2: a chunk on each of 2 servers. Leg 1 has both nodes and that
    # buffer: node 0's checkpoint goes to server 0, node 1's to server 1, each 5 GB through its own 1 GB/s.
    legs = pl.DataFrame(
        [(1, 0, 900.0, 1, "", 20 * GB), (1, 1, 900.0, 2, "nodes burst_buffer", 20 * GB)],
        schema={**LEG_SCHEMA, "burst_buffer": pl.Int64},
        orient="row",
    )
    rows = [(1, 0, "stage_in", 0.0, 0.0, 0.0, 20e9, None), (1, 1, "checkpoint", 0.0, 0.0, 0.0, 10e9, None)]
    jobs = workload((2, 10 * GB, 10, 900)).jobs
    buffer = shared_bb.Tier(name="burst_buffer", capacity=20 * GB, placement="chunked", servers=2, bandwidth=2e9)
    machine = Platform(name="two", nodes=2, tiers=(buffer, pfs.Tier(name="pfs", bandwidth=5e9, through_ports=False)))
    result = run(fb.Workload("early", jobs, legs, pl.DataFrame(rows, PHASE_SCHEMA, orient="row")), machine)
    assert (phase(result, 1, "stage_in"), phase(result, 1, "checkpoint")) == (near(4), near(5))


def test_buffers_that_outlive_their_nodes():
    # One node and one server. Each of five jobs computes for 1 s, gives the node back and stages 1 GB out: job k starts
    # at k - 1. At 250 MB/s nobody is through when the last joins, at 5 s, so five have chunks on the one server while
    # none has a node. 5 GB cross without a pause from 1 s on: the last ends at 21 s.
    jobs = workload(*[(1, GB, 1, 100)] * 5)
    rows = []
    for job in range(1, 6):
        rows.append((job, 0, "compute", 1.0, 0.0, 0.0, 0.0, "nodes"))
        rows.append((job, 0, "stage_out", 0.0, 0.0, 0.0, 1e9, None))
    buffer = shared_bb.Tier(name="burst_buffer", capacity=5 * GB, placement="chunked", servers=1)
    machine = Platform(name="one", nodes=1, tiers=(buffer, pfs.Tier(name="pfs", bandwidth=2.5e8)))
    result = run(fb.Workload("late", jobs.jobs, phases=pl.DataFrame(rows, PHASE_SCHEMA, orient="row")), machine)
    assert result.jobs["starting_time"].to_list() == [0, 1, 2, 3, 4]
    assert result.jobs["finish_time"].min() > 5
    assert result.jobs["finish_time"].max() == near(21)
