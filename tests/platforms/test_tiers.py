"""Tiers that move data: what may be written of them, what it means, and what is said of mistakes."""

import pytest

import forebay
from cases import pooled, tiered, transfers
from forebay.core.schemas import TAKEN
from forebay.errors import InputError
from forebay.platforms import Platform, load
from forebay.platforms.tiers import node_local, pfs, pool, shared_bb

pytestmark = pytest.mark.small

EITHER = "write either bandwidth, which reads and writes share, or both read and write"
DRAGONFLY = (
    'nodes = 6\n[topology]\nkind = "dragonfly"\ngroups = 1\nchassis = 2\nrouters = 2\nports = 2\nstorage = 1\n'
    'bandwidth = "1 GB/s"\n'
)
BB = '[tiers.bb]\nkind = "shared_bb"\ncapacity = "1 TB"\n'
CHUNKED = BB + 'placement = "chunked"\n'
PFS = '[tiers.pfs]\nkind = "pfs"\n'
LOCAL = '[tiers.nvme]\nkind = "node_local"\ncapacity = "1 TB"\n'
TWO = LOCAL + 'large = "2 TB"\nlarge_nodes = 2\n'


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return load(path)

    return read


def test_a_file_system_with_one_link_or_two(read):
    shared = read("nodes = 4\n" + PFS + 'bandwidth = "5 GB/s"\nthrough_ports = false\n').tiers[0]
    assert shared == pfs.Tier(name="pfs", bandwidth=5e9, through_ports=False)
    assert shared.text == "parallel file system, 5 GB/s for reads and writes, past all ports"
    apart = read("nodes = 4\n" + PFS + 'read = "5 GB/s"\nwrite = "2 GB/s"\n').tiers[0]
    assert apart == pfs.Tier(name="pfs", read=5e9, write=2e9)
    assert apart.through_ports


def test_a_buffer_on_servers(read):
    machine = read(DRAGONFLY + CHUNKED + 'servers = 2\nbandwidth = "3 GB/s"\n')
    assert machine.tiers[0] == shared_bb.Tier(name="bb", capacity=10**12, placement="chunked", servers=2, bandwidth=3e9)
    assert machine.tiers[0].text == "1 TB of shared burst buffer in chunks on 2 servers at 3 GB/s"
    assert read("nodes = 4\n" + BB + "servers = 1").tiers[0].text == "1 TB of shared burst buffer on 1 server"


def test_lanes_for_each_job(read):
    lanes = 'per_job = "8 GB/s"\n'
    alone = read("nodes = 4\n" + BB + lanes + PFS + lanes)
    assert alone.tiers == (
        shared_bb.Tier(name="bb", capacity=10**12, per_job=8e9),
        pfs.Tier(name="pfs", per_job=8e9),
    )
    assert alone.tiers[0].text == "1 TB of shared burst buffer, 8 GB/s a job"
    assert alone.tiers[1].text == "parallel file system, 8 GB/s a job"
    assert alone.describe()["tiers"][1]["per_job"] == 8e9
    both = read("nodes = 4\n" + BB + lanes + 'bandwidth = "10 GB/s"\n' + PFS + lanes + 'bandwidth = "10 GB/s"\n')
    assert both.tiers[0].text == "1 TB of shared burst buffer at 10 GB/s, 8 GB/s a job"
    assert both.tiers[1].text == "parallel file system, 10 GB/s for reads and writes, 8 GB/s a job"
    apart = read("nodes = 4\n" + PFS + lanes + 'read = "10 GB/s"\nwrite = "9 GB/s"\nthrough_ports = false')
    assert apart.tiers[0].text == "parallel file system, read 10 GB/s, write 9 GB/s, 8 GB/s a job, past all ports"


def test_lanes_beside_devices_that_never_limit(read):
    assert read("nodes = 4\n" + LOCAL + PFS + "per_job = '1 GB/s'").fabric().read.cap == 1e9
    assert read("nodes = 4\n" + BB + LOCAL + "bandwidth = '2 GB/s'\n" + PFS + "per_job = '1 GB/s'").fabric().read.whole


def test_a_buffer_in_every_node(read):
    machine = read("nodes = 4\n" + BB + LOCAL + 'bandwidth = "2 GB/s"\n')
    assert machine.tiers[1] == node_local.Tier(name="nvme", capacity=10**12, bandwidth=2e9)
    assert machine.tiers[1].text == "1 TB of burst buffer in every node at 2 GB/s"
    assert machine.resources == ("nodes", "bb", "nvme")
    assert machine.capacities == (4, 10**12, 4 * 10**12)
    assert machine.per_node == {"nvme": 10**12}
    assert read("nodes = 4\n" + LOCAL.replace("_", "-")).tiers[0].kind == "node_local"


