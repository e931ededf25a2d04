"""Windows where nodes have local devices of two sizes: what is wasted of them is an objective, the fewer the better."""

import polars as pl
import pytest

import forebay as fb
from cases import pooled as make
from forebay import policies
from forebay.errors import InputError
from forebay.platforms.platform import Platform
from forebay.platforms.tiers import node_local, shared_bb

pytestmark = pytest.mark.small

BUFFER = shared_bb.Tier(name="burst_buffer", capacity=10)
SSD = node_local.Tier(name="ssd", capacity=10, large=20, large_nodes=2)
MACHINE = Platform(name="two", nodes=4, tiers=(BUFFER, SSD))
"""Nodes 0 and 1 have 10 B of SSD, nodes 2 and 3 have 20 B."""
WINDOW = [name for name in policies.names() if name.startswith(("bbsched", "window-"))]


def first(spec, *rows):
    """Which of (nodes, buffer, SSD on each node) start at once; and on which nodes."""
    jobs = [
        {"id": i, "submit": 0.0, "walltime": 100.0, "nodes": n, "burst_buffer": buffer, "ssd": n * each}
        for i, (n, buffer, each) in enumerate(rows, 1)
    ]
    started = fb.simulate(make.workload(jobs), MACHINE, spec).jobs.filter(pl.col("starting_time") == 0)
    return dict(started.select("job_id", "allocated_resources").rows())


@pytest.mark.parametrize("spec", ["bbsched-exact", "bbsched", "window-weighted", "bbsched-exact:factor=4"])
def test_waste_decides(spec):
    """Two jobs of one node, each with all of the buffer, so that only one can start.

    Job 1 asks for 11 B and needs a large node: 11 B in use, 9 B wasted. Job 2 asks for 10 B and has a small one: 10 B
    in use, none wasted. Both use as many nodes and as much buffer, so both are on the front, job 1 first, for its use
    of SSDs. Job 2 loses 1/60 of the SSDs and gains 9/60 in waste.
    """
    rows = (1, 10, 11), (1, 10, 10)
    assert first(spec, *rows) == {2: "0"}
    given = f"{spec}{',' if ':' in spec else ':'}objectives=nodes/burst_buffer/ssd"
    assert first(given, *rows) == {1: "2"}


def test_a_set_is_worth_more_where_all_nodes_suit():
    """Any two of these jobs have all 4 nodes. 1 and 2 together spill over onto large nodes: 30 B in use, 30 B wasted.

    1 and 3: 50 B in use, 10 B wasted. 2 and 3: 60 B in use, none wasted, which beats both in everything. In order, 1
    and 2 start.
    """
    rows = (2, 0, 5), (2, 0, 10), (2, 0, 20)
    assert first("window-naive", *rows) == {1: "0-1", 2: "2-3"}
    for spec in ("bbsched-exact", "bbsched", "window-weighted", "window-constrained:objectives=ssd"):
        assert first(spec, *rows) == {2: "0-1", 3: "2-3"}
    assert first("window-constrained:objectives=ssd_waste", *rows) == {2: "0-1", 3: "2-3"}


def test_large_nodes_are_a_limit_and_no_objective():
    """Jobs 1 to 3 need a large node each, of which there are two; job 4 may have any."""
    rows = (1, 0, 20), (1, 0, 20), (1, 0, 20), (1, 0, 1)
    for spec in WINDOW:
        assert first(spec, *rows) == {1: "2", 2: "3", 4: "0"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("objectives=nodes/ssd_large", "objectives names 'ssd_large', which this machine does not have: did you mean"),
        ("objectives=nodes/tape", "objectives names 'tape', which this machine does not have"),
        ("weights=1/2/3", "3 numbers for 4 objectives (nodes, burst_buffer, ssd, ssd_waste)"),
    ],
)
def test_what_this_machine_does_not_have_is_refused(given, said):
    with pytest.raises(InputError) as error:
        first(f"window-weighted:{given}", (1, 0, 1))
    assert said in str(error.value)


def test_waste_is_no_objective_where_nodes_are_alike():
    machine = Platform(name="one", nodes=4, tiers=(node_local.Tier(name="ssd", capacity=10),))
    jobs = make.workload([{"id": 1, "submit": 0.0, "walltime": 1.0, "nodes": 1, "ssd": 1}])
    with pytest.raises(InputError, match="objectives names 'ssd_waste', which this machine does not have"):
        fb.simulate(jobs, machine, "bbsched:objectives=nodes/ssd_waste")
