"""A machine with more or less of one thing, and all else as it was."""

import pytest

from forebay.errors import InputError
from forebay.platforms import load
from forebay.platforms.variation import known_to, quantity, varied

pytestmark = pytest.mark.small


@pytest.mark.parametrize(
    ("spec", "name", "amount", "same"),
    [
        ("flat:nodes=8,burst_buffer=1TB", "nodes", 16, "flat:nodes=16,burst_buffer=1TB"),
        ("flat:nodes=8,burst_buffer=1TB", "burst-buffer", 2e12, "flat:nodes=8,burst_buffer=2TB"),
        ("flat:nodes=8,burst_buffer=auto", "burst_buffer", 2e12, "flat:nodes=8,burst_buffer=2TB"),
        ("flat:nodes=8,pfs=5GB/s", "pfs", 1e9, "flat:nodes=8,pfs=1GB/s"),
        ("flat:nodes=8,pools=5000/200", "resource-2", 300, "flat:nodes=8,pools=5000/300"),
        ("dragonfly-96", "burst-buffer", 960e9, "dragonfly-96:burst_buffer=960GB"),
        ("dragonfly-96", "pfs", 1e10, "dragonfly-96:pfs=10GB/s"),
    ],
)
def test_as_if_it_had_been_written_so(spec, name, amount, same):
    machine = load(spec)
    assert varied(machine, {quantity(machine, name).name: amount}) == load(same)


def test_what_goes_in_proportion():
    theta = load("theta-ssd")
    ssd = next(tier for tier in varied(theta, {"ssd": 64e9}).tiers if tier.name == "ssd")
    assert (ssd.capacity, ssd.large) == (64 * 10**9, 128 * 10**9)
    assert quantity(load("dragonfly-96"), "burst-buffer").step == 12  # servers, of equal room


def test_a_tier_by_what_it_is_to_jobs():
    sas = load("sas2019")
    assert quantity(sas, "burst-buffer").name == "fast"
    assert quantity(sas, "pfs").name == "slow.bandwidth"
    assert quantity(sas, "fast.bandwidth").now == 4.5e9
    assert known_to(sas) == ["nodes", "slow", "fast", "fast.bandwidth"]


def test_every_name_that_is_told_is_taken():
    for spec in ("sas2019", "theta-ssd", "dragonfly-96", "trinity-io", "admire2023"):
        machine = load(spec)
        for name in known_to(machine):
            found = quantity(machine, name)
            assert varied(machine, {found.name: found.now}) == machine


@pytest.mark.parametrize(
    ("spec", "name", "told"),
    [
        ("flat:nodes=8", "burst-buffer", "flat has no such thing"),
        ("flat:nodes=8,burst_buffer=1TB", "burst-bufer", "did you mean 'burst-buffer'"),
        ("trinity-io", "pfs", "no bandwidth that jobs share"),
        ("flat:nodes=8,burst_buffer=1TB", "burst-buffer.bandwidth", "no bandwidth that jobs share"),
    ],
)
def test_what_a_machine_has_not(spec, name, told):
    with pytest.raises(InputError, match=told):
        quantity(load(spec), name)


def test_a_machine_that_cannot_be():
    with pytest.raises(InputError, match="96 nodes"):
        varied(load("dragonfly-96"), {"nodes": 100})
