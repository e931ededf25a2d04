"""Platforms by spec: presets, their parameters, and files with overrides."""

import pytest

from forebay.errors import InputError
from forebay.platforms import Platform, load, names
from forebay.platforms.tiers import pfs, pool, shared_bb
from forebay.platforms.topologies import dragonfly, flat

pytestmark = pytest.mark.small


def complaint(spec):
    with pytest.raises(InputError) as caught:
        load(spec)
    return str(caught.value)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        "nodes = 100\n"
        '[tiers.burst_buffer]\nkind = "shared_bb"\ncapacity = "10 TB"\n'
        '[tiers.pfs]\nkind = "pfs"\nread = "5 GB/s"\nwrite = "5 GB/s"\n'
        '[tiers.licences]\nkind = "pool"\ncapacity = 12\n'
    )
    return path


def test_presets_are_found_by_looking():
    assert {"dragonfly-96", "dragonfly-96-nic", "flat", "table1", "trinity", "trinity-io"} <= set(names())


def test_table1():
    machine = load("table1")
    assert machine.resources == ("nodes", "burst_buffer")
    assert machine.capacities == (4, 10 * 10**12)


def test_flat_with_everything():
    machine = load("flat:nodes=100, burst_buffer=10TB, speed=2 Gflop/s, pfs=5GB/s, port=10Gbit/s")
    assert machine.resources == ("nodes", "burst_buffer")  # a file system never runs full
    assert machine.capacities == (100, 10**13)
    assert machine.speed == 2e9
    assert machine.topology.port == 1.25e9
    assert [tier.name for tier in machine.tiers] == ["burst_buffer", "pfs"]


def test_flat_with_nodes_alone():
    assert load("flat:nodes=7") == Platform(name="flat", nodes=7)
    assert load("flat:nodes=7").resources == ("nodes",)


def test_dragonfly_96_is_the_published_machine():
    machine = load("dragonfly-96")
    assert machine.topology == dragonfly.Topology(
        groups=3,
        chassis=4,
        routers=3,
        ports=3,
        storage=1,
        bandwidth=1.25e9,
        routing="simgrid",
        far_order="name",
    )
    assert machine.tiers == (
        shared_bb.Tier(name="burst_buffer", capacity=480 * 10**9, placement="chunked", servers=12),
        pfs.Tier(name="pfs", bandwidth=5e9, through_ports=False),
    )
    assert (machine.capacities, machine.speed) == ((96, 480 * 10**9), 1e9)


def test_dragonfly_96_nic_differs_in_routes_ports_and_far_servers_alone():
    plain, nic = load("dragonfly-96").describe(), load("dragonfly-96-nic").describe()
    for part in (plain, nic):
        del part["name"], part["text"], part["topology"]["text"], part["tiers"][1]["text"]
    assert (nic["topology"].pop("routing"), nic["tiers"][1].pop("through_ports")) == ("minimal", True)
    assert (plain["topology"].pop("routing"), plain["tiers"][1].pop("through_ports")) == ("simgrid", False)
    assert (nic["topology"].pop("far_order"), plain["topology"].pop("far_order")) == ("number", "name")
    assert plain == nic


def test_trinity():
    machine = load("trinity")
    assert machine.capacities == (300_000, 4 * 10**15)
    assert machine.tiers == (
        shared_bb.Tier(name="burst_buffer", capacity=4 * 10**15, per_job=8e9),
        pfs.Tier(name="pfs", per_job=8e9),
    )
    machine = load("trinity:cores=302976,burst_buffer=3PB,per_job=4GB/s,shared=100GB/s")
    assert machine.capacities == (302_976, 3 * 10**15)
    assert machine.tiers == (
        shared_bb.Tier(name="burst_buffer", capacity=3 * 10**15, bandwidth=100e9, per_job=4e9),
        pfs.Tier(name="pfs", read=100e9, write=100e9, per_job=4e9),
    )
    assert load("trinity-io").tiers == (pfs.Tier(name="pfs", per_job=2.5e9),)
    assert load("trinity-io:cores=7,shared=5GB/s").tiers == (pfs.Tier(name="pfs", read=5e9, write=5e9, per_job=2.5e9),)
    assert load("trinity-io:cores=7").capacities == (7,)


def test_admire2023():
    machine = load("admire2023")
    assert (machine.capacities, machine.speed) == ((500,), 100e9)
    assert machine.topology == flat.Topology(bandwidth=12.5e9)
    assert machine.tiers == (pfs.Tier(name="pfs", read=48e9, write=48e9),)
    machine = load("admire2023:nodes=16,pfs=24GB/s")
    assert machine.capacities == (16,)
    assert machine.tiers == (pfs.Tier(name="pfs", read=24e9, write=24e9),)


def test_admire2023_bounds_streams_as_elastisim_does():
    machine = load("admire2023:bound=true")
    assert machine.topology == flat.Topology(bandwidth=12.5e9, latency=50e-6, window=4194304)
    assert machine.tiers == (pfs.Tier(name="pfs", read=48e9, write=48e9, latency=500e-6),)
    assert machine.topology.bound(550e-6) == pytest.approx(3.813e9, rel=1e-4)
    assert load("admire2023:bound=no") == load("admire2023")


