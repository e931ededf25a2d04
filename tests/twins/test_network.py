"""The twin's network by hand, and the platform's own held against it."""

import math
import random

import pytest

from cases import transfers
from forebay import platforms
from forebay.platforms.topologies import dragonfly
from twins import sharing as naive
from twins.network import Dragonfly, Network, fill

pytestmark = pytest.mark.small

PAPER, NIC = platforms.load("dragonfly-96"), platforms.load("dragonfly-96-nic")


def test_filling():
    # Link a of 6 for three, link b of 10 for two of them at half load, one of them capped at 1: it stops there, the
    # others get (6 - 1) / 2 each; the one on b alone with load 1 gets 10 - 1.25 = 8.75.
    capacity = {"a": 6.0, "b": 10.0}.get
    rates = fill(
        capacity, [(1.0, {"a": 1.0}), (math.inf, {"a": 1.0}), (math.inf, {"a": 1.0, "b": 0.5}), (9.0, {"b": 1.0})]
    )
    assert rates == [1.0, 2.5, 2.5, 8.75]


@pytest.mark.parametrize("seed", range(20))
def test_filling_in_fractions(seed):
    rng = random.Random(seed)
    capacity = [rng.choice((1, 2, 3, 5, 8)) for _ in range(rng.randint(1, 4))]
    wants = []
    for _ in range(rng.randint(1, 12)):
        crossed = rng.sample(range(len(capacity)), rng.randint(1, len(capacity)))
        wants.append((rng.choice((math.inf, math.inf, 0.5, 2)), {k: rng.choice((1, 1, 0.5)) for k in crossed}))
    exact = naive.share_bandwidth(capacity, [(1, *want) for want in wants])
    assert fill(capacity.__getitem__, wants) == [pytest.approx(float(rate), rel=1e-12) for rate in exact]


def test_routes_by_hand():
    shape = Network(PAPER).shape
    # From group 0, chassis 2, router 0 to group 1, chassis 3, router 2.
    assert shape.route((0, 2, 0), (1, 3, 2)) == [
        ("green", 0, 2, 0, 1),
        ("black", 0, 1, 2, 0),
        ("blue", 0, 1),
        ("green", 1, 0, 0, 2),
        ("black", 1, 2, 0, 3),
    ]
    # In a group the two kinds differ: SimGrid leaves from chassis 0 after the green hop.
    assert shape.route((0, 2, 0), (0, 2, 1)) == [("green", 0, 2, 0, 1), ("black", 0, 1, 0, 2)]
    assert shape.route((0, 2, 0), (0, 0, 1)) == [("green", 0, 2, 0, 1)]
    assert shape.route((0, 2, 1), (0, 3, 1)) == [("black", 0, 1, 2, 3)]
    shape = Network(NIC).shape
    assert shape.route((0, 2, 0), (0, 2, 1)) == [("green", 0, 2, 0, 1)]
    assert shape.route((0, 2, 0), (0, 0, 1)) == [("green", 0, 2, 0, 1), ("black", 0, 1, 2, 0)]


def test_order_of_servers_by_hand():
    # 3 groups x 4 chassis x 9 slots: servers 0 to 3 on slots 0, 9, 18, 27; 4 to 7 on 36, 45, 54, 63; 8 to 11 on 72, 81,
    # 90, 99. Seen from group 1, chassis 1: its own server 5, those of the group, then the others. As text the slots of
    # those go "0" "18" "27" "72" "81" "9" "90" "99". From group 0 there is no difference; of 11 servers the last is
    # left out.
    shape = {"groups": 3, "chassis": 4, "routers": 3, "ports": 3, "storage": 1, "bandwidth": 1.0}
    number, text = (Dragonfly(dragonfly.Topology(**shape, far_order=order)) for order in ("number", "name"))
    assert number.near((1, 1, 2), 12) == [5, 4, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]
    assert text.near((1, 1, 2), 12) == [5, 4, 6, 7, 0, 2, 3, 8, 9, 1, 10, 11]
    assert text.near((2, 3, 0), 12) == [11, 8, 9, 10, 0, 2, 3, 4, 5, 6, 7, 1]
    for shape in (number, text):
        assert shape.near((0, 2, 0), 11) == [2, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10]


def name(link):
    """A link as the platform calls it."""
    kind, *rest = link
    forms = {"green": "green g{}c{} r{}>r{}", "black": "black g{}r{} c{}>c{}", "blue": "blue g{}>g{}"}
    return forms[kind].format(*rest)


@pytest.mark.parametrize("seed", range(30))
def test_fabric_agrees(seed):
    """Routes, sites, orders of servers and capacities of the platform's own fabric."""
    platform = PAPER if seed == 0 else transfers.make(seed)[1]
    fabric, network = platform.fabric(), Network(platform)
    sites = sorted(set(network.shape.nodes + network.server_place)) if fabric.n_sites > 1 else [(0, 0, 0)]
    number = {place: site for site, place in enumerate(sites)}
    assert fabric.n_sites == len(sites)
    assert [number[place] for place in network.shape.nodes] == fabric.site.tolist()
    assert [network.server_size] * network.n_servers == fabric.server_capacity.tolist()
    for a, place in enumerate(sites):
        assert network.shape.near(place, network.n_servers) == fabric.near[a].tolist()
        for b, other in enumerate(sites):
            first, last = fabric.first[a * len(sites) + b : a * len(sites) + b + 2]
            crossed = [fabric.names[link] for link in fabric.links[first:last]]
            assert crossed == [name(link) for link in network.shape.route(place, other)]
    for server in range(network.n_servers):
        assert rate(fabric, f"server{server} in") == rate(fabric, f"server{server} out") == network.of(("in", server))
    files = fabric.read is not None
    for wire, way in ((fabric.read, "read"), (fabric.write, "write")):
        assert files == any(tier.kind == "pfs" for tier in platform.tiers)
        if files:
            shared = {"pfs" if network.pfs[way] == ("pfs",) else f"pfs {way}": 1.0} if network.pfs[way] else {}
            assert (wire.links, wire.whole) == (shared, network.pfs_lane < math.inf)
            assert wire.cap == min(network.pfs_lane, network.port if network.through_ports else math.inf)
            assert [rate(fabric, link) for link in shared] == ([network.of(network.pfs[way])] if shared else [])
    for store in fabric.stores:
        inside = [wire for place in (*store.checkpoint, *store.fetch) for wire in place]
        assert {wire.whole for wire in inside} == {network.buffer_lane < math.inf}


def rate(fabric, link):
    """Bytes/s of a link by its name; inf where there is none."""
    return fabric.capacity[fabric.names.index(link)] if link in fabric.names else math.inf
