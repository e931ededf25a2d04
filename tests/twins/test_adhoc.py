"""Jobs with file systems of their own: their slow twin, by hand."""

import pytest

from twins.adhoc import Job, Rules, Run, shares

GB = 10**9
RATE = 1.0 * GB


def by_hand(machine, *jobs, policy="fcfs", **rules):
    """The finished run of (submit, nodes, phases), with jobs numbered from 1."""
    made = [Job(k, submit, n, phases) for k, (submit, n, phases) in enumerate(jobs, 1)]
    return Run(made, machine, RATE, policy, Rules(**rules)).run()


def ends(made):
    return [job.finish for job in made.jobs]


@pytest.mark.small
def test_no_servers():
    # Two nodes and one: 2/3 and 1/3 GB/s. Job 2 has read 2 GB at 6; job 1 has 4 GB left then, and reads them by 10.
    phases = [("read", 0.0, 8 * GB), ("compute", 5.0, 0), ("checkpoint", 0.0, 3 * GB)]
    made = by_hand(3, (0.0, 2, phases), (0.0, 1, [("fetch", 0.0, 2 * GB)]), servers="none")
    assert ends(made) == pytest.approx([18.0, 6.0])
    assert made.moved == pytest.approx({"read": 10 * GB, "write": 3 * GB})


@pytest.mark.small
def test_fixed_servers():
    # 2 borrowed servers for 4 nodes: 6 of 7 are held, so job 2 (1 node, 1 server) waits. 4 s in, 5 s, 2 s out, and
    # what the servers take for a read of 4 GB, a checkpoint of 6 GB and a write of 2 GB.
    phases = [("compute", 5.0, 0), ("read", 0.0, 4 * GB), ("checkpoint", 0.0, 6 * GB), ("write", 0.0, 2 * GB)]
    rules = Rules(start=0.5)
    inside = 4e9 / rules.speed(4, 2, True) + 8e9 / rules.speed(4, 2, False)
    made = by_hand(7, (0.0, 4, phases), (0.0, 1, [("write", 0.0, GB)]), start=0.5)
    assert ends(made) == pytest.approx([11.0 + inside, 12.0 + inside + 1e9 / rules.speed(1, 1, False)])
    assert made.moved == pytest.approx({"read": 4 * GB, "write": 3 * GB})
    assert [job.start for job in made.jobs] == [0.0, made.jobs[0].finish]


@pytest.mark.small
def test_how_many_servers():
    # 10 GB on servers that hold 3: four. A machine of 5 nodes leaves 2 to a job of 3, and none to one of 5.
    phases = [("read", 0.0, 4 * GB), ("checkpoint", 0.0, 5 * GB), ("write", 0.0, GB), ("fetch", 0.0, 90 * GB)]
    for machine, n, servers in ((20, 3, 4), (5, 3, 2), (5, 5, 0)):
        made = by_hand(machine, (0.0, n, phases), holds=3 * GB)
        assert made.jobs[0].at_first == servers
    assert made.moved == pytest.approx({"read": 94 * GB, "write": 6 * GB})  # by the file system itself


@pytest.mark.small
def test_servers_on_own_nodes():
    phases = [("compute", 10.0, 0), ("write", 0.0, 2 * GB)]
    made = by_hand(4, (0.0, 4, phases), nodes="own", slowdown=0.5)
    assert ends(made) == pytest.approx([15.0 + 2e9 / Rules().speed(4, 4, False) + 2.0])


@pytest.mark.small
@pytest.mark.parametrize(
    ("grant", "queued", "grows"), [("free", True, True), ("idle", True, False), ("idle", False, True)]
)
def test_servers_are_asked_for(grant, queued, grows):
    # 4 nodes that want 4 GB/s have a server of less than 1 GB/s: after two writes of five they ask for 4 servers, the
    # most. Job 2 leaves 3 of 20 nodes free; who waits for 4 nodes is in the way of "idle" only.
    rules = Rules(servers="malleable", most=1.0, recommended=1e9, window=2, operations=5, grant=grant)
    jobs = [(0.0, 4, [("write", 0.0, 10 * GB)]), (0.0, 12, [("compute", 1e4, 0)])]
    made = by_hand(20, *jobs, *([(1.0, 4, [("compute", 1.0, 0)])] if queued else []), **vars(rules))
    slow, fast = rules.speed(4, 1, False), rules.speed(4, 4, False)
    took = 4e9 / slow + 6e9 / fast if grows else 10e9 / slow
    assert made.jobs[0].finish == pytest.approx(took + 10.0)
    assert [(job, n) for _, job, n in made.resizes] == ([(1, 3)] if grows else [])
    assert made.jobs[0].redistributed == 0


@pytest.mark.small
def test_servers_are_given_up():
    # As above, with 2 servers at first: after one of two writes of 5 GB they become 4. Two reads of 0.5 GB come next.
    # Before the first the window has the last write, before the second a read at 6.8 GB/s, 1.7 from each server. That
    # is 2.8 GB/s more than wanted, so that one goes, once its quarter of 10 GB has moved.
    rules = Rules(servers="malleable", start=0.5, recommended=1e9, window=1, operations=2, redistribute="consistent")
    made = by_hand(8, (0.0, 4, [("checkpoint", 0.0, 10 * GB), ("fetch", 0.0, GB)]), **vars(rules))
    wrote = 5e9 / rules.speed(4, 2, False)
    grown = wrote + 5e9 / 4 / rules.arrives()
    reads = grown + 5e9 / rules.speed(4, 4, False)
    asked = reads + 0.5e9 / rules.speed(4, 4, True)
    moved = asked + 10e9 / 4 / rules.arrives()
    assert [(job, n) for _, job, n in made.resizes] == [(1, 2), (1, -1)]
    assert [time for time, *_ in made.resizes] == pytest.approx([wrote, moved])
    assert ends(made) == pytest.approx([moved + 0.5e9 / rules.speed(4, 3, True)])
    assert made.jobs[0].redistributed == pytest.approx(2.5e9 + 2.5e9)
    assert made.jobs[0].serving == pytest.approx(2 * wrote + 4 * (moved - wrote) + 3 * (made.now - moved))


@pytest.mark.small
def test_shares():
    # From 4 to 6: of 12 blocks 8 move by remainder, where each of 4 servers sends 2 of its 3. If hashes are consistent
    # 4 move, 2 to each new server. Back to 4 it is the same the other way round.
    assert shares("modulo", 4, 6) == pytest.approx((2 / 3, 1 / 6))
    assert shares("consistent", 4, 6) == pytest.approx((1 / 3, 1 / 6))
    assert shares("partial", 6, 4) == pytest.approx((1 / 3, 1 / 6))
    assert shares("total", 6, 4) == pytest.approx((2 / 3, 1 / 6))
