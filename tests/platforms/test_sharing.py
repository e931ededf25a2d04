"""Machines that share nodes: what they count, and what does not go with them."""

import pytest

import forebay as fb
from cases.shared import GB, machine
from forebay.errors import InputError
from forebay.platforms.tiers import node_local, shared_bb
from forebay.platforms.topologies import dragonfly

pytestmark = pytest.mark.small


def test_cores_first_then_tiers_then_what_is_inside():
    platform = machine(
        {"nodes": 3, "cores": 4, "memory": 8 * GB},
        {"nodes": 2, "cores": 6, "gpus": 2, "gpu": "a"},
        {"nodes": 1, "cores": 2, "gpus": 4, "gpu": "b"},
        tiers=(shared_bb.Tier(name="bb", capacity=100),),
    )
    counted = {"cores": 26, "bb": 100, "memory": 24 * GB, "gpus_a": 4, "gpus_b": 4}
    assert dict(platform.finite) == counted
    assert platform.resources == tuple(counted)
    assert (platform.nodes, platform.units, platform.asked) == (6, 26, ("nodes", "bb"))


ONE = {"nodes": 2, "cores": 4, "memory": 8 * GB}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"tiers": (shared_bb.Tier(name="bb", capacity=8, servers=2, placement="chunked"),)}, "bb lies in chunks"),
        (
            {"tiers": tuple(node_local.Tier(name=name, capacity=8) for name in ("ssd", "tmp"))},
            "tmp is in nodes, as ssd is, and of one alone jobs can have parts; leave one out, or write sharing = false",
        ),
        ({"tiers": (shared_bb.Tier(name="memory", capacity=8),)}, "memory is what shared nodes have inside"),
        (
            {"topology": dragonfly.Topology(groups=1, chassis=1, routers=2, ports=1, bandwidth="5 GB/s")},
            "dragonfly has links inside",
        ),
    ],
)
def test_what_does_not_go_with_sharing(parts, message):
    with pytest.raises(InputError, match=message):
        machine(ONE, **parts)


def test_nodes_are_shared_by_cores():
    with pytest.raises(InputError, match="nodes are shared by their cores"):
        fb.Platform(name="m", nodes=4, sharing=True)
