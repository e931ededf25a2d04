"""No policy can look ahead where nodes fail, jobs have legs, wait for others, or share nodes: see `test_no_leak`."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forebay as fb
from cases import futures
from cases.looking import Spy, hold_the_same
from forebay.platforms import NodeClass, Partition
from forebay.platforms.tiers import pfs, shared_bb
from forebay.workload import job_table

pytestmark = pytest.mark.small

GB = futures.GB
FLAT = "flat:nodes=5,pfs=2GB/s,burst_buffer=40GB"
CHECKPOINTS = ({}, {"checkpoint": 1.0, "period": 4.0}, {"checkpoint_bytes": GB, "period": 6.0})

moments = st.integers(1, 60).map(float)


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


def look_twice(some, draw, moment, platform, spy=Spy, failures=(None, None)):
    """Let two spies look at one past with two futures."""
    spies = spy(moment), spy(moment)
    result = fb.simulate(futures.build(some), platform, spies[0], job_model="io-aware", failures=failures[0])
    other = futures.build(futures.other_future(some, result, moment, draw))
    fb.simulate(other, platform, spies[1], job_model="io-aware", failures=failures[1])
    hold_the_same(*spies)


@given(futures.jobs(), futures.drawn, moments)
def test_legs(some, draw, moment):
    look_twice(some, draw, moment, FLAT)


@given(futures.jobs(waits=True), futures.drawn, moments)
def test_parents_and_users_who_think(some, draw, moment):
    look_twice(some, draw, moment, FLAT)


@given(futures.jobs(waits=True), futures.drawn, moments, st.booleans())
def test_partitions_and_shared_nodes(some, draw, moment, sharing):
    look_twice(some, draw, moment, machine(sharing))


@given(
    futures.jobs(), futures.drawn, moments, st.tuples(futures.outages, futures.outages), st.booleans(),
    st.sampled_from(CHECKPOINTS), st.sampled_from([FLAT, machine(True)]),
)  # fmt: skip
def test_failures_and_interrupted_jobs(some, draw, moment, outages, known, writes, platform):
    now, fresh = outages
    later = futures.other_outages(now, fresh, moment, known)
    failures = tuple(futures.failing(one, known=known, **writes) for one in (now, later))
    look_twice(some, draw, moment, platform, Restless, failures)


three = st.tuples(st.integers(0, 10), st.integers(1, 4), st.integers(0, 12), futures.amounts)


def staged(some, run_times):
    gaps, nodes, buffers, _ = zip(*some, strict=True)
    columns = {"id": range(1, len(some) + 1), "submit": [float(sum(gaps[1 : k + 1])) for k in range(len(some))]}
    columns |= {"walltime": [15.0] * len(some), "run_time": [float(one) for one in run_times], "nodes": nodes}
    return fb.Workload("staged", job_table(columns | {"burst_buffer": [one * GB for one in buffers]}))


@given(st.lists(three, min_size=1, max_size=5), st.lists(futures.amounts, min_size=5, max_size=5), moments)
def test_jobs_that_stage_in_and_out(some, longer, moment):
    """Under the job model three-legs, what nobody knows is how long the run takes."""
    spies, times = (Spy(moment), Spy(moment)), [time for *_, time in some]
    result = fb.simulate(staged(some, times), FLAT, spies[0], job_model="three-legs")
    over, begun = futures.legs_by(result, moment)
    for k, (_, _, buffer, time) in enumerate(some):
        leg = k + 1, int(buffer > 0)
        times[k] = time if leg in over else time + longer[k] if leg in begun else longer[k]
    fb.simulate(staged(some, times), FLAT, spies[1], job_model="three-legs")
    hold_the_same(*spies)