def test_the_capacity_of_a_buffer_in_nodes_may_be_set_after_the_file(read, tmp_path):
    read("nodes = 4\n" + LOCAL)
    assert load(f"{tmp_path / 'mine.toml'}:nvme=2TB,nodes=3").capacities == (3, 6 * 10**12)


def test_nodes_of_two_kinds(read):
    """2 TB in two of five nodes: the last ones. They are counted apart, though nobody asks for them by name."""
    machine = read("nodes = 5\n" + BB + TWO + "[tiers.licences]\nkind = 'pool'\ncapacity = 3\n")
    assert machine.tiers[1].text == "1 TB of burst buffer in every node, 2 TB in 2 of them"
    assert machine.asked == ("nodes", "bb", "nvme", "licences")
    assert machine.resources == ("nodes", "bb", "nvme", "licences", "nvme_large")
    assert machine.capacities == (5, 10**12, 7 * 10**12, 3, 2)
    assert machine.kinds is machine.tiers[1]
    assert read("nodes = 4\n" + LOCAL).kinds is None


def test_the_machine_of_the_case_study():
    machine = load("theta-ssd")
    assert machine.capacities == (4392, 300 * 10**12, 2196 * (128 + 256) * 10**9, 2196)
    assert load("theta-ssd:nodes=10,large_nodes=3,ssd=1GB,large=3GB").capacities[2:] == (7 * 10**9 + 9 * 10**9, 3)
    with pytest.raises(InputError, match="ssd has 10 large nodes of 10"):
        load("theta-ssd:nodes=10,large_nodes=10")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes = 4\n" + LOCAL + "large = '2 TB'", "tiers.nvme.large_nodes: missing; write beside large how many"),
        ("nodes = 4\n" + LOCAL + "large_nodes = 2", "tiers.nvme.large_nodes: given without large; write beside it"),
        (
            "nodes = 4\n" + LOCAL + "large = '1 TB'\nlarge_nodes = 2",
            "tiers.nvme.large: 1 TB is not more than the capacity of 1 TB that the other nodes have; write a larger",
        ),
        ("nodes = 4\n" + LOCAL + "large = 5\nlarge_nodes = 2", "tiers.nvme.large: '5' has no unit"),
        ("nodes = 4\n" + LOCAL + "large = '2 TB'\nlarge_nodes = 0", "tiers.nvme.large_nodes: 0 is not above 0"),
        (
            "nodes = 2\n" + TWO,
            "tiers: nvme has 2 large nodes of 2, which leaves no small ones; "
            "write large_nodes = 1 or fewer, or the larger capacity alone",
        ),
        (
            "nodes = 4\n" + TWO + TWO.replace("nvme", "ssd"),
            "tiers: nvme and ssd have two sizes, but only one tier may; leave out large in the others",
        ),
        (
            "nodes = 4\n" + CHUNKED + TWO,
            "tiers: nvme has two sizes, but bb is chunked, and chunks go by nodes that are all alike; "
            "make bb pooled, or leave out large in nvme",
        ),
        (
            "nodes = 4\n" + TWO + BB.replace("bb]", "nvme_large]"),
            "tiers: nvme_large means something of nvme where nodes are of two kinds; give it another name",
        ),
        ("nodes = 4\n" + TWO.replace("2 TB", "9000 PB"), "tiers: nvme of 4 nodes is too large to count"),
    ],
)
def test_mistakes_in_two_kinds_are_one_message_each(read, text, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert f"mine.toml: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes = 4\n" + PFS, f"tiers.pfs.write: no bandwidth at all; {EITHER}, or per_job alone"),
        ("nodes = 4\n" + PFS + "per_job = '0 GB/s'", "tiers.pfs.per_job: zero bandwidth is refused"),
        ("nodes = 4\n" + PFS + "per_job = 5", "tiers.pfs.per_job: '5' has no unit"),
        (
            "nodes = 4\n" + CHUNKED + "per_job = '8 GB/s'",
            "tiers.bb.per_job: needs a pooled buffer: chunks are streams of their own; "
            'write placement = "pooled", or leave out per_job',
        ),
        (
            DRAGONFLY + BB + "per_job = '8 GB/s'",
            "tiers: bb has per_job, which takes the place of ports and links; "
            "write a flat topology without bandwidth, or leave out per_job",
        ),
        (
            "nodes = 4\n[topology]\nkind = 'flat'\nbandwidth = '1 GB/s'\n" + PFS + "per_job = '8 GB/s'",
            "tiers: pfs has per_job, which takes the place of ports and links; "
            "write a flat topology without bandwidth, or leave out per_job",
        ),
        (
            "nodes = 4\n" + CHUNKED + PFS + "per_job = '8 GB/s'",
            "tiers: pfs takes a job as one stream, but bb is chunked, and chunks are streams of their own; "
            "make it pooled, or have a file system of kind pfs without per_job",
        ),
        (
            "nodes = 4\n" + LOCAL + "bandwidth = '2 GB/s'\n" + PFS + "per_job = '8 GB/s'",
            "tiers: pfs takes a job as one stream, but nvme has a bandwidth in every node; leave it out, or have a",
        ),
        (
            "nodes = 4\n" + BB + "servers = 999999999",
            "tiers.bb.servers: 999,999,999 servers are more than the 10,000 that a run can hold; write fewer",
        ),
        ("nodes = 4\n" + PFS + "write = '1 GB/s'", f"tiers.pfs.write: given without read; {EITHER}"),
        (
            "nodes = 4\n" + PFS + "read = '1 GB/s'",
            'tiers.pfs.write: missing; write write = "5 GB/s" beside read, or bandwidth alone',
        ),
        (
            "nodes = 4\n" + PFS + "bandwidth = '1 GB/s'\nread = '1 GB/s'\nwrite = '1 GB/s'",
            f"tiers.pfs.read: given beside bandwidth; {EITHER}",
        ),
        (
            "nodes = 4\n" + PFS + "bandwidth = '1 GB/s'\nwrite = '1 GB/s'",
            f"tiers.pfs.write: given beside bandwidth; {EITHER}",
        ),
        ("nodes = 4\n" + PFS + "bandwidth = '0 GB/s'", "tiers.pfs.bandwidth: zero bandwidth is refused"),
        (
            "nodes = 4\n" + PFS + "bandwidth = '1 GB/s'\nthrough_ports = 'no'",
            "tiers.pfs.through_ports: 'no' must be true or false, without quotes",
        ),
        (
            "nodes = 4\n" + BB + "placement = 'striped'",
            "tiers.bb.placement: 'striped' is not known; write 'pooled' or 'chunked'",
        ),
        ("nodes = 4\n" + BB + "servers = 0", "tiers.bb.servers: 0 is not above 0"),
        (
            "nodes = 4\n" + BB.replace("1 TB", "7 B") + "servers = 8",
            "tiers: bb has 7 bytes for 8 servers, less than a byte each; write a larger capacity or fewer servers",
        ),
        (
            DRAGONFLY + BB + "servers = 3",
            "tiers: bb has 3 servers, but the topology has 2 storage slots; write servers = 2 or fewer",
        ),
        (
            DRAGONFLY.replace("storage = 1", "").replace("nodes = 6", "nodes = 8") + BB,
            "tiers: bb has 1 server, but the topology has 0 storage slots; write storage = 1 below [topology]",
        ),
        (
            "nodes = 4\n" + CHUNKED + CHUNKED.replace("bb]", "other]"),
            "tiers: bb and other are chunked, but only one tier may be; make the others pooled",
        ),
        (
            "nodes = 4\n" + BB + CHUNKED.replace("bb]", "other]"),
            "tiers: other is chunked, but staging uses the first burst buffer, bb; write other before it",
        ),
        ("nodes = 4\n" + LOCAL.replace("1 TB", "0 TB"), "tiers.nvme.capacity: 0 is not above 0"),
        ("nodes = 4\n" + LOCAL + "bandwidth = '0 GB/s'", "tiers.nvme.bandwidth: zero bandwidth is refused"),
        ("nodes = 4\n" + LOCAL.replace("1 TB", "9000 PB"), "tiers: nvme of 4 nodes is too large to count"),
    ],
)
def test_mistakes_are_one_message_each(read, text, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert f"mine.toml: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_topology_is_not_blamed_on_the_tiers(read):
    with pytest.raises(InputError) as caught:
        read(DRAGONFLY.replace("ports = 2", "ports = 0") + BB + "servers = 3")
    assert str(caught.value).endswith("mine.toml: topology.ports: 0 is not above 0; write a number such as 100")


def test_python_callers_hear_the_same():
    with pytest.raises(InputError, match="bb has 5 bytes for 9 servers"):
        Platform(name="mine", nodes=2, tiers=(shared_bb.Tier(name="bb", capacity=5, servers=9),))


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_no_tier_takes_the_name_of_a_column(name):
    """Its demand would become that column: a tier `cancel` withdrew jobs, one called `tier` lost its numbers."""
    with pytest.raises(InputError, match="is a column that job tables have already"):
        pool.Tier(name=name, capacity=4)


@pytest.mark.parametrize("seed", range(3))
def test_the_names_are_those_of_all_columns(seed):
    for made, machine, model in (
        (*transfers.make(seed), "io-aware"),
        (*tiered.make(seed), "tiered"),
        (*pooled.make(seed), "alloc-only"),
    ):
        result = forebay.simulate(made, machine, "filler", job_model=model)
        assert set(result.jobs.columns) - set(machine.resources) <= TAKEN
        assert set(made.jobs.columns) - set(made.resources) <= TAKEN
