"""GekkoFS: what re-hashing moves against its closed forms, and when a proxy pays."""

import hashlib
import heapq
import math

import numpy as np
import pytest

from forebay.adhoc import Device, GekkoFS, Link, Proxy, consistent, modulo, share_moved
from forebay.adhoc._proxied import proxied
from forebay.errors import InputError

pytestmark = pytest.mark.small

KEYS = np.random.default_rng(1).integers(0, 2**64, 50_000, dtype=np.uint64)
CHANGES = [(4, 12), (4, 5), (2, 3), (6, 4), (1, 8), (12, 16), (31, 32), (16, 1), (7, 7)]
PLACE = {"modulo": modulo, "consistent": consistent}


def by_counting(before, after):
    """Over one period of remainders, the share that differs."""
    period = math.lcm(before, after)
    return sum(k % before != k % after for k in range(period)) / period


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_the_closed_form_of_modulo_by_counting(before, after):
    assert share_moved(before, after) == pytest.approx(by_counting(before, after))


def test_closed_forms_by_hand():
    assert share_moved(4, 12, "modulo") == pytest.approx(2 / 3)
    assert share_moved(4, 12, "consistent") == pytest.approx(8 / 12)
    assert share_moved(12, 16, "modulo") == 1 - 12 / 48
    assert share_moved(16, 12, "consistent") == 0.25


@pytest.mark.parametrize("placement", PLACE)
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_shares_moved_are_those_expected(placement, before, after):
    place, share = PLACE[placement], share_moved(before, after, placement)
    moved = np.mean(place(KEYS, before) != place(KEYS, after))
    assert abs(moved - share) <= 3 * math.sqrt(share * (1 - share) / len(KEYS))


@pytest.mark.parametrize("placement", PLACE)
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_shares_of_a_file_moved_are_those_expected(placement, before, after):
    """The same of the file system's own hashes."""
    fs = GekkoFS(before, chunk_size=512, placement=placement)
    fs.write("/a", 20_000)
    fs.write("/b", 30_000)
    share = share_moved(before, after, placement)
    moved = fs.resize(after)
    assert abs(moved.blocks / 50_000 - share) <= 3 * math.sqrt(share * (1 - share) / 50_000)
    assert moved.bytes == 512 * moved.blocks
    assert fs.servers == after


@pytest.mark.parametrize("placement", PLACE)
@pytest.mark.parametrize("servers", [1, 3, 16, 100])
def test_servers_get_equal_shares(placement, servers):
    held = np.bincount(PLACE[placement](KEYS, servers), minlength=servers)
    assert len(held) == servers
    # Chi-squared has mean servers - 1 and variance 2 (servers - 1).
    squares = np.sum((held - len(KEYS) / servers) ** 2) / (len(KEYS) / servers)
    assert abs(squares - (servers - 1)) <= 4 * math.sqrt(2 * servers)


@pytest.mark.parametrize(("before", "after"), [(3, 4), (5, 9), (9, 2)])
def test_consistent_hashing_moves_only_to_new_servers_or_off_old_ones(before, after):
    old, new = consistent(KEYS, before), consistent(KEYS, after)
    moved = old != new
    assert ((new[moved] >= before) if after > before else (old[moved] >= after)).all()


def test_what_is_moved_is_what_find_shows():
    fs = GekkoFS(4, chunk_size=10)
    fs.write("/a", 300)
    fs.write("/a", 200)
    old = fs.find("/a")
    moved = fs.resize(6)
    new = fs.find("/a")
    assert len(new) == 500
    assert moved.blocks == np.sum(old != new)
    sent = [np.sum((old == s) & (new != s)) for s in range(6)]
    received = [np.sum((new == s) & (old != s)) for s in range(6)]
    assert moved.busiest == 10 * max(*sent, *received)


