"""Classes and partitions of nodes, by hand. One machine: nodes 0 and 1 are of class cpu, 2 and 3 big, 4 gpu.

Partition a has the classes cpu and big, b has big and gpu: they overlap on nodes 2 and 3.
"""

import dataclasses

import polars as pl
import pytest

import forebay
from cases import pooled
from forebay.errors import InputError, OversubscribedError
from forebay.explain import reasons
from forebay.platforms import NodeClass, Partition
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, shared_bb

pytestmark = pytest.mark.small

CLASSES = (
    NodeClass(name="cpu", nodes=2),
    NodeClass(name="big", nodes=2, memory=100, features=("fat",)),
    NodeClass(name="gpu", nodes=1, memory=50, gpus=2, gpu="a100", features=("fat", "nvlink")),
)
MACHINE = Platform(
    name="three",
    classes=CLASSES,
    partitions=(
        Partition(name="a", classes=("cpu", "big"), default=True),
        Partition(name="b", classes=("big", "gpu")),
    ),
)
QUEUES = {"a": 1, "b": 2, "a,b": 3}
FEATURES = {"": -1, "fat": 1, "fat&nvlink": 2}


def jobs(*rows, **columns):
    """(submit, walltime, nodes, queue), and features behind; ids from 1 on. More columns by name."""
    made = []
    for i, (submit, walltime, nodes, queue, *features) in enumerate(rows):
        row = {"id": i + 1, "submit": submit, "walltime": walltime, "nodes": nodes, "queue": QUEUES[queue]}
        row["features"] = FEATURES[features[0] if features else ""]
        made.append(row | {name: values[i] for name, values in columns.items()})
    names = {
        "queue": {k: name for name, k in QUEUES.items()},
        "features": {k: name for name, k in FEATURES.items() if k > 0},
    }
    return dataclasses.replace(pooled.workload(made), names=names)


def run(workload, policy="fcfs", machine=MACHINE):
    """(start, nodes) of each job."""
    return forebay.simulate(workload, machine, policy).jobs.select("starting_time", "allocated_resources").rows()


def test_the_machine():
    assert MACHINE.resources == ("nodes", "nodes.cpu", "nodes.big", "nodes.gpu")
    assert MACHINE.capacities == (5, 2, 2, 1)


def test_a_class_that_a_partition_divides():
    machine = Platform(
        name="cut", nodes=4, partitions=(Partition(name="a", nodes="0-1"), Partition(name="b", nodes="1-3"))
    )
    assert machine.resources == ("nodes", "nodes.1", "nodes.2", "nodes.3")
    assert machine.capacities == (4, 1, 1, 2)


def test_atom_by_atom_in_order():
    """Job 1 (3 nodes in a) has both cpu nodes and a big one. Job 2 (2 in b) has the other big one, and the GPU's."""
    result = forebay.simulate(jobs((0.0, 5.0, 3, "a"), (0.0, 7.0, 2, "b")), MACHINE, "fcfs")
    assert result.jobs["allocated_resources"].to_list() == ["0-2", "3-4"]
    rows = result.log.filter(pl.col("kind").is_in(["start", "acquire", "end", "release"]))
    assert rows.select("time", "job", "kind", "resource", "amount").rows() == [
        (0, 1, "start", "nodes", 3),
        (0, 1, "acquire", "nodes.cpu", 2),
        (0, 1, "acquire", "nodes.big", 1),
        (0, 2, "start", "nodes", 2),
        (0, 2, "acquire", "nodes.big", 1),
        (0, 2, "acquire", "nodes.gpu", 1),
        (5, 1, "end", "nodes", 3),
        (5, 1, "release", "nodes.cpu", 2),
        (5, 1, "release", "nodes.big", 1),
        (7, 2, "end", "nodes", 2),
        (7, 2, "release", "nodes.big", 1),
        (7, 2, "release", "nodes.gpu", 1),
    ]


@pytest.mark.parametrize("policy", ["filler", "fcfs-easy", "fcfs-bb", "conservative", "conservative-bb", "plan-2"])
def test_a_partition_that_is_full_blocks_no_other(policy):
    """Job 1 has all of b until 5; job 2 waits for it. Job 3, long, has the cpu nodes, of which job 2 has no use."""
    workload = jobs((0.0, 5.0, 3, "b"), (0.0, 5.0, 1, "b"), (0.0, 50.0, 2, "a"))
    assert run(workload, policy) == [(0, "2-4"), (5, "2"), (0, "0-1")]


def test_a_job_in_two_partitions_has_nodes_of_both():
    assert run(jobs((0.0, 5.0, 5, "a,b"), (0.0, 5.0, 1, "b"))) == [(0, "0-4"), (5, "2")]


@pytest.mark.parametrize("policy", ["fcfs-easy", "fcfs-bb", "conservative", "conservative-bb"])
def test_a_reservation_is_of_so_many_of_each_atom(policy):
    """Job 1 has nodes 2 and 3 until 5, job 2 node 4 until 9. Job 3 (3 nodes in b) is promised 9, with all of b.

    Job 4 (2 nodes in a, 20 s) may have the cpu nodes now. Job 5 (1 node in a, 20 s) would delay job 3 on a big one at
    5: it waits until 14, when job 3 ends. Job 6 (1 node, 4 s) fits in between.
    """
    workload = jobs(
        (0.0, 5.0, 2, "b"),
        (0.0, 9.0, 1, "b"),
        (0.0, 5.0, 3, "b"),
        (0.0, 20.0, 2, "a"),
        (0.0, 20.0, 1, "a"),
        (0.0, 4.0, 1, "a"),
    )
    assert run(workload, policy) == [(0, "2-3"), (0, "4"), (9, "2-4"), (0, "0-1"), (14, "2"), (5, "2")]


