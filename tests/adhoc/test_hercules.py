"""Hercules: no block is lost, growing moves nothing, shrinking moves what it must, and maps stay small."""

import copy

import numpy as np
import pytest

from forebay.adhoc import Hercules, Move, State
from forebay.errors import InputError

pytestmark = pytest.mark.small


class Shadow:
    """The slow, obvious version: a list of places for each data set, and the rules of the text applied to it."""

    def __init__(self, fs):
        self.fs = fs
        self.places = {}

    def write(self, name, n):
        ring = self.fs.servers
        self.fs.write(name, n)
        old = self.places.setdefault(name, [])
        old += [ring[b % len(ring)] for b in range(len(old), len(old) + n)]

    def grow(self, n):
        assert self.fs.resize(len(self.fs.servers) + n) == Move(0, 0, 0)

    def shrink(self, leaving, how):
        moved = self.fs.decommission(leaving, how)
        self.check()  # until it is finished everything is where it was
        assert self.fs.finish() == moved
        gone, ring, n_moved = set(leaving), self.fs.servers, 0
        for name, old in self.places.items():
            new = self.fs.find(name).tolist()
            if how == "total" and gone & set(old):
                assert new == [ring[b % len(ring)] for b in range(len(old))]
            else:
                assert [a for a, b in zip(old, new, strict=True) if a != b] == [a for a in old if a in gone]
            n_moved += sum(a != b for a, b in zip(old, new, strict=True))
            self.places[name] = new
        assert moved.blocks == n_moved
        assert moved.bytes == n_moved * self.fs.block_size

    def check(self):
        held = dict.fromkeys(self.fs.servers, 0)
        for name, places in self.places.items():
            assert self.fs.sets[name] == len(places)
            assert self.fs.find(name).tolist() == places
            assert self.fs.find(name, np.arange(len(places))).tolist() == places
            for server in places:
                held[server] = held.get(server, 0) + 1
        assert self.fs.held() == held


def random_life(rng, steps):
    fs = Hercules(int(rng.integers(1, 6)), block_size=10, nodes=12)
    shadow = Shadow(fs)
    for _ in range(steps):
        n = len(fs.servers)
        kind = rng.integers(4)
        if kind <= 1:
            shadow.write(f"set {rng.integers(4)}", int(rng.integers(20)))
        elif kind == 2 and n < 12:
            shadow.grow(int(rng.integers(1, 13 - n)))
        elif kind == 3 and n > 1:
            leaving = rng.choice(fs.servers, rng.integers(1, n), replace=False).tolist()
            shadow.shrink(leaving, ["partial", "total"][rng.integers(2)])
        shadow.check()
        assert set(np.concatenate([[], *shadow.places.values()])) <= set(fs.servers)


@pytest.mark.parametrize("seed", range(10))
def test_no_block_is_ever_lost(seed):
    random_life(np.random.default_rng(seed), 100)


@pytest.mark.full
def test_no_block_is_lost_in_100_000_steps():
    for rng in np.random.default_rng(2023).spawn(1_000):
        random_life(rng, 100)


def test_new_servers_take_new_blocks_alone():
    """Figure 3.2: four servers, then six; 8 blocks before and 6 after."""
    fs = Hercules(4, block_size=1)
    fs.write("a", 8)
    fs.resize(6)
    fs.write("a", 6)
    assert fs.find("a").tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 2, 3, 4, 5, 0, 1]
    fs.write("b", 7)
    assert fs.find("b").tolist() == [0, 1, 2, 3, 4, 5, 0]
    assert (fs.intervals("a"), fs.intervals("b")) == (2, 1)


def test_growing_again_without_a_write_adds_no_interval():
    fs = Hercules(2, block_size=1)
    fs.write("a", 3)
    for servers in (3, 4, 5, 5):
        fs.resize(servers)
        fs.write("a", 0)
    assert fs.intervals("a") == 1
    fs.write("a", 1)
    assert fs.intervals("a") == 2


def test_partial_redistribution_by_hand():
    """Server 2 of three leaves: its blocks 2, 5, 8, 11 go to servers 0 and 1 in turn; nothing else moves."""
    fs = Hercules(3, block_size=100)
    fs.write("a", 12)
    moved = fs.resize(2)
    assert fs.find("a").tolist() == [0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1]
    assert moved == Move(blocks=4, bytes=400, busiest=400)
    assert moved.seconds(50.0) == 8.0