def mixed(path, chunk):
    """SplitMix64 in whole numbers, seeded by the path."""
    seed = int.from_bytes(hashlib.blake2b(path.encode(), digest_size=8).digest(), "little")
    z = (seed + (chunk + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def jump(key, servers):
    """Jump consistent hashing as its paper prints it."""
    b, j = -1, 0
    while j < servers:
        b = j
        key = (key * 2862933555777941757 + 1) % 2**64
        j = int((b + 1) * (2**31 / ((key >> 33) + 1)))
    return b


@pytest.mark.parametrize("path", ["/a", "/b", "/ä/long name"])
def test_places_against_slow_versions(path):
    for placement, slow in (("modulo", lambda key, servers: key % servers), ("consistent", jump)):
        fs = GekkoFS(100, chunk_size=1, placement=placement)
        fs.write(path, 50)
        assert fs.find(path).tolist() == [slow(mixed(path, chunk), 100) for chunk in range(50)]


def test_a_proxy_by_hand():
    """1 MB at 1 GB/s is 1 ms, and 1 ms of latency; a hop is 0.1 ms."""
    link = Link(bandwidth=1e9, stream=1e9, latency=1e-3)
    assert link.seconds(1e6) == pytest.approx(2e-3)
    assert Proxy(hop=1e-4).seconds(1e6, link) == pytest.approx(2.1e-3)
    assert Proxy(hop=1e-4, hits=0.5).seconds(1e6, link) == pytest.approx(1.1e-3)
    assert Proxy(hop=1e-4, batch=10).seconds(1e6, link) == pytest.approx(1.2e-3)
    assert Proxy(hop=1e-4, hits=0.5, batch=10).seconds(1e6, link) == pytest.approx(0.65e-3)
    assert Proxy(hop=1e-4, hits=1.0).seconds(1e6, link) == pytest.approx(1e-4)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: GekkoFS(4, 10).resize(0), "a file system cannot have 0 servers"),
        (lambda: GekkoFS(4, 10, nodes=6).resize(7), "7 servers asked for, but there are 6 nodes"),
        (lambda: GekkoFS(4, 10, capacity=50).write("/a", 100), "file '/a' needs"),
        (lambda: GekkoFS(4, 10, placement="mod"), "placement is 'mod': did you mean 'modulo'"),
        (lambda: share_moved(4, 5, "ring"), "placement is 'ring': known: consistent, modulo"),
        (lambda: GekkoFS(4, 10).find("/a"), "there is no file '/a'; write it first"),
        (lambda: GekkoFS(4, 10).write("/a", -1), "the number of chunks is -1"),
        (lambda: GekkoFS(4, 10).write(1, 1), "the path of a file is 1, of type int"),
        (lambda: Proxy(hop=-1.0), "hop is -1; give a finite number from 0 up"),
        (lambda: Proxy(hop=0.0, hits=1.5), "hits is 1.5; give a share from 0 to 1"),
        (lambda: Proxy(hop=0.0, batch=0), "batch is 0"),
    ],
)
def test_mistakes_get_one_message(ask, message):
    with pytest.raises(InputError) as refused:
        ask()
    assert message in str(refused.value)


def test_no_shrinking_to_less_than_the_data_need():
    fs = GekkoFS(4, chunk_size=10, capacity=1_000)
    fs.write("/a", 200)
    with pytest.raises(InputError, match="resizing to 1 server needs 2,000 bytes on one server, which holds 1,000"):
        fs.resize(1)
    assert fs.servers == 4
    assert repr(fs) == "<GekkoFS, modulo: 1 file on 4 servers>"


def queued(clients, servers, alone, served, blocks):
    """Blocks a second, played out: each client thinks, then queues at a server picked at random; times exponential."""
    rng, time, events, free = np.random.default_rng(1), 0.0, [], [0.0] * servers
    heapq.heapify(events)
    for client in range(clients):
        heapq.heappush(events, (rng.exponential(alone), client))
    for _ in range(blocks):
        time, client = heapq.heappop(events)
        server = int(rng.integers(servers))
        free[server] = max(free[server], time) + rng.exponential(served)
        heapq.heappush(events, (free[server] + rng.exponential(alone), client))
    return blocks / time


@pytest.mark.parametrize(("hits", "write_back", "reads"), [(0.0, False, False), (0.4, False, True), (0.0, True, False)])
def test_the_throughput_behind_proxies_is_that_of_clients_that_queue(hits, write_back, reads):
    """Block by block, 40,000 of them: mean value analysis is exact for exponential times, what is left is chance (2 %).

    A hit visits no server and sends nothing, so on average a block takes that share less of both.
    """
    device, link, proxy = Device(1e9, 2e9, 1e-4, 1e-4), Link(1e9, 1e9, 4e-4), Proxy(5e-4, hits, 4, write_back)
    found = proxied(6, 3, 1_000_000, device, link, proxy, reads=reads)
    sent, served = (1 - hits) * (1e-4 + 1e-3), (1 - hits) * (1e-4 + 1e-3)
    for clients, servers in ((1, 1), (6, 1), (6, 3)):
        slow = queued(clients, servers, sent + (0.0 if write_back else 5e-4), served, 40_000)
        expected = min(slow, clients / 5e-4) if write_back else slow
        assert found[clients - 1, servers - 1] / 1e6 == pytest.approx(expected, rel=0.02)
