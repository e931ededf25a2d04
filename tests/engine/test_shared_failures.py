"""Shared nodes that fail, solved by hand: two nodes of 4 cores, jobs of 10 s."""

import numpy as np
import pytest

import forebay as fb
from cases.shared import cores, failing, jobs, machine, starts
from forebay.workload.workload import job_table

pytestmark = pytest.mark.small

TWO = {"nodes": 2, "cores": 4, "memory": 8}


def ends(result):
    return dict(result.jobs.select("job_id", "finish_time").iter_rows())


def test_all_that_share_the_node_are_interrupted():
    """Jobs 1 and 2 have node 0, which is down from 4 to 16; job 3 has 3 cores of node 1 until 10.

    Of 8 cores one is free from 4 to 10, then 4 are: both start again on node 1. Down are 4 cores for 12 of 20 s.
    """
    rows = ({"cores": 2, "memory": 8}, {"cores": 2}, {"cores": 3})
    result = fb.simulate(jobs(*rows), machine(TWO), "fcfs", failures=failing([(0, 4.0, 16.0)]))
    assert (starts(result), ends(result)) == ({1: 0, 2: 0, 3: 0}, {1: 20, 2: 20, 3: 10})
    assert cores(result) == {1: "0-1 4-5", 2: "2-3 6-7", 3: "4-6"}
    assert result.jobs.select("n_attempts", "lost_time").rows() == [(2, 4), (2, 4), (1, 0)]
    told = fb.summary(result)
    assert (told["n_failures"], told["down_share"], told["lost_to_failures_share"]) == (1, 0.3, 0.1)
    assert fb.metrics.outages(result).rows() == [(0, 4, 16)]
    waits = fb.explain.reasons(result).filter(fb.explain.reasons(result)["start"] == 4)
    assert waits.select("job_id", "end", "reason").rows() == [(1, 10, "node_down"), (2, 10, "node_down")]


def test_a_job_on_several_nodes_gives_them_all_back():
    """Job 1 has 2 cores of each node, and node 1 fails at 4: job 2 has the cores of node 0 that it gives back.

    Job 1 waits for the repair at 9: from then on it has room on both nodes.
    """
    rows = ({"nodes": 2, "cores": 4}, {"submit": 4.0, "cores": 2})
    result = fb.simulate(jobs(*rows), machine(TWO), "filler", failures=failing([(1, 4.0, 9.0)]))
    assert ends(result) == {1: 19, 2: 14}
    assert cores(result) == {1: "0-5", 2: "0-1"}


@pytest.mark.parametrize("policy", ["fcfs-easy", "conservative"])
@pytest.mark.parametrize(("known", "second", "last"), [(True, 30, 40), (False, 31, 10)])
def test_reservations_know_when_nodes_are_back(policy, known, second, last):
    """Job 2 wants both nodes, and node 1 is back at 30. Job 3 ends by then; job 4 would take a second more.

    Where nobody can tell, job 2 has no reservation, and job 4 delays it.
    """
    rows = (
        {"cores": 4},
        {"submit": 1.0, "nodes": 2, "cores": 8},
        {"submit": 1.0, "cores": 2, "walltime": 20.0},
        {"submit": 1.0, "cores": 2, "walltime": 21.0},
    )
    result = fb.simulate(jobs(*rows), machine(TWO), policy, failures=failing([(1, 0.0, 30.0)], known=known))
    assert starts(result) == {1: 0, 2: second, 3: 10, 4: last}


def test_one_that_fails_again_stays_down():
    """Down from 2 to 9, and struck again at 5 until 15."""
    result = fb.simulate(
        jobs({"cores": 1}), machine({"nodes": 1, "cores": 4}), "fcfs", failures=failing([(0, 2.0, 9.0), (0, 5.0, 15.0)])
    )
    assert ends(result) == {1: 25}