def test_total_redistribution_by_hand():
    """Blocks 0 1 2 0 1 2 become 0 1 0 1 0 1: four of six move. Server 0 sends one and gets two, server 2 sends two."""
    fs = Hercules(3, block_size=100)
    fs.write("a", 6)
    assert fs.resize(2, how="total") == Move(blocks=4, bytes=400, busiest=200)
    assert fs.find("a").tolist() == [0, 1, 0, 1, 0, 1]
    assert fs.intervals("a") == 1


def test_the_busiest_server_may_be_one_that_receives():
    """Two servers send 2 blocks each, and the one that stays gets all 4."""
    fs = Hercules(3, block_size=100)
    fs.write("a", 6)
    assert fs.resize(1) == Move(blocks=4, bytes=400, busiest=400)


@pytest.mark.parametrize("seed", range(20))
def test_partial_never_moves_more_than_total(seed):
    rng = np.random.default_rng(seed)
    fs = Hercules(8, block_size=1)
    for servers in rng.integers(3, 9, 6).tolist():
        fs.write("a", int(rng.integers(1, 100)))
        fs.write(f"small {servers}", 1)
        fs.resize(servers)
    leaving = rng.choice(fs.servers, 2, replace=False).tolist()
    other, held = copy.deepcopy(fs), fs.held()
    partial, total = fs.decommission(leaving, "partial"), other.decommission(leaving, "total")
    assert partial.blocks == sum(held[server] for server in leaving) <= total.blocks


def test_small_data_sets_are_dealt_out_evenly():
    """One hundred data sets of one block each lie on server 0. It leaves, and three others get 33 or 34 each."""
    fs = Hercules(4, block_size=1)
    for k in range(100):
        fs.write(f"file {k}", 1)
    fs.decommission([0])
    fs.finish()
    assert sorted(fs.held().values()) == [33, 33, 34]


@pytest.mark.parametrize("n", [7, 1_000, 100_000])
def test_blocks_of_one_interval_are_dealt_out_evenly(n):
    fs = Hercules(16, block_size=1)
    fs.write("a", n)
    before = fs.held()
    fs.decommission([3, 5, 11])
    fs.finish()
    gained = [fs.held()[server] - before[server] for server in fs.servers]
    assert max(gained) - min(gained) <= 1


def test_maps_stay_small():
    fs = Hercules(16, block_size=1)
    for servers in (15, 16, 14, 16, 12, 16):
        fs.write("a", 1_000_000)
        fs.resize(servers)
    assert fs.intervals("a") == 6


def test_states_of_commissioning():
    fs = Hercules(2, block_size=1)
    fs.write("a", 2)
    assert fs.state is fs.state_of("a") is State.READY
    fs.commission([7, 4])
    assert fs.state is State.COMMISSIONING
    fs.write("a", 4)  # work goes on, without the new ones
    assert fs.find("a").tolist() == [0, 1, 0, 1, 0, 1]
    fs.finish()
    assert fs.state is State.READY
    assert fs.servers == (0, 1, 7, 4)
    fs.write("a", 4)
    assert fs.find("a", [6, 7, 8, 9]).tolist() == [7, 4, 0, 1]


def test_states_of_decommissioning():
    fs = Hercules(3, block_size=1)
    fs.write("wide", 3)
    fs.write("small", 1)
    fs.decommission([2])
    assert fs.state is fs.state_of("wide") is State.DECOMMISSIONING
    assert fs.state_of("small") is State.READY
    with pytest.raises(InputError, match=r"data set 'wide' is being decommissioned.*finish\(\)"):
        fs.write("wide", 1)
    fs.write("small", 3)  # not on the server that leaves, and not there now
    fs.write("new", 4)
    assert fs.find("small").tolist() == [0, 1, 0, 1]
    assert fs.find("wide").tolist() == [0, 1, 2]
    assert fs.held() == {0: 5, 1: 5, 2: 1}
    fs.finish()
    assert fs.state_of("wide") is State.READY
    assert fs.held() == {0: 6, 1: 5}


