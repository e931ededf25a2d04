"""Platforms declared in TOML: what is read, and what is said of mistakes."""

import pytest

from forebay.errors import InputError
from forebay.platforms import load
from forebay.platforms.tiers import pfs, pool, shared_bb
from forebay.platforms.topologies import flat

pytestmark = pytest.mark.small

WHOLE = """
name = "mine"
nodes = 100
speed = "2 Gflop/s"
[topology]
kind = "flat"
bandwidth = "10 Gbit/s"
[tiers.pfs]
kind = "pfs"
read = "5 GB/s"
write = "2.5 GB/s"
[tiers.burst_buffer]
kind = "shared_bb"
capacity = "10 TB"
bandwidth = "5 GB/s"
[tiers.licences]
kind = "pool"
capacity = 12
[tiers.memory]
kind = "pool"
capacity = "64 GB"
"""
BB = '[tiers.bb]\nkind = "shared_bb"\ncapacity = "1 TB"\n'


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return load(path)

    return read


@pytest.fixture
def complaint(read):
    def complaint(text):
        with pytest.raises(InputError) as caught:
            read(text)
        assert "mine.toml" in str(caught.value)
        assert "pydantic" not in str(caught.value)
        return str(caught.value)

    return complaint


def test_a_whole_machine(read):
    machine = read(WHOLE)
    assert (machine.name, machine.nodes, machine.speed) == ("mine", 100, 2e9)
    assert machine.topology == flat.Topology(bandwidth=1.25e9)
    assert machine.tiers == (
        pfs.Tier(name="pfs", read=5e9, write=2.5e9),
        shared_bb.Tier(name="burst_buffer", capacity=10**13, bandwidth=5e9),
        pool.Tier(name="licences", capacity=12),
        pool.Tier(name="memory", capacity=64 * 10**9),
    )
    assert machine.resources == ("nodes", "burst_buffer", "licences", "memory")
    assert machine.capacities == (100, 10**13, 12, 64 * 10**9)


def test_the_smallest_machine(read):
    machine = read("nodes = 1")
    assert machine.topology == flat.Topology()
    assert machine.speed == 1e9
    assert machine.tiers == ()


def test_kinds_may_be_written_with_a_hyphen(read):
    assert read("nodes = 1\n" + BB.replace("shared_bb", "shared-bb")) == read("nodes = 1\n" + BB)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nodes: missing; write nodes = 100"),
        ("nodes = 0", "nodes: 0 is not above 0; write a number such as 100"),
        ("nodes = 2.5", "nodes: 2.5 is not a whole number"),
        ("nodes = true", "nodes: True is not a whole number"),
        ("nodez = 4\nnodes = 4", "nodez: unknown key; did you mean 'nodes'?"),
        ("nodes = 4\ntier = 1", "tier: unknown key; did you mean 'tiers'"),
        ("name = 5\nnodes = 4", "name: 5 must be text in quotes"),
        ("nodes = 4\nspeed = 1e9", "speed: '1000000000.0' has no unit"),
        ("nodes = 4\nspeed = '0 flop/s'", "speed: zero speed is refused"),
        ("nodes = 4\ntiers = 3", "tiers: must be tables"),
        ("nodes = 4\ntiers.bb = '10 TB'", "tiers.bb: must be a table: write [tiers.bb]"),
        ("nodes = 4\ntopology = 'flat'", 'topology: must be a table: write [topology] and below it kind = "flat"'),
        ("nodes = 4\n[topology]\nkind = 'flatt'", "topology.kind: unknown topology 'flatt'; did you mean 'flat'?"),
        ("nodes = 4\n[topology]\nkind = 'flat'\nbandwidth = 10", "topology.bandwidth: '10' has no unit"),
        (
            "nodes = 4\n[tiers.bb]\ncapacity = '1 TB'",
            'tiers.bb.kind: missing; write kind = "shared_bb" (known: fast, ',
        ),
        (
            "nodes = 4\n[tiers.bb]\nkind = 'shard_bb'",
            "tiers.bb.kind: unknown tier kind 'shard_bb'; did you mean 'shared_bb'",
        ),
        ("nodes = 4\n[tiers.bb]\nkind = 7", "tiers.bb.kind: unknown tier kind 7"),
        ("nodes = 4\n[tiers.bb]\nkind = 'shared_bb'", 'tiers.bb.capacity: missing; write capacity = "10 TB"'),
        ("nodes = 4\n" + BB.replace('"1 TB"', "10"), "tiers.bb.capacity: '10' has no unit; write a size such as"),
        ("nodes = 4\n" + BB.replace("1 TB", "0 TB"), "tiers.bb.capacity: 0 is not above 0"),
        ("nodes = 4\n" + BB.replace('"1 TB"', "[1]"), "tiers.bb.capacity: [1] is not a whole number"),
        ("nodes = 4\n" + BB + "bandwidth = '0 GB/s'", "tiers.bb.bandwidth: zero bandwidth is refused"),
        ("nodes = 4\n" + BB + "bandwith = '1 GB/s'", "tiers.bb.bandwith: unknown key; did you mean 'bandwidth'?"),
        ("nodes = 4\n" + BB + "name = 'x'", "tiers.bb.name: unknown key; known: bandwidth, capacity, kind"),
        ("nodes = 4\n[tiers.p]\nkind = 'pool'\ncapacity = 1.5", "tiers.p.capacity: 1.5 is not a whole number"),
        ("nodes = 4\n[tiers.p]\nkind = 'pfs'\nread = '1 GB/s'", 'tiers.p.write: missing; write write = "5 GB/s"'),
        (
            "nodes = 4\n" + BB.replace("bb]", "nodes]"),
            "tiers.nodes.name: 'nodes' is a column that job tables have",
        ),
        (
            "nodes = 4\n" + BB.replace("bb]", "user]"),
            "tiers.user.name: 'user' is a column that job tables have",
        ),
        ("nodes = 4\n" + BB.replace("bb]", "'a b']"), "tiers.a b.name: 'a b' must begin with a letter"),
    ],
)
def test_mistakes_name_field_fault_and_cure(complaint, text, message):
    assert message in complaint(text)


