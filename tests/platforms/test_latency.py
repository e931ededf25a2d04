"""Latencies of links, windows of streams, and devices that read and write at their own rates."""

import math

import pytest

from forebay.errors import InputError
from forebay.platforms import Platform, load
from forebay.platforms.tiers import node_local, pfs, shared_bb
from forebay.platforms.topologies.flat import Topology
from forebay.platforms.wires import Wire, joined

pytestmark = pytest.mark.small

CROSSBAR = Topology(bandwidth=12.5e9, latency=50e-6, window=4194304)
FILES = pfs.Tier(name="pfs", read=80e9, write=48e9, latency=500e-6)

ELASTISIM = """
nodes = 16
speed = "100 Gflop/s"

[topology]
kind = "flat"
bandwidth = "100 Gbit/s"
latency = "50 us"
window = "4 MiB"

[tiers.burst_buffer]
kind = "node_local"
read = "6 GB/s"
write = "2 GB/s"

[tiers.pfs]
kind = "pfs"
read = "80 GB/s"
write = "48 GB/s"
latency = "500 us"
"""


def fabric(*tiers, topology=CROSSBAR):
    return Platform(name="mine", nodes=4, topology=topology, tiers=tiers).fabric()


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return load(path)

    return read


def test_a_stream_waits_for_its_route_and_has_a_window_under_way():
    made = fabric(FILES)
    # 4194304 B / (2 x (50 + 500) us) = 3.813 GB/s, less than the port's 12.5 GB/s
    assert made.write == Wire({"pfs write": 1.0}, cap=pytest.approx(3813003636.3636), delay=pytest.approx(0.00055))
    assert made.read == Wire({"pfs read": 1.0}, cap=made.write.cap, delay=made.write.delay)
    assert made.latency == pytest.approx(100e-6)


def test_every_target_of_a_file_system_has_a_window_of_its_own():
    one, two = (fabric(FILES.model_copy(update={"targets": targets})).write for targets in (1, 2))
    assert two.cap == 2 * one.cap
    assert two.delay == one.delay
    assert fabric(FILES.model_copy(update={"targets": 20})).write.cap == 12.5e9  # there the port limits


def test_without_a_window_latency_only_delays():
    made = fabric(FILES, topology=Topology(bandwidth=12.5e9, latency=50e-6))
    assert made.write == Wire({"pfs write": 1.0}, cap=12.5e9, delay=pytest.approx(0.00055))


def test_traffic_past_all_ports_is_past_their_latency():
    made = fabric(FILES.model_copy(update={"through_ports": False}))
    assert made.write == Wire({"pfs write": 1.0}, cap=pytest.approx(4194304 / 0.001), delay=pytest.approx(0.0005))


def test_without_latencies_there_is_no_delay_and_no_bound():
    made = fabric(pfs.Tier(name="pfs", bandwidth=5e9), topology=Topology(bandwidth=1e9, window=1))
    assert made.read == made.write == Wire({"pfs": 1.0}, cap=1e9)
    assert (made.latency, made.device) == (0.0, math.inf)


def test_shared_buffers_stand_at_the_end_of_a_nodes_link():
    made = fabric(shared_bb.Tier(name="bb", capacity=100, servers=2, bandwidth=4e9), FILES)
    (store,) = made.stores
    assert store.checkpoint[0][0].cap == 12.5e9  # two parts of 4194304 B / 100 us = 42 GB/s each
    assert store.checkpoint[0][0].delay == 50e-6
    assert store.stage_in[0].delay == 500e-6
    assert store.stage_in[0].cap == pytest.approx(4194304 / 0.001)


def test_a_device_in_every_node_reads_and_writes_at_its_own_rates():
    made = fabric(node_local.Tier(name="disk", read=6e9, write=2e9), FILES)
    (store,) = made.stores
    assert store.checkpoint == ((Wire({}, cap=2e9),),)  # no latency inside a node
    assert store.fetch == ((Wire({}, cap=6e9),),)
    assert made.device == 6e9
    assert store.stage_in[0].cap == 2e9
    assert store.stage_out[0].cap == pytest.approx(3813003636.3636)
    assert store.stage_out[0].delay == pytest.approx(0.00055)


def test_a_device_without_capacity_cannot_run_full():
    machine = Platform(name="mine", nodes=4, tiers=(node_local.Tier(name="disk", bandwidth=1e9), FILES))
    assert machine.capacities == (4,)
    assert machine.resources == ("nodes",)
    assert [tier.name for tier in machine.ways] == ["pfs"]
    assert machine.fabric().buffer == "disk"


def test_joined_wires_add_their_delays():
    assert joined(Wire({"a": 1.0}, delay=0.25), Wire({"b": 1.0}, cap=3.0, delay=0.5)).delay == 0.75


def test_a_file_names_units(read):
    machine = read(ELASTISIM)
    assert machine.topology == CROSSBAR
    assert machine.tiers == (node_local.Tier(name="burst_buffer", read=6e9, write=2e9), FILES)
    assert str(machine) == (
        "mine (16 nodes of 100 Gflop/s; flat, 12.5 GB/s a node, 50 us a link, windows of 4 MiB; burst_buffer: burst "
        "buffer in every node, read 6 GB/s, write 2 GB/s; pfs: parallel file system, read 80 GB/s, write 48 GB/s, "
        "500 us away)"
    )


def test_descriptions_tell_of_them_only_where_they_are_set():
    said = Platform(name="mine", nodes=4, topology=CROSSBAR, tiers=(FILES,)).describe()
    assert said["topology"]["window"] == 4194304
    assert said["tiers"][0]["latency"] == 500e-6
    silent = load("flat:nodes=4,pfs=1GB/s").describe()
    assert not {"latency", "window", "targets"} & {*silent["topology"], *silent["tiers"][0]}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"50 us"', "0.00005", "5e-05' is not a latency; write a time such as"),
        ('"50 us"', '"50"', "'50' is not a latency"),
        ('"50 us"', '"2 s"', "is no latency from 0 to 1 s"),
        ('"50 us"', '"-1 us"', "is not a latency"),
        ('"4 MiB"', '"0 B"', "is not above 0"),
        ('write = "2 GB/s"', "", "write read and write, or neither"),
        ('read = "6 GB/s"', 'read = "6 GB/s"\nbandwidth = "1 GB/s"', "given beside bandwidth"),
        ('read = "6 GB/s"', 'read = "6 GB/s"\nlarge = "1 TB"\nlarge_nodes = 2', "given without capacity"),
        ('latency = "500 us"', "targets = 0", "is not above 0"),
    ],
)
def test_mistakes_in_a_file(read, old, new, complaint):
    with pytest.raises(InputError, match=complaint):
        read(ELASTISIM.replace(old, new))
