"""The slow twin of a run, by hand: it must be right before anything is held against it."""

import pytest

from cases import transfers
from forebay import platforms
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, pfs, shared_bb
from forebay.platforms.topologies import dragonfly, flat
from twins.backfill import PRESETS, simulate
from twins.jobs import COMPLETED, REJECTED, TOO_LONG, aware

pytestmark = pytest.mark.small

GB = 10**9
PAPER, NIC = platforms.load("dragonfly-96"), platforms.load("dragonfly-96-nic")
EACH = 3_818_700_000


def job(number, nodes, buffer=0, walltime=1e6, submit=0.0, **values):
    """A row of the job table; its run time is its walltime unless told."""
    return {"id": number, "submit": submit, "nodes": nodes, "burst_buffer": buffer, "walltime": walltime, **values}


def phase(number, kind, amount=0.0, leg=0, **values):
    """A phase of a job that moves `amount` bytes."""
    return {"job": number, "leg": leg, "kind": kind, "bytes": float(amount), **values}


def outcome(platform, jobs, phases=(), preset="fcfs", model="io-aware", legs=(), **params):
    """The run, and by job its finish."""
    neutral = {"run_time": 0.0, "flop": 0.0, "communication": 0.0}
    rows = [{**neutral, "run_time": row["walltime"], **row} for row in jobs]
    run = simulate(transfers.workload(rows, legs, phases), platform, PRESETS[preset] | params, model)
    return run, {job.id: job.finish for job in run.jobs}


def crossbar(nodes=4, capacity=20, servers=2, placement="chunked", rate=None, port=None, **files):
    """A flat machine with a burst buffer on servers."""
    bb = shared_bb.Tier(name="burst_buffer", capacity=capacity, placement=placement, servers=servers, bandwidth=rate)
    tiers = (bb, pfs.Tier(name="pfs", **({"bandwidth": 5.0 * GB} | files)))
    return Platform(name="hand", nodes=nodes, topology=flat.Topology(bandwidth=port), tiers=tiers)


def small_dragonfly():
    """Router 0: server 0 and node 0. Router 1: nodes 1 and 2. Links and ports of 1.25 GB/s."""
    topology = dragonfly.Topology(groups=1, chassis=1, routers=2, ports=2, storage=1, bandwidth=1.25 * GB)
    bb = shared_bb.Tier(name="burst_buffer", capacity=100 * GB, placement="chunked")
    tiers = (bb, pfs.Tier(name="pfs", bandwidth=5.0 * GB))
    return Platform(name="hand", nodes=3, topology=topology, tiers=tiers)


def close(value):
    return pytest.approx(value, rel=1e-12)


def test_stage_in_alone():
    # 4 x 3.8187 GB over the PFS's 5 GB/s: 15.2748 / 5 = 3.05496 s
    run, ends = outcome(PAPER, [job(1, 4, 4 * EACH)], [phase(1, "stage_in", 4 * EACH)])
    assert ends == {1: close(3.05496)}
    assert run.chunks[1, 0] == [0, 0, 0, 0]
    assert run.pfs_bytes == close(4 * EACH)


def test_two_at_once_take_twice_as_long():
    jobs = [job(1, 4, 4 * EACH), job(2, 4, 4 * EACH)]
    _, ends = outcome(PAPER, jobs, [phase(number, "stage_in", 4 * EACH) for number in (1, 2)])
    assert ends == {1: close(6.10992), 2: close(6.10992)}


def test_shares_go_by_nodes():
    # 10 GB each: 4 and 12 streams get 1.25 and 3.75 GB/s; the second ends at 10 / 3.75 = 8/3 s, the first then has
    # 10 - 10/3 GB left at 5 GB/s: 8/3 + 4/3 = 4 s
    jobs = [job(1, 4, 10 * GB), job(2, 12, 10 * GB)]
    _, ends = outcome(PAPER, jobs, [phase(number, "stage_in", 10 * GB) for number in (1, 2)])
    assert ends == {1: close(4.0), 2: close(8 / 3)}