def test_checkpoints():
    """4 s of work, a checkpoint of 1 s, 2 s that are lost as node 0 fails at 7.

    On node 1: recovery to 8, work to 12, a checkpoint to 13, and the last 2 s.
    """
    fails = failing([(0, 7.0, 99.0)], checkpoint=1.0, period=4.0)
    result = fb.simulate(jobs({"cores": 1}), machine(TWO), "fcfs", failures=fails)
    assert (ends(result), cores(result)) == ({1: 15}, {1: "0 4"})


class Looks(fb.Policy):
    """Starts jobs in order while they fit, and keeps what it sees."""

    def __init__(self):
        self.seen = []

    def decide(self, view, act):
        self.seen.append((view.now, view.down["node"].tolist(), view.idle_nodes.tolist(), view.inside.tolist()))
        for job in view.queue:
            if not act.fits(job):
                break
            act.start(job)


def test_python_policies_see_which_nodes_are_down():
    policy = Looks()
    result = fb.simulate(jobs({"nodes": 2, "cores": 8}), machine(TWO), policy, failures=failing([(0, 3.0, 5.0)]))
    assert ends(result) == {1: 15}
    assert policy.seen[:3] == [
        (0, [], [0, 1], [[4, 8, 0], [4, 8, 0]]),
        (3, [0], [1], [[0, 0, 0], [4, 8, 0]]),
        (5, [], [0, 1], [[4, 8, 0], [4, 8, 0]]),
    ]


@pytest.mark.parametrize("policy", ["fcfs", "filler"])
@pytest.mark.parametrize("seed", range(6))
def test_jobs_that_are_all_alone_are_as_on_whole_nodes(policy, seed):
    """Who has nodes to itself fares as on a machine that does not share them, with drawn failures and checkpoints."""
    rng, n = np.random.default_rng(seed), 40
    run_time = rng.integers(1, 40, n).astype(float)
    columns = {"submit": np.sort(rng.integers(0, 200, n)).astype(float), "run_time": run_time}
    table = job_table({"id": range(n), "nodes": rng.integers(1, 5, n), "walltime": 2 * run_time, **columns})
    fails = f"mtbf=25s,downtime=20s,seed={seed}" + (",checkpoint=1s,period=6s" if seed % 2 else "")
    shared = machine({"nodes": 5, "cores": 3}, placement="lowest")
    both = [fb.simulate(fb.Workload("w", table), one, policy, failures=fails) for one in ("flat:nodes=5", shared)]
    assert fb.summary(both[0])["n_failures"] > 3
    times = [one.jobs.select("starting_time", "finish_time", "lost_time", "n_attempts") for one in both]
    assert times[0].equals(times[1])
    whole, parts = (fb.summary(one)["down_share"] for one in both)
    assert whole == pytest.approx(parts)


def test_a_picture_of_it(tmp_path):
    """The lanes of a node are those of its cores."""
    result = fb.simulate(jobs({"cores": 2}), machine(TWO), "fcfs", failures=failing([(1, 4.0, 8.0)]))
    fb.figures.draw("gantt", result, tmp_path / "gantt.svg")
    assert (tmp_path / "gantt-down.csv").read_text().splitlines()[1] == "1,4.000000,8.000000,4,7"


def test_more_jobs_than_nodes_write_at_a_time():
    """Four jobs on one node write 1 GB each after 4 s, at 1 GB/s together: until 8. The node is down from 9 to 10.

    They read 4 GB until 14, work to 18, write until 22, and work their last 2 s.
    """
    files = fb.platforms.load("flat:nodes=1,pfs=1GB/s").tiers
    platform = machine({"nodes": 1, "cores": 4}, tiers=files)
    fails = failing([(0, 9.0, 10.0)], checkpoint_bytes=10**9, period=4.0)
    result = fb.simulate(jobs(*[{"cores": 1}] * 4), platform, "fcfs", failures=fails)
    assert ends(result) == dict.fromkeys(range(1, 5), 24)
