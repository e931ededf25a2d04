"""Capacities that a workload decides: what works before there is one, and what numbers come of it."""

import json

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.platforms import Platform, load
from forebay.platforms.tiers import pool, shared_bb
from forebay.platforms.topologies import dragonfly

pytestmark = pytest.mark.small


def test_an_unsized_machine_can_be_shown_and_names_its_resources():
    machine = load("dragonfly-96:burst_buffer=auto")
    assert "burst_buffer: auto-sized shared burst buffer in chunks on 12 servers" in str(machine)
    assert json.loads(json.dumps(machine.describe()))["tiers"][0]["capacity"] == "auto"
    assert machine.resources == ("nodes", "burst_buffer")
    assert machine.tiers[0].size == "auto"


@pytest.mark.parametrize("ask", [lambda m: m.capacities, lambda m: m.finite, lambda m: m.fabric()])
def test_what_needs_the_size_says_who_can_tell_it(ask):
    message = "platform flat: burst_buffer has the capacity auto, which only a workload decides; simulate one on it"
    with pytest.raises(InputError, match=message):
        ask(load("flat:nodes=100,burst_buffer=auto"))


def test_auto_after_a_file_and_in_it(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('nodes = 10\n[tiers.burst_buffer]\nkind = "shared_bb"\ncapacity = "10 TB"\n')
    after = load(f"{path}:burst_buffer=auto")
    assert after.sized_for({"burst_buffer": 7.0}).capacities == (10, 70)
    path.write_text(path.read_text().replace("10 TB", "auto"))
    assert load(path) == after
    assert load(f"{path}:burst_buffer=5TB").capacities == (10, 5 * 10**12)


def test_a_pool_cannot_be_auto(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('nodes = 10\n[tiers.licences]\nkind = "pool"\ncapacity = 3\n')
    with pytest.raises(InputError, match=r"mine\.toml: tiers\.licences\.capacity: 'auto' is not a number"):
        load(f"{path}:licences=auto")


def test_auto_is_the_nodes_times_the_mean_rounded_up():
    machine = load("flat:nodes=10,burst_buffer=auto")
    assert machine.sized_for({"burst_buffer": 0.33}).capacities == (10, 4)
    assert machine.sized_for({"burst_buffer": 5e9, "gpus": 1.0}).capacities == (10, 50 * 10**9)


def test_chunked_auto_is_the_same_on_every_server():
    machine = load("dragonfly-96:burst_buffer=auto")
    assert machine.sized_for({"burst_buffer": 1.01}).capacities == (96, 108)  # 96.96 is 97 B, and 9 B a server hold it
    pooled = load("dragonfly-96:burst_buffer=auto,placement=pooled")
    assert pooled.sized_for({"burst_buffer": 1.01}).capacities == (96, 97)
    assert pooled.sized_for({"burst_buffer": 0.01}).capacities == (96, 12)  # a byte a server at least


def test_auto_has_room_for_the_largest_request():
    """As large as the job that asks for most, if that is more than jobs of the mean request fill."""
    machine = load("flat:nodes=10,burst_buffer=auto")
    asked = {"burst_buffer": (np.array([30, 70, 5]), np.array([4, 5, 1]))}
    assert machine.sized_for({"burst_buffer": 5.0}, asked).capacities == (10, 70)
    assert machine.sized_for({"burst_buffer": 8.0}, asked).capacities == (10, 80)


def test_chunked_auto_has_room_for_the_largest_request_of_a_node():
    """12 servers: of 13 nodes with 5 B each, two share one; of 2 nodes with 7 B each none do."""
    machine = load("dragonfly-96:burst_buffer=auto")
    asked = {"burst_buffer": (np.array([65, 14]), np.array([13, 2]))}
    assert machine.sized_for({"burst_buffer": 0.5}, asked).capacities == (96, 120)
    assert machine.sized_for({"burst_buffer": 20.0}, asked).capacities == (96, 1920)
    uneven = {"burst_buffer": (np.array([13]), np.array([2]))}  # 7 B for the node that has more
    assert machine.sized_for({"burst_buffer": 0.01}, uneven).capacities == (96, 84)


def test_sizing_leaves_all_else_as_it_is():
    machine = load("dragonfly-96:burst_buffer=auto,bandwidth=2GB/s")
    sized = machine.sized_for({"burst_buffer": 5e9})
    assert sized == load("dragonfly-96:burst_buffer=480GB,bandwidth=2GB/s")
    assert sized.sized_for({"burst_buffer": 1.0}) is sized
    assert sized.fabric().server_capacity.tolist() == [40 * 10**9] * 12


def test_servers_of_the_network_count_where_the_tier_names_none():
    topology = dragonfly.Topology(groups=1, chassis=4, routers=1, ports=2, storage=1, bandwidth=1e9)
    tier = shared_bb.Tier(name="bb", capacity="auto", placement="chunked")
    machine = Platform(name="mine", nodes=4, topology=topology, tiers=(tier, pool.Tier(name="gpus", capacity=2)))
    assert machine.sized_for({"bb": 2.5}).capacities == (4, 12, 2)


@pytest.mark.parametrize("means", [{}, {"burst_buffer": 0.0}, {"burst_buffer": float("nan")}, {"burst_buffer": 1e30}])
def test_a_workload_that_tells_no_size(means):
    with pytest.raises(InputError, match=r"burst_buffer: its capacity is auto, but .* write a size such as"):
        load("flat:nodes=10,burst_buffer=auto").sized_for(means)