def test_four_chunks_behind_one_port():
    # nodes 0 to 3 are in chassis 0, whose server 0 has room for all: 15.2748 / 1.25 = 12.21984 s
    _, ends = outcome(NIC, [job(1, 4, 4 * EACH)], [phase(1, "stage_in", 4 * EACH)])
    assert ends == {1: close(12.21984)}


def test_computing_beside_a_checkpoint():
    # Job 1 on nodes 0 and 1 (routers 0 and 1) computes 2 s and sends 2 GB each way: 1 GB/s. Job 2 on node 2 writes
    # 1.25 GB to server 0: both cross green 1>0 of 1.25 GB/s, 625 MB/s each. The checkpoint ends at 2 s; the computing
    # has 0.75 GB left at 1 GB/s: 2.75 s.
    phases = [phase(1, "compute", seconds=2.0, communication=2.0 * GB), phase(2, "checkpoint", 1.25 * GB)]
    _, ends = outcome(small_dragonfly(), [job(1, 2), job(2, 1, 2 * GB)], phases)
    assert ends == {1: close(2.75), 2: close(2.0)}


def test_a_drain_does_not_block():
    # PFS of 5 GB/s through server 0's port of 1.25 GB/s. Drain of 10 GB: 8 s. It runs beside 3 s of computing: the leg
    # ends at 8 s. With 2.5 GB (2 s) it ends with the computing, at 3 s.
    phases = [phase(1, "drain", 10 * GB), phase(1, "compute", seconds=3.0)]
    assert outcome(small_dragonfly(), [job(1, 1, 10 * GB)], phases)[1] == {1: close(8.0)}
    phases[0]["bytes"] = 2.5 * GB
    assert outcome(small_dragonfly(), [job(1, 1, 10 * GB)], phases)[1] == {1: 3.0}


def test_a_kill_frees_its_share():
    # two of 10 GB at 2.5 GB/s each; job 2 is killed at 1 s: job 1 has 7.5 GB left at 5 GB/s, 1 + 1.5 = 2.5 s.
    # Moved: 10 + 2.5 GB.
    jobs = [job(1, 1, 10 * GB), job(2, 1, 10 * GB, walltime=1.0)]
    run, ends = outcome(PAPER, jobs, [phase(number, "stage_in", 10 * GB) for number in (1, 2)])
    assert ends == {1: close(2.5), 2: 1.0}
    assert [job.state for job in run.jobs] == [COMPLETED, TOO_LONG]
    assert run.pfs_bytes == close(12.5 * GB)


def test_drains_run_on_after_the_kill():
    # Drain of 10 GB at 1.25 GB/s: 8 s. Walltime 5 s stops the computing; nodes and buffer are held until 8 s, when job
    # 2, which wants all 3 nodes, starts.
    phases = [phase(1, "drain", 10 * GB), phase(1, "compute", seconds=30.0)]
    run, ends = outcome(small_dragonfly(), [job(1, 1, 10 * GB, walltime=5.0), job(2, 3, walltime=1.0)], phases)
    assert ends == {1: close(8.0), 2: close(9.0)}
    assert run.jobs[0].state == TOO_LONG
    # If only the drain is left at 5 s, nothing is killed.
    phases[1]["seconds"] = 5.0
    run, ends = outcome(small_dragonfly(), [job(1, 1, 10 * GB, walltime=5.0)], phases)
    assert (ends[1], run.jobs[0].state) == (close(8.0), COMPLETED)


def test_past_its_estimate_counts_as_ending_in_a_second():
    # As above, fcfs-bb. At 6 s job 1 still drains: expected at 7, so job 2 (3 nodes) is reserved for 7. Job 3 (1 node)
    # asks for 1 s and fits before; job 4 asks for 1.5 s and does not; at 7 s job 1 is expected at 8: still no.
    phases = [phase(1, "drain", 10 * GB), phase(1, "compute", seconds=30.0)]
    jobs = [job(1, 1, 10 * GB, walltime=5.0), job(2, 3, walltime=1.0, submit=1.0)]
    jobs += [job(3, 1, walltime=1.0, submit=6.0), job(4, 1, walltime=1.5, submit=6.0)]
    run, _ = outcome(small_dragonfly(), jobs, phases, "fcfs-bb")
    assert [job.start for job in run.jobs] == [0.0, close(8.0), 6.0, close(9.0)]