def test_all_mistakes_come_at_once(complaint):
    text = complaint(BB.replace('"1 TB"', "10"))
    assert text.splitlines()[0].endswith("mine.toml: 2 problems")
    assert "  nodes: missing; write nodes = 100" in text.splitlines()


def test_bad_syntax_names_the_line(complaint):
    assert "mine.toml:2: not valid TOML: " in complaint("nodes = 4\nname = mine\n")
    assert "mine.toml: at its end: not valid TOML: " in complaint('name = "mine')


def test_what_the_parser_cannot_hold(complaint):
    assert "not TOML that can be used: lists or tables nest too deep" in complaint("nodes = " + "[" * 10_000)
    assert "not TOML that can be used: a number has thousands of digits" in complaint("nodes = " + "9" * 5000)


def test_long_or_odd_names_and_values_do_not_flood_the_screen(complaint):
    text = complaint(
        f"nodes = 4\nspeed = '{'x' * 9000}'\n[tiers.'a\\u001b{'b' * 9000}']\nkind = 'pfs'\nbandwidth = '1 GB/s'"
    )
    assert len(text) < 900
    assert all(line.isprintable() for line in text.splitlines())


def test_other_bytes_than_text(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(InputError, match=r"mine\.toml: not UTF-8 text"):
        load(path)


def test_a_folder(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize("flags", ["8", "true", "{}", "1979-05-27"])
def test_flags_of_a_reservation_are_words(complaint, flags):
    text = f'nodes = 4\n[[reservations]]\nname = "x"\nstart = 1\nend = 2\nflags = {flags}\n'
    assert 'must be a list of words: ["maint"]' in complaint(text)


@pytest.mark.parametrize("limit", ["MaxJobsPerUser", "MaxSubmitPerUser", "GrpJobs", "GrpSubmit"])
def test_limits_beyond_any_machine(complaint, read, limit):
    """They would not fit into the tables of a run."""
    said = complaint(f'nodes = 4\n[[limits]]\nuser = "ann"\n{limit} = {2**63}\n')
    assert f"{2**63} is more than any machine has; write a count such as 4, or -1 for no limit" in said
    assert read(f'nodes = 4\n[[limits]]\nuser = "ann"\n{limit} = {2**53}\n')


LONG = "x" * 70_000
LONG_NAMES = {
    "machine": f'name = "{LONG}"\nnodes = 4\n',
    "class": f"sharing = true\n[classes.{LONG}]\nnodes = 2\ncores = 4\n",
    "gpu": f'sharing = true\n[classes.a]\nnodes = 2\ncores = 4\ngpus = 1\ngpu = "{LONG}"\n',
    "feature": f'sharing = true\n[classes.a]\nnodes = 2\ncores = 4\nfeatures = ["{LONG}"]\n',
    "partition": f'nodes = 4\n[partitions.{LONG}]\nnodes = "all"\n',
    "tier": f'nodes = 4\n[tiers.{LONG}]\nkind = "shared-bb"\ncapacity = "1 TB"\n',
    "user": f'nodes = 4\n[[limits]]\nuser = "{LONG}"\nMaxJobsPerUser = 2\n',
}


@pytest.mark.parametrize("what", LONG_NAMES)
def test_names_that_no_table_could_show(complaint, read, what):
    said = complaint(LONG_NAMES[what])
    assert "is a name of 70,000 characters; 255 are the most" in said
    assert len(said) < 2_000
    assert read(LONG_NAMES[what].replace(LONG, "x" * 255))
