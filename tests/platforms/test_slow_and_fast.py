"""Slow and fast tiers of storage: what may be written of them, how they are told, and what is said of mistakes."""

import json

import pytest

from forebay.errors import InputError
from forebay.platforms import Platform, load
from forebay.platforms.tiers import fast, slow

pytestmark = pytest.mark.small

SLOW = '[tiers.disk]\nkind = "slow"\nbandwidth = "1 GB/s"\n'
PFS = '[tiers.pfs]\nkind = "pfs"\nbandwidth = "1 GB/s"\n'
FAST = '[tiers.flash]\nkind = "fast"\ncapacity = "2 TB"\nbandwidth = "15 GB/s"\nstage = "5 GB/s"\n'
MACHINE = Platform(
    name="mine",
    nodes=4,
    tiers=(
        slow.Tier(name="disk", bandwidth=1e9),
        fast.Tier(name="flash", capacity=2 * 10**12, bandwidth=15e9, stage=5e9),
    ),
)


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text("nodes = 4\n" + text)
        return load(path)

    return read


def test_as_written(read):
    machine = read(SLOW + FAST)
    assert machine == MACHINE
    assert machine.resources == ("nodes", "flash")  # slow storage never runs full
    assert machine.capacities == (4, 2 * 10**12)
    assert [way.name for way in machine.ways] == ["disk", "flash"]
    assert read(SLOW).resources == ("nodes",)


def test_as_told():
    assert str(MACHINE) == (
        "mine (4 nodes of 1 Gflop/s; disk: slow storage at 1 GB/s; "
        "flash: 2 TB of fast storage at 15 GB/s, staged at 5 GB/s)"
    )
    described = json.loads(json.dumps(MACHINE.describe()))["tiers"]
    assert described == [
        {"name": "disk", "kind": "slow", "bandwidth": 1e9, "text": "slow storage at 1 GB/s"},
        {
            "name": "flash",
            "kind": "fast",
            "capacity": 2 * 10**12,
            "bandwidth": 15e9,
            "stage": 5e9,
            "text": "2 TB of fast storage at 15 GB/s, staged at 5 GB/s",
        },
    ]


def test_the_slow_tier_comes_first_wherever_it_is_written(read):
    second = FAST.replace("flash", "faster")
    assert [way.name for way in read(FAST + second + SLOW).ways] == ["disk", "flash", "faster"]


def test_other_machines_were_not_made_for_a_choice():
    assert read_names("dragonfly-96") == ["pfs"]
    assert read_names("trinity") == ["pfs", "burst_buffer"]
    assert read_names("flat:nodes=4") == []
    assert [load(name).by_choice for name in ("sas2019", "trinity", "flat:nodes=4")] == [True, False, False]


def read_names(spec):
    return [way.name for way in load(spec).ways]


def test_fast_storage_without_room_is_not_there(read):
    machine = read(SLOW + FAST.replace("2 TB", "0 B"))
    assert machine.resources == ("nodes",)
    assert [way.name for way in machine.ways] == ["disk"]
    assert load("sas2019:fast=0B").ways == load("sas2019").ways[:1]


def test_no_fast_storage_needs_no_unit():
    assert load("sas2019:fast=0").ways == load("sas2019").ways[:1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SLOW + SLOW.replace("disk", "tape"),
            "tiers: disk and tape are both file systems, and phases do not say which",
        ),
        (
            SLOW + PFS,
            "tiers: disk and pfs are both file systems, and phases do not say which; keep one (others, faster",
        ),
        (FAST, "tiers: flash has no file system to be staged from; add a tier of kind slow, or pfs"),
        (
            SLOW + '[tiers.bb]\nkind = "shared_bb"\ncapacity = "1 TB"\nplacement = "chunked"\n',
            "tiers: disk takes a job as one stream, but bb is chunked, and chunks are streams of their own; make it",
        ),
        (
            SLOW + '[tiers.nvme]\nkind = "node_local"\ncapacity = "1 TB"\nbandwidth = "1 GB/s"\n',
            "tiers: disk takes a job as one stream, but nvme has a bandwidth in every node; leave it out, or have a",
        ),
        (SLOW + FAST.replace('"5 GB/s"', '"0 GB/s"'), "tiers.flash.stage: zero bandwidth is refused"),
        (SLOW + FAST.replace('stage = "5 GB/s"\n', ""), "tiers.flash.stage:"),
        (SLOW + FAST.replace("15 GB/s", "0 GB/s"), "tiers.flash.bandwidth: zero bandwidth is refused"),
        (SLOW.replace("1 GB/s", "0 GB/s"), "tiers.disk.bandwidth: zero bandwidth is refused"),
        (SLOW.replace('bandwidth = "1 GB/s"\n', ""), "tiers.disk.bandwidth:"),
        (SLOW + FAST.replace("2 TB", "-2 TB"), "tiers.flash.capacity: '-2 TB' is not a number with a unit"),
        (SLOW + FAST.replace('"2 TB"', "2"), "tiers.flash.capacity: '2' has no unit"),
        (SLOW + FAST.replace("2 TB", "auto"), "tiers.flash.capacity:"),
        (SLOW + FAST + "servers = 2\n", "tiers.flash.servers:"),
        (SLOW + FAST.replace("flash", "nodes"), "tiers.nodes.name: 'nodes' is a column that job tables have already"),
    ],
)
def test_mistakes_are_one_message_each(read, text, message):
    with pytest.raises(InputError) as caught:
        read(text)
    assert f"mine.toml: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("k=0", "k: zero ratio is refused; write a number such as 5"),
        ("k=-1", "k: -1.0 is no ratio"),
        ("k=much", "k: 'much' is not a number; write one such as 5"),
        ("k=inf", "k: inf is no ratio"),
        ("ratio=0", "ratio: zero ratio is refused"),
        ("slow=0GB/s", "slow: zero bandwidth is refused"),
        ("fast=-5GB", "fast: '-5GB' is not a number with a unit"),
        ("fast=5", "fast: '5' has no unit"),
        ("nodes=0", "nodes: 0 is not above 0"),
    ],
)
def test_mistakes_in_the_preset(given, message):
    with pytest.raises(InputError) as caught:
        load(f"sas2019:{given}")
    assert f"platform 'sas2019:{given}': {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_negative_capacities_from_python():
    with pytest.raises(InputError, match="-1 is not above 0"):
        fast.Tier(name="flash", capacity=-1, bandwidth=1e9, stage=1e9)


def test_the_preset_keeps_its_ratios():
    disk, flash = load("sas2019:nodes=64,fast=4096GB,slow=2GB/s,ratio=10,k=3").ways
    assert (disk.bandwidth, flash.bandwidth, flash.stage, flash.capacity) == (2e9, 20e9, 6e9, 4096 * 10**9)
    disk, flash = load("sas2019").ways
    assert flash.bandwidth == pytest.approx(15 * disk.bandwidth)
    assert flash.stage == pytest.approx(5 * disk.bandwidth)


def test_a_tier_may_be_sized_after_the_file(read, tmp_path):
    read(SLOW + FAST)
    assert load(f"{tmp_path / 'mine.toml'}:flash=3TB,nodes=2").capacities == (2, 3 * 10**12)