def test_ends_at_the_walltime():
    # 5 GB at 5 GB/s take the whole walltime of 1 s: completed. With a second phase behind it: killed at 1 s.
    staged = [phase(1, "stage_in", 5 * GB)]
    run, ends = outcome(PAPER, [job(1, 1, 5 * GB, walltime=1.0)], staged)
    assert (ends[1], run.jobs[0].state) == (close(1.0), COMPLETED)
    run, ends = outcome(PAPER, [job(1, 1, 5 * GB, walltime=1.0)], [*staged, phase(1, "compute", seconds=1.0)])
    assert (ends[1], run.jobs[0].state) == (1.0, TOO_LONG)


def test_io_aware_life():
    # T = 2 h: 2 phases of 1 h. D = 100 GB in four chunks of 25 GB, one a server (40 GB each). Staging: four ports of
    # 1.25 GB/s, the whole PFS: 20 s. Checkpoint of 12.5 GB a node: node 0 is at its server's router and node 1 goes to
    # server 1 over a black link, 10 s; nodes 2 and 3 share green 1>0 of their chassis, 20 s. The drain of 50 GB takes
    # 10 s or a little more beside the second hour. In all 7200 + 20 + 20 + 20.
    run, ends = outcome(NIC, [job(1, 4, 100 * GB, walltime=1e5, run_time=3600.0, flop=3600.0 * GB)])
    assert run.chunks[1, 0] == [0, 1, 2, 3]
    assert ends == {1: close(7260.0)}
    assert run.pfs_bytes == close(250 * GB)


@pytest.mark.parametrize(("T", "k"), [(1.0, 1), (5400.0, 2), (9000.0, 2), (1e6, 10)])
def test_number_of_checkpoints(T, k):
    kinds = [phase.kind for phase in aware({"communication": 0.0}, T, 8)]
    assert kinds.count("compute") == k
    assert kinds == ["stage_in", "compute", *["checkpoint", "drain", "compute"] * (k - 1), "stage_out"]
    assert [phase.kind for phase in aware({"communication": 0.0}, T, 0)] == ["compute"] * k


def test_alloc_only_computes_and_talks():
    # flat, ports of 1 GB/s: 3 nodes send 2 x 5 GB each, 10 s; computing takes 4 s, hence 10 s. With 12 s: 12 s.
    machine = crossbar(port=1.0 * GB, capacity=20 * GB)
    for seconds, end in ((4.0, 10.0), (12.0, 12.0)):
        jobs = [job(1, 3, 6 * GB, run_time=seconds, communication=5.0 * GB)]
        assert outcome(machine, jobs, model="alloc-only")[1] == {1: close(end)}


def test_pooled_is_striped():
    # 2 servers of 1 GB/s: a stream of 10 GB puts half on each: 2 GB/s in all, 5 s; PFS of 5 GB/s does not limit. From a
    # node with a port of 1.5 GB/s: 20/3 s. Past the ports: 10 / 5 = 2 s.
    machine = crossbar(placement="pooled", capacity=50 * GB, rate=2.0 * GB, port=1.5 * GB)
    assert outcome(machine, [job(1, 1, 10 * GB)], [phase(1, "stage_in", 10 * GB)])[1] == {1: close(5.0)}
    assert outcome(machine, [job(1, 1, 10 * GB)], [phase(1, "checkpoint", 10 * GB)])[1] == {1: close(20 / 3)}
    machine = crossbar(placement="pooled", capacity=50 * GB, rate=2.0 * GB, port=1.5 * GB, through_ports=False)
    assert outcome(machine, [job(1, 1, 10 * GB)], [phase(1, "stage_in", 10 * GB)])[1] == {1: close(2.0)}


