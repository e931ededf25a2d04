"""Machines that no memory holds are refused before anything is made of them."""

import pytest

from forebay import platforms
from forebay.errors import InputError

pytestmark = pytest.mark.small

FLY = """nodes = {nodes}
[topology]
kind = "dragonfly"
groups = {groups}
chassis = {chassis}
routers = {routers}
ports = {ports}
storage = {storage}
bandwidth = "10 Gbit/s"
[tiers.burst_buffer]
kind = "shared_bb"
capacity = "10 TB"
"""


def fly(folder, **counts):
    path = folder / "fly.toml"
    path.write_text(FLY.format(**{"groups": 1, "chassis": 1, "storage": 1, **counts}))
    return platforms.load(path)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"nodes": 1999, "routers": 2000, "ports": 1}, "2,000 routers are joined by 3,998,000 links"),
        ({"nodes": 10**9 - 1, "routers": 2, "ports": 5 * 10**8}, "have 1,000,000,000 slots"),
        ({"nodes": 2500, "routers": 500, "ports": 10, "storage": 2500}, "burst_buffer has 2,500 servers"),
        ({"nodes": 4, "routers": 500, "ports": 40, "storage": 19_996}, "burst_buffer has 19,996 servers"),
    ],
)
def test_dragonflies(tmp_path, counts, words):
    with pytest.raises(InputError) as caught:
        fly(tmp_path, **counts)
    assert words in str(caught.value)


def test_nodes_and_the_variable_that_allows_more(monkeypatch):
    with pytest.raises(InputError, match=r"are more than the 16,000,000 .* set the variable FOREBAY_MAX_NODES"):
        platforms.load("flat:nodes=16000001")
    monkeypatch.setenv("FOREBAY_MAX_NODES", "20000000")
    assert platforms.load("flat:nodes=16000001").nodes == 16_000_001


def test_pools():
    with pytest.raises(InputError, match="101 tiers and pools are more than the 100 of a machine"):
        platforms.load("flat:nodes=4,pools=" + "/".join(["5"] * 101))


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "spec", [f"flat:nodes={DIGITS}", f"flat:nodes=4,pools=5/{DIGITS}", f"flat:nodes=4,burst_buffer={DIGITS}B"]
)
def test_thousands_of_digits_on_the_command_line(spec):
    with pytest.raises(InputError, match=r"too large to count|more than the 9\.2 million TB") as caught:
        platforms.load(spec)
    assert "set_int_max_str_digits" not in str(caught.value)


@pytest.mark.parametrize("number", [DIGITS, "0x" + "f" * 5000, "-0x" + "f" * 5000, "1e5000"])
@pytest.mark.parametrize("key", ["nodes", "speed"])
def test_thousands_of_digits_in_a_file(tmp_path, key, number):
    (tmp_path / "m.toml").write_text(f"{'' if key == 'nodes' else 'nodes = 4'}\n{key} = {number}\n")
    with pytest.raises(InputError) as caught:
        platforms.load(tmp_path / "m.toml")
    assert "m.toml" in str(caught.value)
    assert "set_int_max_str_digits" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_control_characters_in_a_name_are_shown(tmp_path):
    (tmp_path / "m.toml").write_text('name = "a\\u001b[31m"\nnodes = 4\n')
    assert platforms.load(tmp_path / "m.toml").name == r"a\x1b[31m"