def test_admire2023_has_a_pool_of_bandwidth():
    machine = load("admire2023:share=1.5")
    assert machine.tiers[1:] == (pool.Tier(name="bandwidth", capacity=72 * 10**9),)
    assert load("admire2023:share=0.25,pfs=24GB/s").capacities == (500, 6 * 10**9)


def test_far_servers_by_name():
    # Slots of servers 0, 1, ... are 0, 9, 18, ...; as text "9" comes after "81". Site 12 is the first of group 1,
    # chassis 4: its own server 4, then 5 6 7 of its group, then the others by the text of 0 9 18 27 72 81 90 99.
    assert load("dragonfly-96").fabric().near[12].tolist() == [4, 5, 6, 7, 0, 2, 3, 8, 9, 1, 10, 11]
    assert load("dragonfly-96-nic").fabric().near[12].tolist() == [4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11]


def test_dragonfly_96_with_everything_set():
    machine = load("dragonfly-96:burst_buffer=960GB,placement=pooled,pfs=10GB/s,bandwidth=25Gbit/s")
    assert machine.capacities == (96, 960 * 10**9)
    assert machine.topology.bandwidth == 3.125e9
    assert (machine.tiers[0].placement, machine.tiers[1].bandwidth) == ("pooled", 10e9)


def test_a_platform_is_returned_as_it_is():
    machine = load("table1")
    assert load(machine) is machine


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("flt:nodes=3", "unknown platform 'flt': did you mean 'flat'?"),
        ("flat", "platform 'flat': nodes: missing; write nodes=100"),
        ("flat:nodes=abc", "nodes: 'abc' is not a whole number; write a number such as 100"),
        ("flat:nodes=1.5", "nodes: '1.5' is not a whole number"),
        ("flat:nodes=0", "nodes: 0 is not above 0"),
        ("flat:nodes=-4", "nodes: '-4' is not a whole number"),
        ("flat:nodes=1000000000000", "nodes: 1,000,000,000,000 nodes are more than the 16,000,000"),
        ("flat:nodes=4,burst_bufer=1TB", "burst_bufer: unknown key; did you mean 'burst_buffer'?"),
        ("flat:nodes=4,burst_buffer=10", "burst_buffer: '10' has no unit"),
        ("flat:nodes=4,burst_buffer=0B", "burst_buffer: 0 is not above 0"),
        ("flat:nodes=4,pfs=0GB/s", "pfs: zero bandwidth is refused"),
        ("flat:nodes=4,speed=1e9", "speed: '1e9' has no unit"),
        ("flat:nodes=4,port=0GB/s", "port: zero bandwidth is refused"),
        ("dragonfly-96:nodes=100", "nodes: unknown key; known: bandwidth, burst_buffer, pfs, placement"),
        ("dragonfly-96:placement=chunky", "placement: 'chunky' is not known; write 'pooled' or 'chunked'"),
        ("dragonfly-96:burst_buffer=0B", "burst_buffer: 0 is not above 0"),
        ("dragonfly-96:bandwidth=0GB/s", "bandwidth: zero bandwidth is refused"),
        ("dragonfly-96-nic:burst_buffer=11B", "tiers: burst_buffer has 11 bytes for 12 servers, less than a byte each"),
        ("table1:nodes=3", "nodes: unknown key; nothing can be set here"),
        ("admire2023:share=0", "share: zero ratio is refused"),
        ("admire2023:bound=maybe", "bound: 'maybe' is not true or false"),
        ("flat:nodes", "'nodes' is not key=value"),
    ],
)
def test_bad_specs(spec, message):
    assert message in complaint(spec)


def test_all_problems_of_a_spec_come_at_once():
    text = complaint("flat:nodes=x,burst_buffer=10")
    assert "2 problems" in text
    assert "nodes: " in text
    assert "burst_buffer: " in text


def test_a_file_by_path(mine):
    assert load(str(mine)) == load(mine)
    assert load(mine).name == "mine"  # the file's, where it gives none
    assert load(mine).capacities == (100, 10**13, 12)


def test_overrides_after_a_file(mine):
    machine = load(f"{mine}:nodes=200,burst_buffer=20TB,licences=24")
    assert machine.capacities == (200, 20 * 10**12, 24)


def test_a_file_without_suffix_is_found_unless_a_preset_has_its_name(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "machine").write_text(mine.read_text())
    (tmp_path / "table1").write_text(mine.read_text())
    assert load("machine:nodes=3").nodes == 3
    assert load("table1").nodes == 4


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ("node=3", "node: cannot be set after the file's name; did you mean 'nodes'?"),
        ("pfs=3TB", "pfs: this tier has no capacity to set"),
        ("nodes=many", "nodes: 'many' is not a whole number"),
        ("burst_buffer=20", "tiers.burst_buffer.capacity: '20' has no unit"),
        ("licences=2.5", "tiers.licences.capacity: '2.5' has no unit"),
    ],
)
def test_bad_overrides_name_file_and_field(mine, overrides, message):
    text = complaint(f"{mine}:{overrides}")
    assert text.startswith(f"{mine}: ")
    assert message in text


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_text_that_can_name_no_file(name):
    with pytest.raises(InputError, match=r"unknown platform|cannot be seen"):
        load(name)


def test_a_missing_file(tmp_path):
    text = complaint(str(tmp_path / "none.toml"))
    assert "none.toml: no such file" in text
    assert "table1" in text