def test_read_and_write():
    # Each way its own link: read 6 GB at 3 GB/s = 2 s, write 6 GB at 1 GB/s = 6 s. Two nodes behind ports of 1 GB/s:
    # read 3 s.
    phases = [phase(1, "read", 6 * GB), phase(1, "write", 6 * GB)]
    files = {"bandwidth": None, "read": 3.0 * GB, "write": 1.0 * GB}
    assert outcome(crossbar(**files), [job(1, 2)], phases)[1] == {1: close(8.0)}
    assert outcome(crossbar(port=1.0 * GB, **files), [job(1, 2)], phases)[1] == {1: close(9.0)}


def test_node_local():
    # 2 nodes with devices of 2 GB/s behind a PFS of 5 GB/s: 8 GB in take 8 / 4 = 2 s; a checkpoint of 8 GB the same.
    tiers = (
        node_local.Tier(name="burst_buffer", capacity=5 * GB, bandwidth=2.0 * GB),
        pfs.Tier(name="pfs", bandwidth=5.0 * GB),
    )
    machine = Platform(name="hand", nodes=4, tiers=tiers)
    phases = [phase(1, "stage_in", 8 * GB), phase(1, "checkpoint", 8 * GB), phase(2, "compute", seconds=1.0)]
    run, ends = outcome(machine, [job(1, 2, 10 * GB), job(2, 2, 10 * GB + 1)], phases)
    assert ends[1] == close(4.0)
    assert run.jobs[1].state == REJECTED


def test_fetch():
    # From server 0, at router 0: node 0 has its port of 1.25 GB/s, nodes 1 and 2, at router 1, share green 0>1 as well;
    # all three share the server's port out: 10 GB in all take 8 s. Alone on a node's device of 2 GB/s, 10 GB take 5 s.
    phases = [phase(1, "fetch", 10 * GB), phase(2, "compute", seconds=1.0)]
    assert outcome(small_dragonfly(), [job(1, 3, 30 * GB), job(2, 1)], phases)[1][1] == close(8.0)
    local = node_local.Tier(name="burst_buffer", capacity=5 * GB, bandwidth=2.0 * GB)
    assert outcome(Platform(name="hand", nodes=4, tiers=(local,)), [job(1, 1)], phases[:1])[1] == {1: close(5.0)}


def test_lanes():
    # 8 GB/s for each job. Without more, 16 GB take 2 s on 1 node and on 3. With 10 GB/s for both: 5 each.
    phases = [phase(number, "stage_in", 16 * GB) for number in (1, 2)]
    lanes = {"bandwidth": None, "per_job": 8.0 * GB}
    machine = crossbar(placement="pooled", capacity=50 * GB, **lanes)
    assert outcome(machine, [job(1, 1, GB), job(2, 3, GB)], phases)[1] == {1: 2.0, 2: 2.0}
    machine = crossbar(placement="pooled", capacity=50 * GB, **lanes | {"bandwidth": 10.0 * GB})
    assert outcome(machine, [job(1, 1, GB), job(2, 3, GB)], phases)[1] == {1: close(3.2), 2: close(3.2)}


def test_parts():
    # Job 1 gives back 4 of its 9 at 2 s, and the rest at 5 s; job 2 (5 of 10) starts at 2 s, job 3 (5) at 5 s.
    parts = [("compute", 2.0, "burst_buffer=4"), ("compute", 3.0, "burst_buffer"), ("compute", 9.0, None)]
    phases = [phase(1, kind, seconds=seconds, release=release) for kind, seconds, release in parts]
    jobs = [job(1, 1, 9), job(2, 1, 5, run_time=20.0), job(3, 1, 5, run_time=20.0)]
    run, _ = outcome(crossbar(placement="pooled", capacity=10), jobs, phases, model="alloc-only")
    assert [job.start for job in run.jobs] == [0.0, 2.0, 5.0]


