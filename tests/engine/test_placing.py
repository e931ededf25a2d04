"""Jobs placed by a rule: any policy, with chunks on servers and without."""

import pytest

import forebay
from cases import pooled, transfers
from forebay.core.limits import PLACES
from forebay.errors import InputError
from forebay.platforms import Reservation
from forebay.platforms.tiers import shared_bb
from forebay.platforms.topologies.dragonfly import Topology
from forebay.policies import Placed, load
from forebay.workload.operations import first

pytestmark = pytest.mark.small


def machine():
    topology = Topology(groups=2, chassis=1, routers=2, ports=2, storage=0, bandwidth=1e9)
    return forebay.Platform(name="two", nodes=8, topology=topology)


def nodes_of(place):
    """8 nodes in groups 0-3 and 4-7. Jobs of 1, 2 and 4 nodes, all at once, in this order."""
    jobs = [{"id": n, "submit": 0.0, "walltime": 9.0, "nodes": n} for n in (1, 2, 4)]
    result = forebay.simulate(pooled.workload(jobs), machine(), f"fcfs+place={place}")
    return result.jobs["allocated_resources"].to_list()


def test_by_hand():
    found = {place: nodes_of(place) for place in PLACES if place != "random"}
    assert found == {
        "ids": ["0", "1-2", "3-6"],
        "contiguous": ["0", "1-2", "3-6"],
        "one-group": ["0", "1-2", "4-7"],
        "fewest-groups": ["0", "1-2", "4-7"],
        "spread": ["0", "1 4", "2-3 5-6"],  # after 0, group 1 has most; then both have 3, and the lower comes first
    }


def test_what_has_no_room_where_the_rule_puts_others_is_decided_again():
    """2 servers of 12 bytes, one a group of 5 nodes. A has 2 nodes with 6 bytes each, B 1 node with 12.

    On the lowest nodes chunks of A are on server 0, and that of B on server 1. Spread, A has one on each, and B waits
    for its end, though the policy saw room for both.
    """
    topology = Topology(groups=2, chassis=1, routers=2, ports=3, storage=1, bandwidth=1e9)
    buffer = shared_bb.Tier(name="burst_buffer", capacity=24, servers=2, placement="chunked")
    its = forebay.Platform(name="two", nodes=10, topology=topology, tiers=(buffer,))
    jobs = [(1, 2, 12), (2, 1, 12)]
    made = pooled.workload(
        [{"id": j, "submit": 0.0, "walltime": 10.0, "nodes": n, "burst_buffer": b} for j, n, b in jobs]
    )
    starts = {
        place: forebay.simulate(made, its, f"filler+place={place}").jobs["starting_time"].to_list()
        for place in ("ids", "one-group", "spread")
    }
    assert starts == {"ids": [0, 0], "one-group": [0, 0], "spread": [0, 10]}


@pytest.mark.parametrize(("policy", "place"), [("conservative-bb", "random"), ("plan-1", "spread"), ("filler", "ids")])
def test_jobs_with_chunks_run_under_every_policy(policy, place):
    made, its = transfers.make(2)
    result = forebay.simulate(made, its, Placed(load(policy), place), seed=1, job_model="io-aware")
    assert set(result.jobs["final_state"]) <= {"COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "REJECTED"}
    if place == "ids":
        same = forebay.simulate(made, its, policy, seed=1, job_model="io-aware")
        assert result.facts["log_sha256"] == same.facts["log_sha256"]


def test_random_nodes_are_those_of_the_seed():
    made = first(forebay.read("default"), 12)
    runs = [forebay.simulate(made, policy="filler+place=random", seed=seed) for seed in (1, 1, 2)]
    nodes = [run.jobs["allocated_resources"].to_list() for run in runs]
    assert nodes[0] == nodes[1] != nodes[2]


def test_without_groups_it_makes_no_difference():
    notes = forebay.simulate("table1", policy="fcfs+place=spread").facts["notes"]
    assert notes == ["place=spread makes no difference: the network of table1 has no groups"]


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="place is 'near'"):
        load("fcfs+place=near")
    its = machine().model_copy(update={"reservations": (Reservation(name="r", start=1.0, duration=2.0),)})
    made = pooled.workload([{"id": 1, "submit": 0.0, "walltime": 9.0, "nodes": 1}])
    with pytest.raises(InputError, match="has reservations"):
        forebay.simulate(made, its, "fcfs+place=spread")
