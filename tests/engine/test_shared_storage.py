"""Local storage of nodes that jobs share, solved by hand: nodes of 4 cores and 10 B."""

import pytest

import forebay as fb
from cases.shared import cores, jobs, machine, starts
from forebay.errors import InputError
from forebay.platforms import Partition
from forebay.platforms.tiers import node_local, shared_bb

pytestmark = pytest.mark.small


def ssd(nodes=2, **more):
    """A machine of so many nodes with `ssd` in each."""
    return machine({"nodes": nodes, "cores": 4}, tiers=(node_local.Tier(name="ssd", capacity=10, **more),))


def taken(result):
    rows = result.log.filter((result.log["resource"] == "ssd") & (result.log["kind"] == "acquire"))
    return dict(rows.select("job", "amount").iter_rows())


def test_storage_binds():
    """Jobs 1 and 2 want 6 of 10 B, and have a node each. Job 3 wants 5: nowhere until 10, though 6 cores are idle."""
    result = fb.simulate(jobs(*({"cores": 1, "ssd": size} for size in (6, 6, 5, 4))), ssd(), "filler")
    assert starts(result) == {1: 0, 2: 0, 3: 10, 4: 0}
    assert cores(result) == {1: "0", 2: "4", 3: "0", 4: "1"}
    assert result.resources == {"cores": 8, "ssd": 20}


def test_tasks_lie_where_their_storage_does():
    """5 tasks of a core and 4 B: two a node, for 8 of its 10 B."""
    result = fb.simulate(jobs({"nodes": 0, "tasks": 5, "cores": 5, "ssd": 20}), ssd(3), "fcfs")
    assert cores(result) == {1: "0-1 4-5 8"}


def test_who_says_neither_nodes_nor_tasks_has_nodes_for_its_storage():
    """A core and 25 B: three nodes, a core and 9 B on each."""
    result = fb.simulate(jobs({"nodes": 0, "cores": 1, "ssd": 25}), ssd(3), "fcfs")
    assert (cores(result), taken(result)) == ({1: "0 4 8"}, {1: 27})


def test_who_is_alone_has_all_of_it():
    """Job 1 wants 2 B and a node alone: it takes 10 B. Job 2 is beside nobody, job 3 waits for either."""
    rows = ({"cores": 1, "ssd": 2, "exclusive": 1}, {"cores": 1, "ssd": 9}, {"cores": 1, "ssd": 2})
    result = fb.simulate(jobs(*rows), ssd(), "fcfs")
    assert (starts(result), taken(result)) == ({1: 0, 2: 0, 3: 10}, {1: 10, 2: 9, 3: 2})


@pytest.mark.parametrize("policy", ["fcfs-easy", "conservative"])
def test_what_is_spare_beside_the_head(policy):
    """The head wants 8 of 10 B at 10: a long job of 3 B waits for its end at 60, one of 2 B does not."""
    rows = ({"cores": 1, "ssd": 5}, {"cores": 1, "ssd": 8, "walltime": 50.0})
    for size, start in ((3, 60), (2, 0)):
        result = fb.simulate(jobs(*rows, {"cores": 1, "ssd": size, "walltime": 99.0}), ssd(1), policy)
        assert starts(result) == {1: 0, 2: 10, 3: start}


def test_two_kinds():
    """Node 2 has 20 B. Job 1 needs it; job 2 goes to a small node, and so does job 3; job 4 finds room on node 2 alone.

    Job 5 wants 12 B on each of two nodes, of which there is one.
    """
    platform = ssd(3, large=20, large_nodes=1)
    rows = [{"cores": 1, "ssd": size} for size in (12, 6, 6, 5)]
    result = fb.simulate(jobs(*rows, {"nodes": 2, "ssd": 24}), platform, "fcfs")
    assert platform.finite["ssd"] == 40
    assert cores(result) == {1: "8", 2: "0", 3: "4", 4: "9", 5: ""}
    assert result.facts["notes"] == ["job 5 is rejected: it asks for 2 nodes, and shared has 1 for it"]


def test_two_kinds_in_one_class_and_partition():
    """Only node 2 is in the partition, and it is the large one."""
    big, rest = Partition(name="big", nodes="2"), Partition(name="rest", nodes="0-1", default=True)
    tier = node_local.Tier(name="ssd", capacity=10, large=20, large_nodes=1)
    platform = machine({"nodes": 3, "cores": 4}, tiers=(tier,), partitions=(big, rest))
    rows = ({"cores": 1, "ssd": 12, "queue": 1}, {"cores": 1, "ssd": 12, "queue": 0})
    result = fb.simulate(jobs(*rows, names={"queue": {0: "rest", 1: "big"}}), platform, "fcfs")
    assert cores(result) == {1: "8", 2: ""}
    assert result.facts["notes"] == [
        "job 2 is rejected: it asks for 12 B of ssd a node, and partition rest has 10 B in a node at most"
    ]


def test_more_than_any_node_has():
    result = fb.simulate(jobs({"cores": 1, "ssd": 11}, {"cores": 1, "ssd": 10}), ssd(), "fcfs")
    assert starts(result) == {1: None, 2: 0}
    assert result.facts["notes"] == [
        "job 1 is rejected: it asks for 11 B of ssd a node, and shared has 10 B in a node at most"
    ]


def test_it_stands_behind_other_tiers():
    """Resources: cores, what is outside nodes, then what is in them."""
    tiers = (node_local.Tier(name="ssd", capacity=10), shared_bb.Tier(name="bb", capacity=5))
    platform = machine({"nodes": 2, "cores": 4, "memory": 8}, tiers=tiers)
    assert dict(platform.finite) == {"cores": 8, "bb": 5, "ssd": 20, "memory": 16}
    rows = ({"cores": 1, "ssd": 3, "bb": 4}, {"cores": 1, "ssd": 3, "bb": 2}, {"cores": 1, "memory": 8})
    result = fb.simulate(jobs(*rows), platform, "filler", job_model="alloc-only")
    assert (starts(result), taken(result)) == ({1: 0, 2: 10, 3: 0}, {1: 3, 2: 3})


def test_what_no_leg_can_have():
    """Who stages with the buffer alone would have storage of a node, and no node."""
    platform = machine(
        {"nodes": 2, "cores": 4},
        tiers=(node_local.Tier(name="ssd", capacity=10), fb.platforms.load("flat:nodes=1,pfs=5GB/s").tiers[-1]),
    )
    with pytest.raises(InputError, match="job 1 carries ssd from leg to leg, and shared shares nodes"):
        fb.simulate(jobs({"cores": 1, "ssd": 5}), platform, "fcfs", job_model="three-legs")


class Looks(fb.Policy):
    """Keeps what it sees of nodes."""

    def __init__(self):
        self.seen = []

    def decide(self, view, act):
        self.seen.append(view.inside.tolist())
        for job in view.queue:
            if act.fits(job):
                act.start(job)


def test_python_policies_see_it():
    policy, memory = Looks(), 1 << 60
    rows = ({"cores": 1, "ssd": 4}, {"submit": 1.0, "cores": 1, "ssd": 7})
    result = fb.simulate(jobs(*rows), ssd(1), policy)
    assert starts(result) == {1: 0, 2: 10}
    assert policy.seen[:2] == [[[4, memory, 0, 10]], [[3, memory, 0, 6]]]