def test_chunks_that_fit_nowhere():
    # 2 servers of 10: one chunk of 11 is too large; three of 6 are too many; two of 6 fit; four of ceil(17/4) = 5 too.
    rows = [(1, 1, 11), (2, 3, 18), (3, 2, 12), (4, 4, 17)]
    run, _ = outcome(crossbar(), [job(*row, walltime=1.0) for row in rows], model="alloc-only")
    assert [job.state for job in run.jobs] == [REJECTED, REJECTED, COMPLETED, COMPLETED]
    assert (run.chunks[3, 0], run.chunks[4, 0]) == ([0, 1], [0, 0, 1, 1])


def test_stage_in_run_stage_out():
    # Job 1 holds chunks from 0 on: stage-in of 10 GB (2 s), waits for job 2's nodes until 4, runs 3 s, stages out 2 s.
    # Streams of the legs without nodes: 2, as many as the run has nodes.
    legs = [(0, 0, ""), (1, 2, "burst_buffer"), (2, 0, "burst_buffer")]
    legs = [
        {"job": 1, "leg": leg, "nodes": nodes, "walltime": 9.0, "carry": carry, "burst_buffer": 10 * GB}
        for leg, nodes, carry in legs
    ]
    phases = [phase(1, "stage_in", 10 * GB), phase(1, "compute", leg=1, seconds=3.0), phase(1, "stage_out", 10 * GB, 2)]
    machine = crossbar(capacity=20 * GB)
    run, ends = outcome(machine, [job(1, 2, 10 * GB), job(2, 4, walltime=4.0)], phases, legs=legs)
    assert ends == {1: close(9.0), 2: 4.0}
    assert [run.chunks[1, leg] for leg in range(3)] == [[0, 0]] * 3
    assert [(time, number, leg) for time, number, leg, _ in run.starts] == [
        (0.0, 1, 0),
        (0.0, 2, 0),
        (4.0, 1, 1),
        (7.0, 1, 2),
    ]


def nodes_by_job(run):
    """The nodes that each job's last leg got, by job."""
    return [ids for *_, ids in sorted(run.starts, key=lambda start: start[1])]


def test_pinned_nodes():
    # Job 1 has node 0 until 1, job 2 nodes 1 and 2 until 10. At 2, nodes 0 and 3 are free; job 3 (3 nodes) is reserved
    # for 10, pinned to 0, 1, 2, as 0 and 3 alone, idle before, are too few. Job 4 (1 node, 20 s): counted, one of 4
    # nodes is left at 10, and it takes the lowest free, 0; pinned, node 3. Job 5 (1 node, 8 s) ends as job 3 begins;
    # not all of job 3's nodes were idle before, so none is closed to job 5: it has the other node.
    jobs = [job(1, 1, walltime=1.0), job(2, 2, walltime=10.0), job(3, 3, walltime=5.0, submit=2.0)]
    jobs += [job(4, 1, walltime=20.0, submit=2.0), job(5, 1, walltime=8.0, submit=2.0)]
    for reservations, nodes in (("counted", [{1, 2, 3}, {0}, {3}]), ("pinned", [{0, 1, 2}, {3}, {0}])):
        for preset in ("fcfs-easy", "fcfs-bb"):
            run, _ = outcome(crossbar(), jobs, preset=preset, model="alloc-only", reservations=reservations)
            assert [(job.start, job.finish) for job in run.jobs[2:]] == [(10.0, 15.0), (2.0, 22.0), (2.0, 10.0)]
            assert nodes_by_job(run)[2:] == nodes


