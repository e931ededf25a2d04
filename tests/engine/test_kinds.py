"""Nodes of two kinds, by hand. One machine: nodes 0 and 1 have 10 B of SSD, nodes 2 and 3 have 20 B."""

import polars as pl
import pytest

import forebay
from cases import pooled
from forebay.errors import InputError, OversubscribedError
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local

pytestmark = pytest.mark.small

MACHINE = Platform(name="two", nodes=4, tiers=(node_local.Tier(name="ssd", capacity=10, large=20, large_nodes=2),))


def jobs(*rows):
    """(submit, walltime, nodes, SSD on each node); ids from 1 on."""
    names = ("submit", "walltime", "nodes", "ssd")
    made = [dict(zip(names, row, strict=True)) | {"id": i} for i, row in enumerate(rows, 1)]
    return pooled.workload([row | {"ssd": row["ssd"] * row["nodes"]} for row in made])


def run(workload, policy="fcfs"):
    """(start, nodes) of each job."""
    return forebay.simulate(workload, MACHINE, policy).jobs.select("starting_time", "allocated_resources").rows()


def changes(result, job):
    taken = result.log.filter((pl.col("job") == job) & (pl.col("kind") != "submit"))
    return taken.select("time", "kind", "resource", "amount").rows()


def test_the_machine():
    assert MACHINE.asked == ("nodes", "ssd")
    assert MACHINE.resources == ("nodes", "ssd", "ssd_large")
    assert MACHINE.capacities == (4, 2 * 10 + 2 * 20, 2)


def test_a_small_job_spills_over():
    """3 nodes of 5 B: both small ones, and one large one, which is written to the log as such and comes back."""
    result = forebay.simulate(jobs((0.0, 5.0, 3, 5)), MACHINE, "fcfs")
    assert result.jobs["allocated_resources"].to_list() == ["0-2"]
    assert changes(result, 1) == [
        (0, "start", "nodes", 3),
        (0, "acquire", "ssd", 15),
        (0, "acquire", "ssd_large", 1),
        (5, "end", "nodes", 3),
        (5, "release", "ssd", 15),
        (5, "release", "ssd_large", 1),
    ]


def test_a_large_job_waits_while_small_nodes_idle():
    """Job 1 (11 B a node) has node 2. Job 2 needs two large nodes and has to wait until 5; 0 and 1 are idle till then.

    Filler lets job 3 pass, onto the small ones. Job 4 fits nowhere before 5 but on node 3, for which 2 waits too.
    """
    workload = jobs((0.0, 5.0, 1, 11), (0.0, 5.0, 2, 20), (0.0, 5.0, 2, 10), (0.0, 9.0, 1, 1))
    assert run(workload) == [(0, "2"), (5, "2-3"), (5, "0-1"), (10, "0")]
    assert run(workload, "filler") == [(0, "2"), (9, "2-3"), (0, "0-1"), (0, "3")]
    # Backfilled beside the reservation of job 2, which 4 would delay: it needs a large node until 9.
    assert run(workload, "fcfs-bb") == [(0, "2"), (5, "2-3"), (0, "0-1"), (5, "0")]


def test_exactly_a_small_node_is_small():
    """10 B a node is not more than a small one has; 21 B on two nodes is 10.5 B, so 11 B, each."""
    workload = pooled.workload(
        [{"id": i, "submit": 0.0, "walltime": 1.0, "nodes": 2, "ssd": asked} for i, asked in ((1, 20), (2, 21))]
    )
    assert run(workload) == [(0, "0-1"), (0, "2-3")]


def test_small_nodes_that_are_promised_are_left_alone():
    """Conservative. At 0 job 1 has the small nodes, until 4; 2 and 3 are idle.

    Job 2 (all 4 nodes, 6 s) is promised 4; job 3 (2 large, 5 s) 10, when it ends. At 1 comes job 4 (1 node, 20 s): it
    can have no node before 10, and at 10 a small one, beside job 3.
    """
    workload = jobs((0.0, 4.0, 2, 1), (0.0, 6.0, 4, 1), (0.0, 5.0, 2, 20), (1.0, 20.0, 1, 1))
    assert run(workload, "conservative-bb") == [(0, "0-1"), (4, "0-3"), (10, "2-3"), (10, "0")]


def test_a_job_leaves_small_nodes_to_whom_they_are_promised():
    """Conservative, with one large node more: 2 to 4. Job 1 has nodes 2 and 3 until 4; 0, 1 and 4 are idle.

    Job 2 (2 large, 5 s) is promised 4, job 3 (4 nodes, 5 s) 9: both small nodes and two large ones. Job 4 (1 node, 20
    s) may start at once: not on a small node, which 3 is promised, but on node 4, of which neither has any use.
    """
    device = node_local.Tier(name="ssd", capacity=10, large=20, large_nodes=3)
    machine = Platform(name="five", nodes=5, tiers=(device,))
    workload = jobs((0.0, 4.0, 2, 20), (0.0, 5.0, 2, 20), (0.0, 5.0, 4, 1), (0.0, 20.0, 1, 1))
    result = forebay.simulate(workload, machine, "conservative-bb").jobs
    rows = result.select("starting_time", "allocated_resources").rows()
    assert rows == [(0, "2-3"), (4, "2-3"), (9, "0-3"), (0, "4")]


