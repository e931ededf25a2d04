"""The fabric that the engine gets: which links there are, and where servers, nodes and the file system hang."""

import math

import numpy as np
import pytest

from forebay.platforms import Platform, load
from forebay.platforms.fabric import Store, Way
from forebay.platforms.tiers import fast, node_local, pfs, pool, shared_bb
from forebay.platforms.topologies import dragonfly, flat
from forebay.platforms.wires import Wire

pytestmark = pytest.mark.small

# Two chassis of two routers of two slots; the first slot of either chassis is for storage.
SMALL = dragonfly.Topology(groups=1, chassis=2, routers=2, ports=2, storage=1, bandwidth=1e9)
FABRIC_LINKS = 2 * 2 + 2 * 2  # green: two a chassis; black: two for either index of a router


def fabric(*tiers, topology=SMALL, nodes=6):
    return Platform(name="mine", nodes=nodes, topology=topology, tiers=tiers).fabric()


def buffer(**more):
    return shared_bb.Tier(**({"name": "bb", "capacity": 101} | more))


def test_dragonfly_96():
    made = load("dragonfly-96").fabric()
    assert made.names[186:188] == ("server0 in", "server0 out")
    assert made.names[-2:] == ("server11 out", "pfs")
    assert made.capacity.tolist() == [1.25e9] * (186 + 24) + [5e9]
    assert (made.port, made.n_sites) == (1.25e9, 36)
    assert made.read == made.write == Wire({"pfs": 1.0})
    assert made.server_capacity.tolist() == [40 * 10**9] * 12
    assert (made.buffer, made.chunked) == ("burst_buffer", True)
    (store,) = made.stores
    assert store.stage_in == store.stage_out == (Wire({"pfs": 1.0}),) * 12  # past all ports
    assert [wire.links["server7 in"] for wire in store.checkpoint[7]] == [1.0] * 36
    assert [wire.links["server7 out"] for wire in store.fetch[7]] == [1.0] * 36
    assert {wire.cap for wire in store.fetch[7]} == {1.25e9}
    assert len(set(made.names)) == len(made.names)
    through = load("dragonfly-96-nic").fabric()
    assert through.read == Wire({"pfs": 1.0}, cap=1.25e9)
    assert through.stores[0].stage_in[7] == Wire({"pfs": 1.0, "server7 in": 1.0})
    assert through.stores[0].stage_out[7] == Wire({"pfs": 1.0, "server7 out": 1.0})


def test_flat_has_one_site_and_no_links():
    made = load("flat:nodes=4").fabric()
    assert (made.names, made.capacity.size, made.links.size) == ((), 0, 0)
    assert (made.n_sites, made.site.tolist(), made.first.tolist()) == (1, [0] * 4, [0, 0])
    assert (made.port, made.read, made.write, made.buffer, made.chunked) == (math.inf, None, None, None, False)
    assert (made.stores, made.ways, made.near.shape) == ((), (), (1, 0))


def test_flat_with_ports_a_buffer_and_a_file_system():
    made = load("flat:nodes=4,burst_buffer=10TB,pfs=5GB/s,port=1GB/s").fabric()
    assert made.names == ("pfs read", "pfs write")
    assert made.capacity.tolist() == [5e9, 5e9]
    assert (made.read, made.write) == (Wire({"pfs read": 1.0}, cap=1e9), Wire({"pfs write": 1.0}, cap=1e9))
    assert made.server_capacity.tolist() == [10**13]
    (store,) = made.stores  # the port of nodes is not the server's
    assert (store.stage_in, store.stage_out) == ((Wire({"pfs read": 1.0}),), (Wire({"pfs write": 1.0}),))
    assert store.checkpoint == store.fetch == ((Wire({}, cap=1e9),),)


def test_servers_of_a_flat_machine_are_as_many_as_one_likes():
    tier = buffer(servers=3, placement="chunked", bandwidth=6e9)
    made = fabric(tier, topology=flat.Topology(bandwidth=1e9), nodes=2)
    assert made.names == ("server0 in", "server0 out", "server1 in", "server1 out", "server2 in", "server2 out")
    assert made.capacity.tolist() == [2e9] * 6
    assert made.near.tolist() == [[0, 1, 2]]
    assert made.server_capacity.tolist() == [33] * 3
    assert [wire for (wire,) in made.stores[0].checkpoint] == [Wire({f"server{k} in": 1.0}, 1e9) for k in range(3)]


def test_a_pool_is_striped_over_all_servers():
    made = fabric(buffer(servers=4, bandwidth=8e9), topology=flat.Topology(bandwidth=1e9), nodes=2)
    (store,) = made.stores
    ports = {f"server{k} {{}}": 0.25 for k in range(4)}
    assert store.checkpoint == ((Wire({name.format("in"): load for name, load in ports.items()}, 1e9),),)
    assert store.stage_out == (Wire({name.format("out"): load for name, load in ports.items()}),)


