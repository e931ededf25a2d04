"""The Platform itself, and what every tier, topology and preset must offer."""

import inspect
import json
import pickle
import subprocess
import sys

import pytest
from pydantic import ValidationError

from forebay import _plugins
from forebay.errors import InputError
from forebay.platforms import Platform, load, names
from forebay.platforms.tiers import pfs, pool, shared_bb
from forebay.platforms.tiers._base import BaseTier
from forebay.platforms.topologies import flat
from forebay.platforms.topologies._base import BaseTopology

pytestmark = pytest.mark.small

MACHINE = Platform(
    name="mine",
    nodes=100,
    tiers=(
        shared_bb.Tier(name="burst_buffer", capacity=480 * 10**9, bandwidth=5e9),
        pfs.Tier(name="pfs", read=5e9, write=1e9),
        pool.Tier(name="licences", capacity=12),
    ),
)


def test_python_callers_may_give_numbers_in_si_units_or_text():
    assert shared_bb.Tier(name="bb", capacity="480 GB") == shared_bb.Tier(name="bb", capacity=480 * 10**9)


def test_description_is_json_with_exact_values_and_text():
    described = json.loads(json.dumps(MACHINE.describe()))
    assert described["nodes"] == 100
    assert described["topology"] == {"kind": "flat", "bandwidth": None, "text": "flat"}
    assert described["tiers"][0] == {
        "name": "burst_buffer",
        "kind": "shared_bb",
        "capacity": 480 * 10**9,
        "placement": "pooled",
        "servers": None,
        "bandwidth": 5e9,
        "per_job": None,
        "text": "480 GB of shared burst buffer at 5 GB/s",
    }
    assert described["tiers"][1]["text"] == "parallel file system, read 5 GB/s, write 1 GB/s"
    assert described["text"].startswith("mine (100 nodes of 1 Gflop/s; burst_buffer: 480 GB")


def test_the_network_is_told_unless_it_is_a_plain_crossbar():
    assert "flat" not in str(MACHINE)
    assert "; flat, 1 GB/s a node; " in str(MACHINE.model_copy(update={"topology": flat.Topology(bandwidth=1e9)}))


def test_a_platform_is_a_value():
    assert pickle.loads(pickle.dumps(MACHINE)) == MACHINE
    assert len({MACHINE, MACHINE.model_copy()}) == 1
    with pytest.raises(ValidationError):
        MACHINE.nodes = 3


def test_two_tiers_of_one_name_are_refused():
    licences = pool.Tier(name="licences", capacity=1)
    with pytest.raises(InputError, match="two tiers are called 'licences'"):
        Platform(name="mine", nodes=1, tiers=(licences, licences))


@pytest.mark.parametrize("name", _plugins.names("platforms.tiers"))
def test_every_tier_kind_keeps_the_contract(name):
    module = _plugins.load("platforms.tiers", name, "tier kind")
    assert module.DESCRIPTION
    assert issubclass(module.Tier, BaseTier)
    assert module.Tier.model_fields["kind"].default == name.replace("-", "_")


@pytest.mark.parametrize("name", _plugins.names("platforms.topologies"))
def test_every_topology_keeps_the_contract(name):
    module = _plugins.load("platforms.topologies", name, "topology")
    assert module.DESCRIPTION
    assert issubclass(module.Topology, BaseTopology)
    assert module.Topology.model_fields["kind"].default == name.replace("-", "_")


@pytest.mark.parametrize("name", names())
def test_every_preset_keeps_the_contract(name):
    module = _plugins.load("platforms.presets", name, "platform")
    assert module.DESCRIPTION
    needed = [p.name for p in inspect.signature(module.make).parameters.values() if p.default is p.empty]
    assert isinstance(load(f"{name}:" + ",".join(f"{key}=8" for key in needed)), Platform)


def test_platforms_need_no_compiler():
    code = "import sys, forebay.platforms as p; p.load('table1'); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
