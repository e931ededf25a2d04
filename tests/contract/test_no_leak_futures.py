"""No policy can look ahead where nodes fail, jobs have legs, wait for others, or share nodes: see `test_no_leak`."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay as fb
from cases import futures
from cases.looking import Spy, hold_the_same, moment_in
from forebay.platforms import NodeClass, Partition
from forebay.platforms.tiers import pfs, shared_bb
from forebay.workload import job_table

pytestmark = pytest.mark.small

GB = futures.GB
FLAT = "flat:nodes=5,pfs=2GB/s,burst_buffer=40GB"
CHECKPOINTS = ({}, {"checkpoint": 1.0, "period": 4.0}, {"checkpoint_bytes": GB, "period": 6.0})

parts = st.sampled_from(range(5, 100, 5))  # of a run, in per cent: where its futures part


class Restless(Spy):
    """Interrupts jobs, too, in every way that there is."""

    def __init__(self, until):
        super().__init__(until)
        self.left = 4

    def act_on(self, view, act):
        super().act_on(view, act)
        for job in view.running["job"].tolist():
            if self.left and len(view.queue) and view.jobs["leg_start"][job] < view.now - 2.0:
                self.left -= 1
                writes = view.safety(job).get("next", math.inf) < math.inf
                act.interrupt(job, ("last", "now", "next")[self.left % 3 if writes else 0])
                return


def machine(sharing):
    """Nodes of two classes in two partitions that overlap."""
    classes = (
        NodeClass(name="thin", nodes=3, cores=4, memory=16 * GB),
        NodeClass(name="fat", nodes=2, cores=6, memory=32 * GB),
    )
    parts = (Partition(name="a", nodes="0-2"), Partition(name="b", nodes="1-4"))
    tiers = (shared_bb.Tier(name="burst_buffer", capacity=40 * GB), pfs.Tier(name="pfs", read=2 * GB, write=2 * GB))
    return fb.Platform(name="site", classes=classes, partitions=parts, sharing=sharing, tiers=tiers)


def look_twice(some, draw, part, platform, spy=Spy, failures=lambda moment: (None, None)):
    """Let two spies look at one past with two futures. What `failures` gives are those of each."""

    def run(jobs, spy, failing):
        return fb.simulate(futures.build(jobs), platform, spy, job_model="io-aware", failures=failing)

    moment = moment_in(run(some, spy(0.0), failures(0.0)[0]), part)
    spies, (now, later) = (spy(moment), spy(moment)), failures(moment)
    result = run(some, spies[0], now)
    run(futures.other_future(some, result, spies[0], draw), spies[1], later)
    hold_the_same(*spies)


@given(futures.jobs(), futures.drawn, parts)
def test_legs(some, draw, part):
    look_twice(some, draw, part, FLAT)


@given(futures.jobs(waits=True), futures.drawn, parts)
def test_parents_and_users_who_think(some, draw, part):
    look_twice(some, draw, part, FLAT)


@given(futures.jobs(waits=True), futures.drawn, parts, st.booleans())
def test_partitions_and_shared_nodes(some, draw, part, sharing):
    look_twice(some, draw, part, machine(sharing))


@given(
    futures.jobs(), futures.drawn, parts, st.tuples(futures.outages, futures.outages), st.booleans(),
    st.sampled_from(CHECKPOINTS), st.sampled_from([FLAT, machine(True)]),
)  # fmt: skip
def test_failures_and_interrupted_jobs(some, draw, part, outages, known, writes, platform):
    def failures(moment):
        later = futures.other_outages(*outages, moment, known)
        return tuple(futures.failing(one, known=known, **writes) for one in (outages[0], later))

    look_twice(some, draw, part, platform, Restless, failures)


three = st.tuples(st.integers(0, 10), st.integers(1, 4), st.integers(0, 12), futures.amounts)


def staged(some, run_times):
    gaps, nodes, buffers, _ = zip(*some, strict=True)
    columns = {"id": range(1, len(some) + 1), "submit": [float(sum(gaps[1 : k + 1])) for k in range(len(some))]}
    columns |= {"walltime": [30.0] * len(some), "run_time": [float(one) for one in run_times], "nodes": nodes}
    return fb.Workload("staged", job_table(columns | {"burst_buffer": [one * GB for one in buffers]}))


@given(st.lists(three, min_size=1, max_size=5), st.lists(futures.amounts, min_size=5, max_size=5), parts)
def test_jobs_that_stage_in_and_out(some, longer, part):
    """Under the job model three-legs, what nobody knows is how long the run takes."""
    times = [time for *_, time in some]

    def run(spy):
        return fb.simulate(staged(some, times), FLAT, spy, job_model="three-legs")

    moment = moment_in(run(Spy(0.0)), part)
    spies = Spy(moment), Spy(moment)
    over, begun = futures.legs_by(run(spies[0]), moment)
    for k, (_, _, buffer, time) in enumerate(some):
        leg = k + 1, int(buffer > 0)
        times[k] = time if leg in over else time + longer[k] if leg in begun else longer[k]
    run(spies[1])
    hold_the_same(*spies)
