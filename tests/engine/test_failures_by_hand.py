"""Nodes that fail and jobs that write checkpoints, in cases small enough to be solved by hand."""

import numpy as np
import pytest

import forebay as fb
from cases import transfers
from cases.flexible import Jobs, compute, loop, stage
from forebay.core.failures import Failures, Outages
from forebay.platforms import load
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import pfs
from forebay.platforms.topologies import dragonfly

pytestmark = pytest.mark.small

GB = 10**9
ALL = ("start", "end", "begin_phase", "end_phase")
TOLD = ("save", "recover", "completed", "walltime", "node_down")


def outages(*rows):
    """Rows of node, down, up."""
    node, down, up = zip(*rows, strict=True) if rows else ((), (), ())
    return Outages("hand", "", np.array(node, np.int64), np.array(down, float), np.array(up, float))


def one_job(nodes, walltime, *phases):
    """A workload of one job; its phases are (kind, columns)."""
    row = {"id": 1, "submit": 0.0, "nodes": nodes, "walltime": walltime, "run_time": 0.0, "flop": 0.0}
    rows = [{"job": 1, "leg": 0, "kind": kind, **values} for kind, values in phases]
    return transfers.workload([row | {"communication": 0.0}], (), rows)


def told(result):
    """When checkpoints and recoveries began and ended, and legs ended."""
    rows = result.log.select("time", "kind", "reason").rows()
    return [(time, kind, reason) for time, kind, reason in rows if kind in ALL and reason in TOLD]


def spans(result, reason):
    """(from, until) of each checkpoint or recovery."""
    times = [time for time, _, why in told(result) if why == reason]
    return list(zip(times[::2], times[1::2], strict=True))


def test_the_rest_of_a_phase_on_other_nodes():
    # Nodes 1 and 2 share a router: 20 s with messages take 20 s for sure, and are cut. 8 s are safe at 10. Node 2 fails
    # at 11, and on nodes 0 and 1 messages cross links: the 12 s that are left are not cut, and end at 12 + 12.
    topology = dragonfly.Topology(groups=1, chassis=2, routers=2, ports=2, storage=1, bandwidth=1.25 * GB)
    machine = Platform(name="hand", nodes=6, topology=topology, tiers=(pfs.Tier(name="pfs", bandwidth=1.0 * GB),))
    workload = one_job(2, 1e5, ("compute", {"seconds": 20.0, "communication": 1.0 * GB}))
    failures = Failures(outages=outages((0, 0.0, 5.0), (2, 11.0, 100.0)), checkpoint=1.0, period=4.0)
    result = fb.simulate(workload, machine, "fcfs", job_model="io-aware", failures=failures)
    assert spans(result, "save") == [(4.0, 5.0), (9.0, 10.0)]
    assert spans(result, "recover") == [(11.0, 12.0)]
    assert result.jobs["finish_time"].to_list() == [24.0]


@pytest.mark.parametrize(
    ("written", "saves", "end"), [(8.5, [(8.5, 11.5), (15.5, 18.5)], 18.5), (9.0, [(9.0, 12.0)], 16.0)]
)
def test_a_walltime_that_is_over_during_a_checkpoint(written, saves, end):
    # 10 s of walltime, T = 4, C = 3: ceil(2.5) - 1 = 2 checkpoints, until 16. What is written cannot be cut. The
    # walltime is over during the second checkpoint: the job is killed after it; or just as that is due: none is begun.
    workload = one_job(1, 10.0, ("write", {"bytes": written * GB}), ("compute", {"seconds": 50.0}))
    failures = Failures(outages=outages(), checkpoint=3.0, period=4.0)
    result = fb.simulate(workload, "flat:nodes=1,pfs=1GB/s", "fcfs", job_model="io-aware", failures=failures)
    assert spans(result, "save") == saves
    assert told(result)[-1] == (end, "end", "walltime")


class Grows(fb.Policy):
    """One node, and two from the point at 10 on."""

    resizes = True

    def decide(self, view, act):
        for job in view.queue.tolist():
            act.start(job, nodes=1)
        for job in view.points:
            if view.now == 10:
                act.resize(job, 2)


@pytest.mark.parametrize(
    ("period", "fails", "first", "end"), [(10.0, 18.0, 10.0, 51.0), (14.0, 24.0, 14.0, 57.0), (17.0, 30.0, 17.0, 62.0)]
)
def test_safe_while_it_changes_its_size(period, fails, first, end):
    # Four rounds of 10 s; for its new size it works from 10 on, 7 + 3 s. It saves itself before, in or after the 7 s,
    # and fails. On one node again it has nothing to reconfigure: 30 s are left after 1 s of recovery, with a checkpoint
    # of 1 s every 10, 14 or 17 s: two, two or one of them.
    jobs = Jobs()
    steps = (loop(4, compute(10.0)), stage("reconfiguration", compute(7.0)), stage("expansion", compute(3.0)))
    jobs.add("malleable", 0, [1, 2], *steps, nodes=1)
    failures = Failures(outages=outages((0, fails, fails + 1)), checkpoint=1.0, period=period)
    machine = load("flat:nodes=2,pfs=2GB/s")
    result = fb.simulate(jobs.workload(), machine, Grows(), job_model="application", failures=failures)
    assert spans(result, "save")[0] == (first, first + 1)
    assert spans(result, "recover") == [(fails, fails + 1)]
    assert result.jobs["finish_time"].to_list() == [end]
