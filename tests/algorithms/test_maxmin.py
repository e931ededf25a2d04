"""Max-min fair sharing: small systems solved by hand, then random ones against exact fractions."""

import random

import numpy as np
import pytest

from forebay.algorithms.maxmin import share_bandwidth
from twins import sharing as naive

pytestmark = pytest.mark.small

INF = float("inf")


def rates(capacity, classes):
    """The kernel's rates per unit of weight for classes given as (weight, cap, {link: load of one unit})."""
    first = np.cumsum([0, *(len(loads) for _, _, loads in classes)]).astype(np.int64)
    links = np.array([k for _, _, loads in classes for k in loads], np.int64)
    load = np.array([weight * one for weight, _, loads in classes for one in loads.values()], float)
    cap = np.array([cap for _, cap, _ in classes], float)
    rate, scratch = np.empty(len(classes)), np.empty((2, len(capacity)))
    share_bandwidth(np.array(capacity, float), first, links, load, cap, rate, scratch[0], scratch[1])
    return rate.tolist()


def test_one_link_is_shared_alike():
    # x1 = x2 = x3, x1 + x2 + x3 = 9
    assert rates([9], [(1, INF, {0: 1})] * 3) == [3, 3, 3]


def test_weights_count_streams():
    # 4 and 12 streams on 5 GB/s: x per stream, 4 x + 12 x = 5, so shares of 1 to 3
    share = rates([5.0], [(4, INF, {0: 1}), (12, INF, {0: 1})])
    assert share == [5 / 16, 5 / 16]
    assert 12 * share[1] == 3 * 4 * share[0]


def test_what_a_capped_one_leaves_goes_to_the_others():
    # x1 <= 1, x1 + x2 + x3 = 9: x1 = 1, x2 = x3 = 4
    assert rates([9], [(1, 1, {0: 1}), (1, INF, {0: 1}), (1, INF, {0: 1})]) == [1, 4, 4]


def test_two_links_in_a_row():
    # link 0 has 10, link 1 has 4; a crosses both, b only link 0, c only link 1
    # link 1 fills first: a = c = 2; then b = 10 - 2 = 8
    assert rates([10, 4], [(1, INF, {0: 1, 1: 1}), (1, INF, {0: 1}), (1, INF, {1: 1})]) == [2, 8, 2]


def test_parking_lot():
    # one long transfer over three links of 6, and one, two and three short ones on each
    # link 2: 4 x = 6, x = 1.5 for all four; link 1: 2 short share 4.5; link 0: 1 short gets 4.5
    classes = [(1, INF, {0: 1, 1: 1, 2: 1}), (1, INF, {0: 1}), (2, INF, {1: 1}), (3, INF, {2: 1})]
    assert rates([6, 6, 6], classes) == [1.5, 4.5, 2.25, 1.5]


def test_a_compute_phase_beside_a_transfer_on_one_port():
    # both progress in bytes on the port of 1.25 GB/s; the compute phase would like 2 GB/s: 625 MB/s each
    assert rates([1.25e9], [(1, 2e9, {0: 1}), (1, INF, {0: 1})]) == [6.25e8, 6.25e8]
    # a compute phase that needs only 0.1 GB/s gets it, and the transfer the rest
    assert rates([1.25e9], [(1, 1e8, {0: 1}), (1, INF, {0: 1})]) == [1e8, 1.15e9]


def test_loads_below_one_take_less_of_a_link():
    # a puts half of its rate on link 1: there 0.5 a + b = 3; on link 0 a <= 2; they rise together:
    # both at 2: link 0 is full (a = 2), link 1 has 0.5 * 2 + 2 = 3: full in the same moment
    assert rates([2, 3], [(1, INF, {0: 1, 1: 0.5}), (1, INF, {1: 1})]) == [2, 2]


def test_a_link_without_room_stops_all_who_cross_it():
    assert rates([0, 5], [(1, INF, {0: 1, 1: 1}), (1, INF, {1: 1})]) == [0, 5]


def test_no_links_means_the_cap():
    assert rates([1], [(1, 7, {}), (1, INF, {0: 1})]) == [7, 1]


def test_nobody():
    assert rates([1, 2], []) == []


def random_system(rng):
    """A few links and classes; round numbers, so that several links are often full at once."""
    capacity = [rng.choice((1, 2, 3, 4, 6, 12, 1.25e9, 5e9)) for _ in range(rng.randint(1, 5))]
    classes = []
    for _ in range(rng.randint(1, 9)):
        crossed = rng.sample(range(len(capacity)), rng.randint(1, len(capacity)))
        loads = {k: rng.choice((1, 1, 1, 0.5, 0.25)) for k in crossed}
        classes.append((rng.randint(1, 12), rng.choice((INF, INF, 1, 2, 0.5, 1e8)), loads))
    return capacity, classes


@pytest.mark.parametrize("chunk", range(10))
def test_exact_fractions_agree(chunk):
    """A hundred systems each. Relative error below 1e-12: some ten roundings, each 1e-16, with room to spare."""
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        capacity, classes = random_system(random.Random(seed))
        for ours, exact in zip(rates(capacity, classes), naive.share_bandwidth(capacity, classes), strict=True):
            assert ours == pytest.approx(float(exact), rel=1e-12), seed


@pytest.mark.parametrize("seed", range(200))
def test_nobody_could_have_more(seed):
    """The certificate of max-min fairness: links hold, and each class is at its cap or first on a full link."""
    capacity, classes = random_system(random.Random(10_000 + seed))
    share = rates(capacity, classes)
    use = [
        sum(x * w * loads.get(k, 0) for x, (w, _, loads) in zip(share, classes, strict=True))
        for k in range(len(capacity))
    ]
    assert all(used <= room * (1 + 1e-12) for used, room in zip(use, capacity, strict=True))
    for x, (_, cap, loads) in zip(share, classes, strict=True):
        full = [k for k in loads if use[k] >= capacity[k] * (1 - 1e-12)]
        others = [max(y for y, (_, _, theirs) in zip(share, classes, strict=True) if k in theirs) for k in full]
        assert x == cap or any(x >= top * (1 - 1e-12) for top in others)


def test_adding_bandwidth_to_one_link_never_lowers_its_throughput():
    """On a single link only: on several, more room here can mean less there."""
    for seed in range(100):
        rng = random.Random(seed)
        classes = [(rng.randint(1, 9), rng.choice((INF, 1, 2, 3)), {0: 1}) for _ in range(rng.randint(1, 8))]
        totals = [
            sum(w * x for x, (w, _, _) in zip(rates([room], classes), classes, strict=True)) for room in range(1, 20)
        ]
        assert totals == sorted(totals)
