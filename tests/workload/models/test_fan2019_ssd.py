"""SSD requests: shares, ranges, and jobs that no machine of that size could run otherwise."""

import numpy as np
import pytest

from forebay.errors import InputError
from forebay.workload import models

pytestmark = pytest.mark.small

GB = 10**9


def a_node(spec, jobs=4000, nodes=256):
    made = models.attach(models.generate(f"lublin99:jobs={jobs},nodes={nodes}", 1), [spec], 2)
    return (made.jobs["ssd"] / made.jobs["nodes"]).to_numpy() / GB, made.jobs["nodes"].to_numpy(), made


def test_a_share_needs_large_nodes():
    for large in (0.2, 0.5, 0.8):
        each, _, made = a_node(f"fan2019-ssd:large={large}")
        assert (each > 128).mean() == pytest.approx(large, abs=0.03)
        assert f"{(each > 128).sum():,} jobs ask for more than 128 GB" in made.provenance[-1]


def test_requests_fill_their_ranges():
    each, _, _ = a_node("fan2019-ssd:large=0.5", 20_000)
    assert (each == np.rint(each)).all()
    small, large = each[each <= 128], each[each > 128]
    assert (small.min(), small.max()) == (1, 128)
    assert (large.min(), large.max()) == (129, 256)
    assert small.mean() == pytest.approx(64.5, rel=0.03)
    assert large.mean() == pytest.approx(192.5, rel=0.03)


def test_wide_jobs_ask_for_little():
    each, nodes, _ = a_node("fan2019-ssd:large=1,large_nodes=16")
    assert (each[nodes > 16] <= 128).all()
    assert (each[nodes <= 16] > 128).all()
    assert (nodes > 16).any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("large=1.5", "large is 1.5; give a share"),
        ("small_node=1MB", "small_node is"),
        ("small_node=256GB", "give at most large_node"),
        ("large_nodes=0", "large_nodes is 0"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(InputError, match=said):
        a_node(f"fan2019-ssd:{given}", 10)
