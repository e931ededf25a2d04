"""Transfers that share links: small cases by hand, then random joins, leaves and kills against exact fractions."""

import random

import numpy as np
import pytest

from cases.chunks import compiles
from forebay.engine.contention.kernels import finish, join, leave, settle
from forebay.engine.contention.tables import make_network
from twins import sharing as naive

pytestmark = compiles

INF = float("inf")
PFS = [5e9]
ONE = [(INF, {0: 1})]


def run(capacity, routes, events):
    """When each transfer ends, by the kernels. Events as `naive.transfers` takes them, names 0, 1, ..."""
    net = make_network(capacity, routes, 1 + max(event[2] for event in events))
    ended, ends, gone, waiting = np.zeros(len(net.transfers), np.int64), {}, set(), list(events)
    while waiting or net.state[0]["n_timers"] > 0:
        first = net.timers[0]["time"] if net.state[0]["n_timers"] > 0 else INF
        now = min(first, waiting[0][0] if waiting else INF)
        for i in range(finish(net, now, ended)):
            ends[int(ended[i])] = float(now)
        while waiting and waiting[0][0] <= now:
            _, kind, name, *rest = waiting.pop(0)
            if kind == "join":
                join(net, name, rest[0], rest[1], float(rest[2]), float(now))
            elif name not in ends and name not in gone:
                leave(net, name, float(now))
                gone.add(name)
        settle(net, float(now))
    return ends


def test_four_nodes_stage_in_alone():
    # 4 x 3.8187 GB over 5 GB/s: 15.2748 / 5 = 3.05496 s
    assert run(PFS, ONE, [(0.0, "join", 0, 0, 4, 4 * 3.8187e9)])[0] == pytest.approx(3.05496, rel=1e-12)


def test_two_at_once_take_twice_as_long():
    ends = run(PFS, ONE, [(0.0, "join", 0, 0, 4, 4 * 3.8187e9), (0.0, "join", 1, 0, 4, 4 * 3.8187e9)])
    assert ends == {0: pytest.approx(6.10992, rel=1e-12), 1: pytest.approx(6.10992, rel=1e-12)}


def test_streams_share_one_to_three():
    # 4 and 12 streams, 10 GB each: rates 1.25 and 3.75 GB/s. The second ends at 10 / 3.75 = 8/3 s, when the first has
    # 10 - 10/3 GB left, then at 5 GB/s: 8/3 + (20/3) / 5 = 4 s
    ends = run(PFS, ONE, [(0.0, "join", 0, 0, 4, 10e9), (0.0, "join", 1, 0, 12, 10e9)])
    assert ends == {0: pytest.approx(4.0, rel=1e-12), 1: pytest.approx(8 / 3, rel=1e-12)}


def test_a_kill_in_the_middle_frees_its_share_at_once():
    # two of 10 GB at 2.5 GB/s each; one is killed at 1 s: the other has 7.5 GB left at 5 GB/s, 1 + 1.5 = 2.5 s
    events = [(0.0, "join", 0, 0, 1, 10e9), (0.0, "join", 1, 0, 1, 10e9), (1.0, "leave", 1)]
    assert run(PFS, ONE, events) == {0: pytest.approx(2.5, rel=1e-12)}


def test_a_compute_phase_beside_a_transfer():
    # a port of 1.25 GB/s; the compute phase wants 1 GB/s for 2 s (2 GB), the transfer moves 1.25 GB: 625 MB/s each.
    # the transfer ends at 2 s; the phase has 0.75 GB left and gets its 1 GB/s: 2.75 s instead of 2
    routes = [(1e9, {0: 1}), (INF, {0: 1})]
    ends = run([1.25e9], routes, [(0.0, "join", 0, 0, 1, 2e9), (0.0, "join", 1, 1, 1, 1.25e9)])
    assert ends == {0: pytest.approx(2.75, rel=1e-12), 1: pytest.approx(2.0, rel=1e-12)}


def test_late_in_the_year_an_end_is_still_an_end():
    # day 333: one ulp of the clock is 19 bytes at 5 GB/s; ends decided by comparing clocks would never come
    start = 333 * 86400.0
    ends = run(PFS, ONE, [(start, "join", 0, 0, 1, 1), (start + 0.1, "join", 1, 0, 3, 12345678901)])
    assert ends[0] >= start
    assert ends[1] == pytest.approx(start + 0.1 + 12345678901 / 5e9, abs=1e-7)


def test_a_route_without_links_runs_at_its_cap():
    # 3 streams of 2 GB/s, whatever joins or leaves: 12 GB from 0.1 s on take 2 s; one that is killed has no end
    events = [(0.1, "join", 0, 0, 3, 12e9), (0.7, "join", 1, 0, 1, 1e9), (0.9, "join", 2, 0, 5, 90e9)]
    assert run([], [(2e9, {})], [*events, (1.1, "leave", 2)]) == {0: 0.1 + 2.0, 1: 0.7 + 0.5}


def random_case(rng):
    """Up to three links and five routes; joins at few distinct times, so that several things happen at once."""
    capacity = [rng.choice((1, 2, 3, 5, 8)) for _ in range(rng.randint(1, 3))]
    routes = []
    for _ in range(rng.randint(1, 5)):
        crossed = rng.sample(range(len(capacity)), rng.randint(1, len(capacity)))
        loads = {k: rng.choice((1, 1, 0.5)) for k in crossed}
        loads[crossed[0]] = 1
        routes.append((rng.choice((INF, INF, 0.5, 2)), loads))
    events = []
    for name in range(rng.randint(1, 8)):
        begin = rng.randint(0, 6) / 2
        events.append((begin, "join", name, rng.randrange(len(routes)), rng.randint(1, 6), rng.randint(1, 40)))
        if rng.random() < 0.25:
            events.append((begin + rng.randint(1, 8) / 2, "leave", name))
    return capacity, routes, sorted(events, key=lambda event: event[0])


@pytest.mark.parametrize("chunk", range(20))
def test_exact_fractions_agree(chunk):
    """Fifty systems each, a thousand in all; ends within 1e-12 of their size."""
    for seed in range(50 * chunk, 50 * (chunk + 1)):
        capacity, routes, events = random_case(random.Random(seed))
        ours, exact = run(capacity, routes, events), naive.transfers(capacity, routes, events)
        assert sorted(ours) == sorted(exact), seed
        for name, end in exact.items():
            assert ours[name] == pytest.approx(float(end), rel=1e-12), (seed, name)
