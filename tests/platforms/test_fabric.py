"""The fabric that the engine gets: which links there are, and where servers, nodes and the file system hang."""

import math

import numpy as np
import pytest

from forebay.platforms import Platform, load
from forebay.platforms.tiers import node_local, pfs, pool, shared_bb
from forebay.platforms.topologies import dragonfly, flat

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
    assert (made.port, made.n_sites, made.through_ports) == (1.25e9, 36, False)
    assert (made.pfs_read, made.pfs_write) == (210, 210)
    assert made.server_capacity.tolist() == [40 * 10**9] * 12
    assert made.server_in.tolist() == list(range(186, 210, 2))
    assert made.server_out.tolist() == list(range(187, 210, 2))
    assert (made.buffer, made.chunked, made.local) == ("burst_buffer", True, math.inf)
    assert load("dragonfly-96-nic").fabric().through_ports


def test_flat_has_one_site_and_no_links():
    made = load("flat:nodes=4").fabric()
    assert (made.names, made.capacity.size, made.links.size) == ((), 0, 0)
    assert (made.n_sites, made.site.tolist(), made.first.tolist()) == (1, [0] * 4, [0, 0])
    assert (made.port, made.pfs_read, made.pfs_write, made.buffer, made.chunked) == (math.inf, -1, -1, None, False)
    assert (made.server_site.size, made.near.shape) == (0, (1, 0))


def test_flat_with_ports_a_buffer_and_a_file_system():
    made = load("flat:nodes=4,burst_buffer=10TB,pfs=5GB/s,port=1GB/s").fabric()
    assert made.names == ("pfs read", "pfs write")
    assert made.capacity.tolist() == [5e9, 5e9]
    assert (made.pfs_read, made.pfs_write, made.port) == (0, 1, 1e9)
    assert made.server_capacity.tolist() == [10**13]
    assert made.server_in.tolist() == made.server_out.tolist() == [-1]  # the port of nodes is not the server's


def test_servers_of_a_flat_machine_are_as_many_as_one_likes():
    tier = buffer(servers=3, placement="chunked", bandwidth=6e9)
    made = fabric(tier, topology=flat.Topology(bandwidth=1e9), nodes=2)
    assert made.names == ("server0 in", "server0 out", "server1 in", "server1 out", "server2 in", "server2 out")
    assert made.capacity.tolist() == [2e9] * 6
    assert made.near.tolist() == [[0, 1, 2]]
    assert made.server_site.tolist() == [0, 0, 0]
    assert made.server_capacity.tolist() == [33] * 3


def test_servers_are_all_storage_slots_unless_fewer_are_named():
    assert fabric(buffer()).server_site.tolist() == [0, 2]
    made = fabric(buffer(servers=1))
    assert made.server_site.tolist() == [0]
    assert made.near.tolist() == [[0]] * 4


@pytest.mark.parametrize(("bandwidth", "port"), [(None, 1e9), (1e9, 5e8), (8e9, 1e9)])
def test_the_smaller_of_a_servers_share_and_the_networks_port_limits(bandwidth, port):
    made = fabric(buffer(bandwidth=bandwidth))
    assert made.names[FABRIC_LINKS:] == ("server0 in", "server0 out", "server1 in", "server1 out")
    assert made.capacity[FABRIC_LINKS:].tolist() == [port] * 4


def test_lanes_are_no_links():
    made = load("trinity").fabric()
    assert (made.names, made.files, made.pfs_read, made.pfs_write) == ((), True, -1, -1)
    assert (made.pfs_lane, made.buffer_lane, made.buffer) == (8e9, 8e9, "burst_buffer")
    made = load("trinity:shared=40GB/s,per_job=4GB/s").fabric()
    assert made.names == ("server0 in", "server0 out", "pfs read", "pfs write")
    assert made.capacity.tolist() == [40e9] * 4
    assert (made.pfs_lane, made.buffer_lane) == (4e9, 4e9)
    made = load("trinity-io").fabric()
    assert (made.names, made.files, made.pfs_lane, made.buffer_lane) == ((), True, 2.5e9, math.inf)
    made = load("flat:nodes=4").fabric()
    assert (made.files, made.pfs_lane, made.buffer_lane) == (False, math.inf, math.inf)


def test_links_of_the_file_system_come_last():
    made = fabric(pfs.Tier(name="scratch", read=5e9, write=2e9), buffer())
    assert made.names[-2:] == ("scratch read", "scratch write")
    assert made.capacity[[made.pfs_read, made.pfs_write]].tolist() == [5e9, 2e9]
    assert made.through_ports
    shared = fabric(pfs.Tier(name="scratch", bandwidth=5e9, through_ports=False), buffer())
    assert shared.names[-1] == "scratch"
    assert shared.pfs_read == shared.pfs_write == len(shared.names) - 1
    assert not shared.through_ports


def test_staging_uses_the_first_shared_buffer_then_the_first_in_the_nodes():
    local = node_local.Tier(name="nvme", capacity=10**12, bandwidth=2e9)
    slow = node_local.Tier(name="disk", capacity=10**12)
    licences = pool.Tier(name="licences", capacity=3)
    made = fabric(licences, local, buffer(), buffer(name="other"))
    assert (made.buffer, made.local, len(made.server_site)) == ("bb", math.inf, 2)
    made = fabric(licences, local, slow)
    assert (made.buffer, made.local, made.chunked) == ("nvme", 2e9, False)
    assert (made.server_site.size, made.near.shape) == (0, (4, 0))
    assert fabric(slow).local == math.inf


def test_arrays_have_the_types_that_kernels_are_compiled_for():
    for made in (load("dragonfly-96").fabric(), load("flat:nodes=4").fabric(), fabric(buffer())):
        assert made.capacity.dtype == np.float64
        assert made.site.dtype == np.int32
        for name in ("first", "links", "server_site", "server_capacity", "server_in", "server_out", "near"):
            assert getattr(made, name).dtype == np.int64, name
        for name in ("capacity", "site", "first", "links", "server_site", "near"):
            assert getattr(made, name).flags.c_contiguous, name