def test_numbers_of_servers_that_left_are_given_again():
    fs = Hercules(4, block_size=1)
    fs.decommission([1, 2])
    fs.finish()
    fs.resize(5)
    assert fs.servers == (0, 3, 1, 2, 4)


def test_room_that_is_promised_to_moving_blocks_is_taken():
    fs = Hercules(2, block_size=10, capacity=40)
    fs.write("a", 6)
    with pytest.raises(InputError, match="shrinking to 1 server needs 60 bytes on one server, which holds 40"):
        fs.resize(1)
    fs = Hercules(2, block_size=10, capacity=40)
    fs.write("a", 4)
    fs.decommission(1)
    with pytest.raises(InputError, match="data set 'b' needs 50 bytes"):
        fs.write("b", 1)


def test_a_refusal_changes_nothing():
    fs = Hercules(2, block_size=10, capacity=40, nodes=3)
    fs.write("a", 6)
    for refused in (lambda: fs.resize(1), lambda: fs.resize(4), lambda: fs.write("a", 3), lambda: fs.decommission([5])):
        with pytest.raises(InputError):
            refused()
        assert (fs.state, fs.servers, fs.sets, fs.held()) == (State.READY, (0, 1), {"a": 6}, {0: 3, 1: 3})
    fs.write("a", 2)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda fs: fs.resize(0), "a file system cannot have 0 servers; leave it 1 at least"),
        (lambda fs: fs.decommission(4), "a file system cannot have 0 servers"),
        (lambda fs: fs.decommission([0, 1, 2, 3]), "a file system cannot have 0 servers"),
        (lambda fs: fs.resize(7), "7 servers asked for, but there are 6 nodes; ask for fewer"),
        (lambda fs: fs.commission(3), "7 servers asked for, but there are 6 nodes"),
        (lambda fs: fs.commission([6]), "a server is 6; give a number of 5 at most"),
        (lambda fs: fs.commission([1]), "server 1 is part of the file system"),
        (lambda fs: fs.commission([4, 4]), "4, 4 has one twice"),
        (lambda fs: fs.commission(1.5), "the servers is 1.5, of type float"),
        (lambda fs: fs.commission(-1), "servers to add is -1"),
        (lambda fs: fs.decommission([5]), "server 5 is not part of the file system; its servers are 0, 1, 2, 3"),
        (lambda fs: fs.decommission(1, how="totally"), "how is 'totally': did you mean 'total'"),
        (lambda fs: fs.write("a", -1), "the number of blocks is -1; give a number from 0 up"),
        (lambda fs: fs.write("a", 41), "data set 'a' needs 1,100 bytes on one server, which holds 1,000"),
        (lambda fs: fs.write(3, 1), "the name of a data set is 3, of type int"),
        (lambda fs: fs.find("b"), "there is no data set 'b'; write it first"),
        (lambda fs: Hercules(0, 100), "cannot have 0 servers"),
        (lambda fs: Hercules(7, 100, nodes=6), "7 servers asked for, but there are 6 nodes"),
        (lambda fs: Hercules(1, 0), "block_size is 0"),
        (lambda fs: Hercules(1, 100, capacity=0), "capacity is 0"),
    ],
)
def test_mistakes_get_one_message(ask, message):
    with pytest.raises(InputError) as refused:
        ask(Hercules(4, block_size=100, capacity=1_000, nodes=6))
    assert message in str(refused.value)


def test_blocks_that_are_not_there():
    fs = Hercules(4, block_size=1)
    fs.write("a", 5)
    for wrong in (5, -1, [0, 9]):
        with pytest.raises(InputError, match="data set 'a' has 5 blocks, and no block"):
            fs.find("a", wrong)
    with pytest.raises(InputError, match="whole numbers"):
        fs.find("a", 0.5)
    assert fs.find("a", []).tolist() == []
    assert fs.find("a", 4) == 0


def test_no_change_begins_before_the_last_is_finished():
    fs = Hercules(2, block_size=1)
    fs.commission(1)
    for change in (lambda: fs.commission(1), lambda: fs.decommission(1), lambda: fs.resize(3)):
        with pytest.raises(InputError, match=r"is commissioning; call finish\(\) before"):
            change()


def test_a_line():
    fs = Hercules(2, block_size=1)
    fs.write("a", 1)
    assert repr(fs) == "<Hercules, ready: 1 data set on 2 servers>"