def test_nodes_given_back_early_are_the_large_ones():
    """Job 1 has nodes 0 to 2, and gives back one after 3 s: the last taken, node 2. Job 2 gets it, and node 3."""
    legs = [{"job": 1, "leg": 0, "walltime": 10.0, "nodes": 3, "ssd": 3, "carry": ""}]
    phases = [
        {"job": 1, "leg": 0, "seconds": 3.0, "release": "nodes=1"},
        {"job": 1, "leg": 0, "seconds": 7.0, "release": None},
    ]
    rows = [
        {"id": 1, "submit": 0.0, "walltime": 10.0, "nodes": 3, "ssd": 3},
        {"id": 2, "submit": 0.0, "walltime": 5.0, "nodes": 2, "ssd": 40},
    ]
    result = forebay.simulate(pooled.workload(rows, legs, phases), MACHINE, "fcfs-bb")
    assert result.jobs["allocated_resources"].to_list() == ["0-2", "2-3"]
    assert result.jobs["starting_time"].to_list() == [0, 3]
    assert (3, "release", "ssd_large", 1) in changes(result, 1)
    assert (10, "end", "nodes", 2) in changes(result, 1)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ((0.0, 1.0, 1, 21), "it asks for 21 B a node on 1 node, and a node has 20 B of ssd"),
        ((0.0, 1.0, 3, 11), "it asks for 11 B a node on 3 nodes, and 2 nodes have more than 10 B of ssd"),
    ],
)
def test_what_never_fits_is_rejected(row, said):
    result = forebay.simulate(jobs((0.0, 1.0, 1, 1), row), MACHINE, "fcfs")
    assert result.jobs["final_state"].to_list() == ["COMPLETED_SUCCESSFULLY", "REJECTED"]
    assert any(said in note for note in result.facts["notes"])
    assert not any("ssd_large" in note for note in result.facts["notes"])


def test_both_reasons_are_told():
    workload = jobs((0.0, 1.0, 1, 21), (0.0, 1.0, 3, 11), (0.0, 1.0, 1, 1))
    result = forebay.simulate(workload, MACHINE, "fcfs")
    assert result.jobs["final_state"].to_list().count("REJECTED") == 2


def test_nobody_is_asked_for_large_nodes():
    """Neither where a workload says nothing of the tier, nor where it has a column of that name, which is not read."""
    plain = pooled.workload([{"id": 1, "submit": 0.0, "walltime": 1.0, "nodes": 1}])
    assert forebay.simulate(plain, MACHINE, "fcfs").facts["notes"] == [
        "the workload says nothing of ssd: every job asks for 0 of it"
    ]
    own = pooled.workload([{"id": 1, "submit": 0.0, "walltime": 1.0, "nodes": 1, "ssd": 1, "ssd_large": 9}])
    result = forebay.simulate(own, MACHINE, "fcfs")
    assert result.facts["notes"] == ["two has no ssd_large: what jobs ask of it is ignored"]
    assert result.jobs["starting_time"].to_list() == [0]


def test_legs_may_not_carry_nodes():
    legs = [
        {"job": 1, "leg": 0, "walltime": 1.0, "nodes": 1, "ssd": 1, "carry": ""},
        {"job": 1, "leg": 1, "walltime": 1.0, "nodes": 1, "ssd": 1, "carry": "nodes"},
    ]
    phases = [{"job": 1, "leg": k, "seconds": 1.0, "release": None} for k in range(2)]
    rows = [{"id": 1, "submit": 0.0, "walltime": 2.0, "nodes": 1, "ssd": 1}]
    with pytest.raises(InputError, match="job 1 carries nodes from leg to leg, and two has nodes of two kinds"):
        forebay.simulate(pooled.workload(rows, legs, phases), MACHINE, "fcfs")


@pytest.mark.parametrize("spec", ["fcfs-bb:reservations=pinned", "plan-2:reservations=pinned"])
def test_pinned_reservations_are_refused(spec):
    with pytest.raises(InputError, match="reservations is 'pinned', but this machine has nodes of two kinds"):
        forebay.simulate(jobs((0.0, 1.0, 1, 1)), MACHINE, spec)


class Picking:
    """Starts jobs on nodes that it picks, in the order of the queue; and looks at what it has left in between."""

    def __init__(self, *picks):
        self.picks, self.left = picks, []

    def decide(self, view, act):
        for job, nodes in zip(view.queue, self.picks, strict=False):
            if act.fits(job):
                act.start(job, nodes=nodes)
                self.left.append(list(act.free))


def test_picked_nodes_count_as_what_they_are():
    """Job 1 could have small nodes, and is put on 1 and 3; job 2 needs a large one and gets 2; 3 has what is left."""
    workload = jobs((0.0, 5.0, 2, 1), (0.0, 5.0, 1, 20), (0.0, 5.0, 1, 1))
    policy = Picking([1, 3], [2], None)
    assert run(workload, policy) == [(0, "1 3"), (0, "2"), (0, "0")]
    assert policy.left == [[2, 58, 1], [1, 38, 0], [0, 37, 0]]


def test_picked_nodes_must_be_of_the_right_kind():
    with pytest.raises(OversubscribedError, match="or too small for it"):
        run(jobs((0.0, 5.0, 1, 20)), Picking([1]))


class Greedy:
    def decide(self, view, act):
        for job in view.queue:
            act.start(job)


def test_too_many_large_jobs_are_oversubscribed():
    with pytest.raises(OversubscribedError, match=r"job 2, which needs 1 of ssd_large while 0 are free"):
        run(jobs((0.0, 5.0, 2, 20), (0.0, 5.0, 1, 20)), Greedy())


def test_a_policy_in_python_knows_what_is_left():
    """Job 1 spills over onto node 2, so that one large node is left: 2 fits, then 3 does not."""

    class First:
        def __init__(self):
            self.said = []

        def decide(self, view, act):
            for job in view.queue:
                self.said.append(act.fits(job))
                if self.said[-1]:
                    act.start(job)

    policy = First()
    run(jobs((0.0, 5.0, 3, 1), (0.0, 5.0, 1, 20), (0.0, 5.0, 1, 20)), policy)
    assert policy.said[:3] == [True, True, False]
