"""The Dragonfly: links, sites, routes and near orders, by hand and against slow loops that follow the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay.errors import InputError
from forebay.platforms import load
from forebay.platforms.topologies.dragonfly import Topology

pytestmark = pytest.mark.small

# Routers are written (group, chassis, router).
PAPER = {"groups": 3, "chassis": 4, "routers": 3, "ports": 3, "storage": 1, "bandwidth": 1.25e9}
MINIMAL, SIMGRID = Topology(**PAPER), Topology(**PAPER, routing="simgrid")

shapes = st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(0, 2)).map(
    lambda shape: {"groups": shape[0], "chassis": shape[1], "routers": shape[0] + shape[2], "ports": 1}
)


def site(topology, router):
    group, chassis, index = router
    return (group * topology.chassis + chassis) * topology.routers + index


def routers(topology):
    return list(itertools.product(range(topology.groups), range(topology.chassis), range(topology.routers)))


def routes(topology):
    """Names of the links from one router to another, by both."""
    network = topology.network(0, 0)

    def route(start, end):
        pair = site(topology, start) * network.n_sites + site(topology, end)
        return [network.names[k] for k in network.links[network.first[pair] : network.first[pair + 1]]]

    return route


def naive_route(topology, start, end):
    """Hop by hop, as the definition reads."""
    (g, c, r), (G, C, R) = start, end
    hops = []
    if g != G:
        if r != G:
            hops.append(f"green g{g}c{c} r{r}>r{G}")
        if c != 0:
            hops.append(f"black g{g}r{G} c{c}>c0")
        hops.append(f"blue g{g}>g{G}")
        c, r = 0, g
    if r != R:
        hops.append(f"green g{G}c{c} r{r}>r{R}")
        if topology.routing == "simgrid":
            c = 0
    if c != C:
        hops.append(f"black g{G}r{R} c{c}>c{C}")
    return hops


def walk(start, hops):
    """Where the links lead; each must begin where the one before it ended."""
    g, c, r = start
    for hop in hops:
        colour, *place, pair = hop.split()
        a, b = (int(end[1:]) for end in pair.split(">"))
        if colour == "green":
            assert (place, a) == ([f"g{g}c{c}"], r)
            r = b
        elif colour == "black":
            assert (place, a) == ([f"g{g}r{r}"], c)
            c = b
        else:
            assert (colour, place) == ("blue", [])
            assert (a, 0, b) == (g, c, r)  # the link to group b is at router b of chassis 0
            g, r = b, a
    return g, c, r


def test_links_of_the_papers_machine():
    network = MINIMAL.network(96, 12)
    colours = [name.split()[0] for name in network.names]
    # green: 12 chassis x 3 x 2; black: 3 groups x 3 routers x 4 x 3; blue: 3 x 2
    assert [colours.count(colour) for colour in ("green", "black", "blue")] == [72, 108, 6]
    assert len(set(network.names)) == len(network.names) == 186
    assert network.capacity.tolist() == [1.25e9] * 186


def test_storage_is_on_slots_divisible_by_9_and_nodes_are_on_the_others():
    network = MINIMAL.network(96, 12)
    assert network.server_site.tolist() == [slot // 3 for slot in range(0, 108, 9)]
    assert network.site.tolist() == [slot // 3 for slot in range(108) if slot % 9]
    # Node 0 is in slot 1, node 7 in slot 8, node 8 in slot 10, node 95 in slot 107.
    assert network.site[[0, 7, 8, 95]].tolist() == [0, 2, 3, 35]


def test_storage_may_fill_more_than_one_router():
    network = Topology(groups=1, chassis=2, routers=2, ports=2, storage=3, bandwidth=1e9).network(2, 6)
    assert network.server_site.tolist() == [0, 0, 1, 2, 2, 3]
    assert network.site.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("start", "end", "hops"),
    [
        ((0, 1, 2), (0, 1, 2), []),
        ((0, 0, 0), (0, 0, 1), ["green g0c0 r0>r1"]),
        ((0, 1, 2), (0, 3, 2), ["black g0r2 c1>c3"]),
        ((0, 0, 1), (0, 3, 2), ["green g0c0 r1>r2", "black g0r2 c0>c3"]),
        ((0, 0, 1), (1, 0, 0), ["blue g0>g1"]),
        ((0, 0, 0), (1, 0, 0), ["green g0c0 r0>r1", "blue g0>g1"]),
        ((0, 0, 1), (1, 2, 2), ["blue g0>g1", "green g1c0 r0>r2", "black g1r2 c0>c2"]),
        ((1, 3, 2), (2, 0, 1), ["black g1r2 c3>c0", "blue g1>g2"]),
        (
            (0, 2, 0),
            (2, 3, 1),
            ["green g0c2 r0>r2", "black g0r2 c2>c0", "blue g0>g2", "green g2c0 r0>r1", "black g2r1 c0>c3"],
        ),
        (
            (2, 3, 1),
            (0, 2, 0),
            ["green g2c3 r1>r0", "black g2r0 c3>c0", "blue g2>g0", "green g0c0 r2>r0", "black g0r0 c0>c2"],
        ),
    ],
)
@pytest.mark.parametrize("topology", [MINIMAL, SIMGRID], ids=lambda topology: topology.routing)
def test_routes_on_which_both_routings_agree(topology, start, end, hops):
    assert routes(topology)(start, end) == hops


@pytest.mark.parametrize(
    ("start", "end", "minimal", "simgrid"),
    [
        # in a chassis other than 0: SimGrid goes on to "leave" chassis 0
        ((0, 1, 0), (0, 1, 2), ["green g0c1 r0>r2"], ["green g0c1 r0>r2", "black g0r2 c0>c1"]),
        # across chassis: the black hop begins in chassis 0, where the transfer never was
        (
            (0, 1, 0),
            (0, 2, 2),
            ["green g0c1 r0>r2", "black g0r2 c1>c2"],
            ["green g0c1 r0>r2", "black g0r2 c0>c2"],
        ),
        # to chassis 0: the black hop is left out
        ((1, 2, 1), (1, 0, 0), ["green g1c2 r1>r0", "black g1r0 c2>c0"], ["green g1c2 r1>r0"]),
    ],
)
def test_routes_on_which_simgrid_differs(start, end, minimal, simgrid):
    """As SimGrid 3.32 gives them for a cluster of these sizes."""
    assert routes(MINIMAL)(start, end) == minimal
    assert routes(SIMGRID)(start, end) == simgrid


@settings(max_examples=25, deadline=None)
@given(shapes)
def test_every_minimal_route_is_connected_and_ends_at_its_target(shape):
    topology = Topology(**shape, bandwidth=1e9)
    route = routes(topology)
    for start, end in itertools.product(routers(topology), repeat=2):
        assert walk(start, route(start, end)) == end


@settings(max_examples=25, deadline=None)
@given(shapes, st.sampled_from(["minimal", "simgrid"]))
def test_routes_follow_the_definition(shape, routing):
    topology = Topology(**shape, bandwidth=1e9, routing=routing)
    route = routes(topology)
    for start, end in itertools.product(routers(topology), repeat=2):
        assert route(start, end) == naive_route(topology, start, end)


def test_near_orders_by_hand():
    near = MINIMAL.network(96, 12).near
    assert near.shape == (36, 12)
    assert near[site(MINIMAL, (0, 0, 0))].tolist() == list(range(12))
    assert near[site(MINIMAL, (0, 2, 1))].tolist() == [2, 0, 1, 3, *range(4, 12)]
    assert near[site(MINIMAL, (1, 1, 2))].tolist() == [5, 4, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]
    assert near[site(MINIMAL, (2, 3, 0))].tolist() == [11, 8, 9, 10, *range(8)]


def test_near_orders_with_two_servers_a_chassis_and_with_fewer_servers_than_slots():
    two = Topology(**{**PAPER, "storage": 2})
    near = two.network(84, 24).near
    assert near[site(two, (1, 0, 2))].tolist() == [8, 9, 10, 11, 12, 13, 14, 15, *range(8), *range(16, 24)]
    assert two.network(84, 3).near[site(two, (0, 1, 0))].tolist() == [2, 0, 1]
    assert two.network(84, 3).server_site.tolist() == [0, 0, 3]


def test_one_router_has_no_links():
    network = Topology(groups=1, chassis=1, routers=1, ports=4, bandwidth=1e9).network(4, 0)
    assert (network.names, network.links.tolist(), network.first.tolist()) == ((), [], [0, 0])
    assert network.near.shape == (1, 0)


def test_a_thousand_routers():
    topology = Topology(groups=8, chassis=16, routers=8, ports=4, storage=1, bandwidth=1e9)
    network = topology.network(3968, 128)
    assert len(network.first) == 1024**2 + 1
    assert network.first[-1] == len(network.links)
    assert np.diff(network.first).max() == 5
    assert len(network.names) == 128 * 8 * 7 + 8 * 8 * 16 * 15 + 8 * 7


def test_the_text_tells_sizes_storage_bandwidth_and_routing():
    assert MINIMAL.text == "dragonfly of 3 x 4 x 3 x 3 slots, 12 slots for storage, 1.25 GB/s a link"
    assert SIMGRID.text == MINIMAL.text + ", routes as SimGrid's"
    assert Topology(**{**PAPER, "storage": 0}).text == "dragonfly of 3 x 4 x 3 x 3 slots, 1.25 GB/s a link"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("nodes = 96", "nodes = 100"),
            "topology: groups x chassis x routers x ports = 3 x 4 x 3 x 3 = 108 slots, less 12 for storage, are 96 "
            "nodes, but nodes is 100; write nodes = 96 or other counts",
        ),
        (("groups = 3", "groups = 4"), "topology.routers: 4 groups need as many routers a chassis"),
        (
            ("chassis = 4", "chassis = 500"),
            "topology.routers: 3 groups x 500 chassis x 3 routers are 4,500 routers, more than the 2500",
        ),
        (("ports = 3", "ports = 0"), "topology.ports: 0 is not above 0"),
        (("ports = 3", ""), "topology.ports: missing; write ports = 3"),
        (("ports = 3", "port = 3\nports = 3"), "topology.port: unknown key; did you mean 'ports'?"),
        (
            ("storage = 1", "storage = 9"),
            "topology.storage: 9 storage slots leave no slot for nodes in a chassis of 9 slots (routers x ports); "
            "write at most 8",
        ),
        (("storage = 1", "storage = -1"), "topology.storage: -1 is below 0"),
        (("storage = 1", "storage = true"), "topology.storage: True is not a whole number"),
        (('"10 Gbit/s"', '"0 Gbit/s"'), "topology.bandwidth: zero bandwidth is refused"),
        (('bandwidth = "10 Gbit/s"', ""), 'topology.bandwidth: missing; write bandwidth = "5 GB/s"'),
        (('"simgrid"', '"shortest"'), "topology.routing: 'shortest' is not known; write 'minimal' or 'simgrid'"),
    ],
)
def test_mistakes_are_one_message_each(tmp_path, change, message):
    right = (
        'nodes = 96\n[topology]\nkind = "dragonfly"\ngroups = 3\nchassis = 4\nrouters = 3\nports = 3\nstorage = 1\n'
        'bandwidth = "10 Gbit/s"\nrouting = "simgrid"\n'
    )
    path = tmp_path / "mine.toml"
    path.write_text(right)
    assert load(path).topology == SIMGRID
    path.write_text(right.replace(*change))
    with pytest.raises(InputError) as caught:
        load(path)
    assert f"mine.toml: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_storage_may_be_zero(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'nodes = 8\n[topology]\nkind = "dragonfly"\ngroups = 1\nchassis = 2\nrouters = 2\nports = 2\nstorage = 0\n'
        'bandwidth = "1 GB/s"\n'
    )
    assert load(path).topology.server_slots == 0