def test_features():
    """Who asks for fat has node 2 first; with nvlink besides, node 4. A class is a feature, too."""
    workload = jobs((0.0, 5.0, 1, "a,b", "fat"), (0.0, 5.0, 1, "b", "fat&nvlink"), (0.0, 5.0, 1, "b", "fat&nvlink"))
    assert run(workload, "filler") == [(0, "2"), (0, "4"), (5, "4")]


def test_memory_and_gpus_decide_where():
    """60 B on a node are in big ones only, and 100 B on two nodes in nodes 2 to 4. GPUs are in node 4."""
    columns = {"memory": [60, 100, 0], "gpus": [0, 0, 2]}
    workload = jobs((0.0, 5.0, 1, "b"), (0.0, 5.0, 2, "b"), (0.0, 5.0, 1, "b"), **columns)
    assert run(workload, "fcfs") == [(0, "2"), (0, "3-4"), (5, "4")]


def test_greedy_takes_the_first_atoms_though_another_split_would_serve_two():
    """Job 1 (2 nodes, anywhere) has the cpu nodes, as they come first, though big ones would leave those to nobody."""
    assert run(jobs((0.0, 5.0, 2, "a,b"), (0.0, 5.0, 3, "a"))) == [(0, "0-1"), (5, "0-2")]


class Picking:
    def __init__(self, *picks):
        self.picks, self.said = picks, []

    def decide(self, view, act):
        picks, self.picks = self.picks or (None,) * 9, ()
        for job, nodes in zip(view.queue, picks, strict=False):
            self.said.append(act.fits(job))
            if self.said[-1]:
                act.start(job, nodes=nodes)
                self.said.append(act.free)


def test_a_policy_in_python():
    """Job 1 (1 node in a) is put on node 3; job 2 (2 in b) has what is left of b; job 3 (3 in a) does not fit."""
    policy = Picking([3], None, None)
    workload = jobs((0.0, 5.0, 1, "a"), (0.0, 5.0, 2, "b"), (0.0, 5.0, 3, "a"))
    assert run(workload, policy) == [(0, "3"), (0, "2 4"), (5, "0-2")]
    assert policy.said[:5] == [True, [4, 2, 1, 1], True, [2, 2, 0, 0], False]


def test_picked_nodes_must_be_where_it_may_run():
    with pytest.raises(OversubscribedError, match="or not where it may run"):
        run(jobs((0.0, 5.0, 1, "a")), Picking([4]))


class Greedy:
    def decide(self, view, act):
        for job in view.queue:
            act.start(job)


def test_too_many_are_oversubscribed():
    said = "started job 2, which needs 2 nodes where it may run while 1 are free"
    with pytest.raises(OversubscribedError, match=said):
        run(jobs((0.0, 5.0, 2, "b"), (0.0, 5.0, 2, "b")), Greedy())


@pytest.mark.parametrize("spec", ["fcfs-bb:reservations=pinned", "plan-2:reservations=pinned"])
def test_pinned_reservations_are_refused(spec):
    with pytest.raises(InputError, match="this machine has classes or partitions of nodes, which are only counted"):
        run(jobs((0.0, 5.0, 1, "a")), spec)


def test_chunks_are_refused():
    tier = shared_bb.Tier(name="burst_buffer", capacity=10, servers=2, placement="chunked")
    machine = MACHINE.model_copy(update={"tiers": (tier,)})
    with pytest.raises(InputError, match="three has classes or partitions of nodes, and a buffer in chunks"):
        run(jobs((0.0, 5.0, 1, "a")), "fcfs", machine)


def test_two_kinds_within_classes():
    """Nodes 3 and 4 have 20 B of SSD, the others 10 B. Job 1 (11 B on a node, in a) can only have node 3."""
    tier = node_local.Tier(name="ssd", capacity=10, large=20, large_nodes=2)
    machine = MACHINE.model_copy(update={"tiers": (tier,)})
    assert machine.resources == ("nodes", "ssd", "nodes.cpu", "nodes.big.1", "nodes.big.2", "nodes.gpu")
    workload = jobs((0.0, 5.0, 1, "a"), (0.0, 5.0, 1, "b"), (0.0, 5.0, 1, "a"), ssd=[11, 11, 1])
    assert run(workload, "fcfs", machine) == [(0, "3"), (0, "4"), (0, "0")]


def test_explain_names_the_nodes_that_are_lacking():
    """Job 2 waits for node 4, which job 1 has until 5; four others are idle."""
    workload = jobs((0.0, 5.0, 1, "b", "fat&nvlink"), (0.0, 5.0, 1, "b", "fat&nvlink"))
    result = forebay.simulate(workload, MACHINE, "filler")
    assert result.jobs["allowed"].to_list() == [0b100, 0b100]
    found = reasons(result).filter(pl.col("job_id") == 2)
    assert found.select("start", "end", "slurm", "blocker").rows() == [(0, 5, "Resources", 1)]
    assert found["detail"].to_list() == [
        "nodes with fat and nvlink (--constraint=fat&nvlink): 0 of 1 are free; job 1 holds 1 until 5 s"
    ]