def test_servers_are_all_storage_slots_unless_fewer_are_named():
    assert fabric(buffer()).near.tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]
    made = fabric(buffer(servers=1))
    assert made.server_capacity.tolist() == [101]
    assert made.near.tolist() == [[0]] * 4


@pytest.mark.parametrize(("bandwidth", "port"), [(None, 1e9), (1e9, 5e8), (8e9, 1e9)])
def test_the_smaller_of_a_servers_share_and_the_networks_port_limits(bandwidth, port):
    made = fabric(buffer(bandwidth=bandwidth))
    assert made.names[FABRIC_LINKS:] == ("server0 in", "server0 out", "server1 in", "server1 out")
    assert made.capacity[FABRIC_LINKS:].tolist() == [port] * 4


def test_lanes_are_no_links():
    made = load("trinity").fabric()
    assert (made.names, made.buffer) == ((), "burst_buffer")
    lane = Wire({}, 8e9, whole=True)
    assert made.read == made.write == lane
    assert made.stores == (Store(((lane,),), ((lane,),), (lane,), (lane,)),)
    made = load("trinity:shared=40GB/s,per_job=4GB/s").fabric()
    assert made.names == ("server0 in", "server0 out", "pfs read", "pfs write")
    assert made.capacity.tolist() == [40e9] * 4
    assert made.write == Wire({"pfs write": 1.0}, 4e9, whole=True)
    assert made.stores[0].stage_in == (Wire({"pfs read": 1.0, "server0 in": 1.0}, 4e9, whole=True),)
    made = load("trinity-io").fabric()
    assert (made.names, made.read, made.stores) == ((), Wire({}, 2.5e9, whole=True), ())


def test_links_stand_in_the_order_of_tiers():
    made = fabric(pfs.Tier(name="scratch", read=5e9, write=2e9), buffer(servers=1))
    assert made.names[FABRIC_LINKS:] == ("scratch read", "scratch write", "server0 in", "server0 out")
    assert made.capacity[FABRIC_LINKS:].tolist() == [5e9, 2e9, 1e9, 1e9]
    shared = fabric(buffer(servers=1), pfs.Tier(name="scratch", bandwidth=5e9, through_ports=False))
    assert shared.names[FABRIC_LINKS:] == ("server0 in", "server0 out", "scratch")
    assert shared.read == shared.write == Wire({"scratch": 1.0})


def test_staging_uses_the_first_shared_buffer_then_the_first_in_the_nodes():
    local = node_local.Tier(name="nvme", capacity=10**12, bandwidth=2e9)
    slow = node_local.Tier(name="disk", capacity=10**12)
    licences = pool.Tier(name="licences", capacity=3)
    made = fabric(licences, local, buffer(), buffer(name="other"))
    assert (made.buffer, len(made.stores), len(made.server_capacity)) == ("bb", 1, 2)
    made = fabric(licences, local, slow)
    assert (made.buffer, made.chunked) == ("nvme", False)
    assert made.stores[0].checkpoint == ((Wire({}, 2e9),) * 4,)
    assert made.stores[0].stage_in == (Wire({}, 1e9),)  # behind its node's port
    assert (made.server_capacity.size, made.near.shape) == (0, (4, 0))
    assert fabric(slow).stores[0].checkpoint == ((Wire({}),) * 4,)


def test_arrays_have_the_types_that_kernels_are_compiled_for():
    for made in (load("dragonfly-96").fabric(), load("flat:nodes=4").fabric(), fabric(buffer())):
        assert made.capacity.dtype == np.float64
        assert made.site.dtype == np.int32
        for name in ("first", "links", "server_capacity", "near"):
            assert getattr(made, name).dtype == np.int64, name
        for name in ("capacity", "site", "first", "links", "near"):
            assert getattr(made, name).flags.c_contiguous, name


def test_ways_to_run_and_what_a_job_alone_gets_in_each():
    assert load("sas2019:slow=2GB/s,ratio=10,k=3").fabric().ways == (
        Way("slow", -1, 2e9, math.inf),
        Way("fast", 0, 20e9, 6e9),
    )
    files = pfs.Tier(name="scratch", read=5e9, write=2e9)
    made = fabric(buffer(servers=2, bandwidth=12e9), files, topology=flat.Topology())
    assert made.ways == (Way("scratch", -1, 2e9, math.inf), Way("bb", 0, 12e9, 2e9))
    # neither a chunk nor a node's device can be had or not as the policy likes
    flash = fast.Tier(name="flash", capacity=10**12, bandwidth=9e9, stage=1e9)
    made = fabric(buffer(placement="chunked"), files, flash)
    assert [way.name for way in made.ways] == ["scratch", "flash"]
    made = fabric(node_local.Tier(name="nvme", capacity=10**12), files, flash)
    assert made.ways[1] == Way("flash", 1, 9e9, 1e9)