def test_pinned_nodes_were_idle_before():
    # 4 nodes, 2 servers of 10. Job 1 has nodes 0 and 1 and both servers until 10. Job 2 (1 node, a chunk of 5, 5 s)
    # waits for the buffer: reserved for 10. All four nodes are free then, 2 and 3 already before: pinned to 2, not to
    # 0. So job 3 (2 nodes, 20 s) finds node 3 alone. So does job 4 (2 nodes, 10 s): it would end at the very moment at
    # which node 2 is wanted. Job 5 (2 nodes, 9 s) starts on 2 and 3. At 9 the same holds for jobs 3 and 4. At 10 all is
    # free: job 2 gets node 0, job 3 nodes 1 and 2, and at 15, when job 2 has gone, job 4 nodes 0 and 3.
    # Counted, one node of four is kept at 10: job 3 starts at once on 2 and 3, job 2 at 10 on 0, job 4 when that has
    # gone, at 15, on 0 and 1, job 5 after job 3, at 20.
    jobs = [job(1, 2, 20, walltime=10.0), job(2, 1, 5, walltime=5.0)]
    jobs += [job(number, 2, walltime=walltime) for number, walltime in ((3, 20.0), (4, 10.0), (5, 9.0))]
    for reservations, starts, nodes in (
        ("pinned", [0.0, 10.0, 10.0, 15.0, 0.0], [{0, 1}, {0}, {1, 2}, {0, 3}, {2, 3}]),
        ("counted", [0.0, 10.0, 0.0, 15.0, 20.0], [{0, 1}, {0}, {2, 3}, {0, 1}, {2, 3}]),
    ):
        run, _ = outcome(crossbar(), jobs, preset="fcfs-bb", model="alloc-only", reservations=reservations)
        assert [job.start for job in run.jobs] == starts
        assert nodes_by_job(run) == nodes


def test_only_nodes_are_closed():
    # 3 nodes, 1 server of 10. Job 1 has node 0 and 6 bytes until 10, job 2 (1 node, 5
    # bytes) is reserved for 10 on node 1, idle before. Job 3 (1 node, 4 bytes) lasts until 10 too: node 1 is closed to
    # it, node 2 is not, nor are the bytes, of which job 2 takes 5 of 10 from 10 on.
    jobs = [job(1, 1, 6, walltime=10.0), job(2, 1, 5, walltime=5.0), job(3, 1, 4, walltime=10.0)]
    machine = crossbar(nodes=3, capacity=10, servers=1)
    run, _ = outcome(machine, jobs, preset="fcfs-bb", model="alloc-only", reservations="pinned")
    assert [job.start for job in run.jobs] == [0.0, 10.0, 0.0]
    assert nodes_by_job(run) == [{0}, {0}, {2}]


def test_pinned_nodes_were_idle_beside_reservations():
    # One server of 10, which jobs 1 to 4 need whole, one after the other; depth 3. Job 1 has nodes 0 and 1 until 10.
    # Pinned: job 2 (1 node) to node 2 over [10, 15), as 2 and 3 are idle before; job 3 (2 nodes) to 0 and 1 over
    # [15, 20), as 0, 1 and 3 are; job 4 (2 nodes) to 2 and 3 over [20, 25), as job 3 has the others just before. So job
    # 5 (1 node, 20 s) finds no node: node 3 is wanted when it ends. Job 6 (19 s) has node 3. At 10 job 2 starts on node
    # 0; pinned are 1 and 2 from 15 and 0 and 3 from 20, so job 5 waits. At 15 job 3 starts on 0 and 1; 2 and 3 are
    # pinned from 20. At 19 job 6 ends, and at 20 job 4 starts on 0 and 1, job 5 on 2.
    # Counted, jobs 5 and 6 both start at once: of the other two nodes the reserved jobs need two at most.
    jobs = [job(1, 2, 10, walltime=10.0), job(2, 1, 10, walltime=5.0), job(3, 2, 10, walltime=5.0)]
    jobs += [job(4, 2, 10, walltime=5.0), job(5, 1, walltime=20.0), job(6, 1, walltime=19.0)]
    machine = crossbar(capacity=10, servers=1)
    for reservations, start in (("pinned", 20.0), ("counted", 0.0)):
        run, _ = outcome(machine, jobs, preset="fcfs-bb", model="alloc-only", depth=3, reservations=reservations)
        assert [job.start for job in run.jobs] == [0.0, 10.0, 15.0, 20.0, start, 0.0]
        assert nodes_by_job(run) == [{0, 1}, {0}, {0, 1}, {0, 1}, {2}, {3}]


