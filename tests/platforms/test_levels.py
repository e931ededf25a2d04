"""Slow and fast tiers of storage: what may be written of them, how they are told, and what is said of mistakes."""

import json

import pytest

from forebay.errors import InputError
from forebay.platforms import Platform, load
from forebay.platforms.tiers import fast, slow

pytestmark = pytest.mark.small

SLOW = '[tiers.disk]\nkind = "slow"\nbandwidth = "1 GB/s"\n'
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
    assert [level.name for level in machine.levels] == ["disk", "flash"]
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
    assert [level.name for level in read(FAST + second + SLOW).levels] == ["disk", "flash", "faster"]


def test_other_machines_have_no_levels():
    assert load("dragonfly-96").levels == ()
    assert load("flat:nodes=4").levels == ()


def test_fast_storage_without_room_is_not_there(read):
    machine = read(SLOW + FAST.replace("2 TB", "0 B"))
    assert machine.resources == ("nodes",)
    assert [level.name for level in machine.levels] == ["disk"]
    assert load("sas2019:fast=0B").levels == load("sas2019").levels[:1]


def test_no_fast_storage_needs_no_unit():
    assert load("sas2019:fast=0").levels == load("sas2019").levels[:1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SLOW + SLOW.replace("disk", "tape"), "tiers: disk and tape are both slow tiers; keep one, and make others"),
        (FAST, "tiers: flash is a fast tier, but there is no slow one to stage from; add a tier of kind slow"),
        (
            SLOW + '[tiers.pfs]\nkind = "pfs"\nbandwidth = "1 GB/s"\n',
            "tiers: disk is a slow tier and pfs of kind pfs; describe storage either as slow and fast tiers, or as",
        ),
        (
            SLOW + FAST + '[tiers.bb]\nkind = "shared_bb"\ncapacity = "1 TB"\n',
            "tiers: disk is a slow tier and bb of kind shared_bb",
        ),
        (
            SLOW + '[tiers.nvme]\nkind = "node_local"\ncapacity = "1 TB"\n',
            "tiers: disk is a slow tier and nvme of kind node_local",
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
    with pytest.raises(ValueError, match="-1 is not above 0"):
        fast.Tier(name="flash", capacity=-1, bandwidth=1e9, stage=1e9)


def test_the_preset_keeps_its_ratios():
    disk, flash = load("sas2019:nodes=64,fast=4096GB,slow=2GB/s,ratio=10,k=3").levels
    assert (disk.bandwidth, flash.bandwidth, flash.stage, flash.capacity) == (2e9, 20e9, 6e9, 4096 * 10**9)
    disk, flash = load("sas2019").levels
    assert flash.bandwidth == pytest.approx(15 * disk.bandwidth)
    assert flash.stage == pytest.approx(5 * disk.bandwidth)


def test_a_tier_may_be_sized_after_the_file(read, tmp_path):
    read(SLOW + FAST)
    assert load(f"{tmp_path / 'mine.toml'}:flash=3TB,nodes=2").capacities == (2, 3 * 10**12)