def test_chunks_far_away_by_name():
    # Slots of servers: 0 and 4 in group 0, 8 and 12 in group 1; 3 nodes a chassis; a server holds one chunk of 10. Of
    # nodes 0 to 3 (chassis 0, 0, 0, 1) node 0 takes server 0, node 1 server 1 of its group, node 2 a far one: by number
    # server 2; by name server 3 ("12" < "8"). Node 3 gets what is left.
    shape = {"groups": 2, "chassis": 2, "routers": 2, "ports": 2, "storage": 1, "bandwidth": 1.25 * GB}
    bb = shared_bb.Tier(name="burst_buffer", capacity=40, placement="chunked")
    for far_order, servers in (("number", [0, 1, 2, 3]), ("name", [0, 1, 3, 2])):
        topology = dragonfly.Topology(**shape, far_order=far_order)
        machine = Platform(name="hand", nodes=12, topology=topology, tiers=(bb,))
        run, _ = outcome(machine, [job(1, 4, 40, walltime=1.0)], model="alloc-only")
        assert run.chunks[1, 0] == servers


def test_pinned_servers():
    # 4 nodes, 2 servers of 10. Job 1 has 3 nodes until 10. Job 2 (2 nodes, two chunks of 5) is reserved for 10, both
    # chunks on server 0 either way. Job 3 (1 node, a chunk of 6, 20 s): server 0, the nearest, has nothing left
    # from 10 on, so it looks on and starts at once on server 1.
    # Reserving nodes alone, nothing is in its way on server 0; job 2 then has its chunks on server 1.
    jobs = [job(1, 3, walltime=10.0), job(2, 2, 10, walltime=5.0), job(3, 1, 6, walltime=20.0)]
    for preset, reservations, start, servers in (
        ("fcfs-bb", "counted", 0.0, [[0, 0], [1]]),
        ("fcfs-bb", "pinned", 0.0, [[0, 0], [1]]),
        ("fcfs-easy", "counted", 0.0, [[1, 1], [0]]),
        ("fcfs-easy", "pinned", 0.0, [[1, 1], [0]]),
    ):
        run, _ = outcome(crossbar(), jobs, preset=preset, model="alloc-only", reservations=reservations)
        assert [job.start for job in run.jobs] == [0.0, 10.0, start]
        assert [run.chunks[2, 0], run.chunks[3, 0]] == servers


def test_counted_charges_the_emptiest_server():
    # Job 1 (1 node) has 4 of server 0 until 100, job 2 two nodes until 10. Free: node 3, 6 and 10 bytes. Job 3 (2
    # nodes, chunks of 3) is reserved for 10: counted, charged to server 1; pinned, near first, to server 0. Job 4
    # (1 node, a chunk of 6, 20 s) starts at once: counted on server 0, pinned on server 1.
    jobs = [job(1, 1, 4, walltime=100.0), job(2, 2, walltime=10.0)]
    jobs += [job(3, 2, 6, walltime=5.0), job(4, 1, 6, walltime=20.0)]
    for reservations, servers in (("counted", [[1, 1], [0]]), ("pinned", [[0, 0], [1]])):
        run, _ = outcome(crossbar(), jobs, preset="fcfs-bb", model="alloc-only", reservations=reservations)
        assert [job.start for job in run.jobs] == [0.0, 0.0, 10.0, 0.0]
        assert [run.chunks[3, 0], run.chunks[4, 0]] == servers


@pytest.mark.parametrize("seed", range(6))
def test_all_comes_back(seed):
    """Random runs end with everything free, and no more is moved than asked for."""
    workload, platform = transfers.make(seed)
    preset, params, model = transfers.policy(seed)
    run = simulate(workload, platform, PRESETS[preset] | params, model)
    assert not run.queue
    assert run.free() == run.space.empty
    assert all(job.state for job in run.jobs)
