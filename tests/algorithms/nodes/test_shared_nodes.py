"""Placement inside shared nodes, against nodes looked at one by one."""

import random

import numpy as np
import pytest

from forebay.algorithms.nodes import shared_nodes
from forebay.core.inside import ASK, DIMENSIONS, PLACEMENTS
from forebay.core.tables import PICK
from twins import inside as naive

pytestmark = pytest.mark.small


def some_nodes(rng):
    """Nodes of one to three classes, in use here and there, for the twin and for kernels."""
    nodes = naive.make_nodes(
        (
            rng.choice((1, 2, 3, 5, 40, 70)),
            (rng.randint(1, 6), rng.randint(0, 8), rng.randint(0, 3), rng.choice((0, 6))),
        )
        for _ in range(rng.randint(1, 3))
    )
    for node in nodes:
        if rng.random() < 0.6:
            node["free"] = tuple(rng.randint(0, most) for most in node["full"])
    atoms = [node["id"] for node in nodes if node["id"] == 0 or node["atom"] != nodes[node["id"] - 1]["atom"]]
    room, full = (np.array([node[word] for node in nodes], np.int64) for word in ("free", "full"))
    room = with_blocks(room)
    blocks = [nodes[begin : begin + shared_nodes.BLOCK] for begin in range(0, len(nodes), shared_nodes.BLOCK)]
    assert room[len(nodes) :].tolist() == [naive.most_of(block) for block in blocks]
    return nodes, room, full, np.array([*atoms, len(nodes)], np.int64)


def with_blocks(nodes):
    """The room of nodes as kernels have it: nodes, then the most that any of a block has."""
    room = np.zeros((shared_nodes.n_rows(len(nodes)), DIMENSIONS), np.int64)
    room[: len(nodes)] = nodes
    for block in range(len(room) - len(nodes)):
        shared_nodes.bound_block(room, len(nodes), block)
    return room


def some_ask(rng, n_atoms):
    """A job for the twin, and what kernels take for it."""
    job = {
        "parts": rng.randint(1, 6),
        "each": (rng.randint(1, 3), rng.choice((0, 0, 1, 2)), rng.choice((0, 0, 0, 1)), rng.choice((0, 0, 1, 3))),
        "allowed": {a for a in range(n_atoms) if rng.random() < 0.8},
        "exclusive": rng.random() < 0.2,
        "spread": rng.random() < 0.5,
    }
    bits = sum(1 << a for a in job["allowed"])
    return job, np.array([(job["parts"], *job["each"], bits, job["spread"], job["exclusive"])], ASK)[0]


@pytest.mark.parametrize("seed", range(40))
def test_parts_lie_where_the_rule_says(seed):
    rng = random.Random(seed)
    for _ in range(25):
        nodes, room, full, atoms = some_nodes(rng)
        job, ask = some_ask(rng, len(atoms) - 1)
        placement = rng.randrange(3)
        expected = naive.place(nodes, job, PLACEMENTS[placement])
        assert shared_nodes.count_parts(room, full, atoms, ask) == min(
            sum(naive.holds(node, job) for node in nodes), job["parts"]
        )
        picks = np.zeros(20, PICK)
        n = shared_nodes.place_parts(room, full, atoms, ask, placement, picks, 3)
        if expected is None:
            assert n == -1
            continue
        found = picks[3:n]
        assert list(zip(found["low"].tolist(), found["count"].tolist(), strict=True)) == sorted(expected.items())
        before = room.copy()
        naive.take(nodes, job, expected)
        taken = {k: shared_nodes.take_parts(room, full, k, ask, parts) for k, parts in expected.items()}
        assert [node["free"] for node in nodes] == [tuple(row) for row in room[: len(nodes)].tolist()]
        assert (room == with_blocks(room[: len(nodes)])).all()
        for k, amounts in taken.items():
            assert amounts == shared_nodes.taken_by(full, k, ask, expected[k])
            shared_nodes.give_amounts(room, full, k, amounts)
        assert (room == before).all()


def test_best_fit_lowest_and_worst_fit():
    """Free cores 4, 1, 2 and 4: a part of one core goes to node 1, to node 0, and to node 0, the lower of the most."""
    room = np.array([[4, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0]], np.int64)
    room, full, atoms = with_blocks(room), np.full_like(room, 4), np.array([0, 4], np.int64)
    ask = np.array([(1, 1, 0, 0, 0, 1, 0, 0)], ASK)[0]
    picks = np.zeros(1, PICK)
    where = {}
    for placement, name in enumerate(PLACEMENTS):
        assert shared_nodes.place_parts(room, full, atoms, ask, placement, picks, 0) == 1
        where[name] = int(picks[0]["low"])
    assert where == {"best-fit": 1, "lowest": 0, "worst-fit": 0}


def test_holds():
    """Of 7 cores, 10 B and 2 GPUs free, parts of (2, 3, 1) find room twice: GPUs bind; without them 3 times.

    5 of the 9 B of storage that are free bind once. Spread, a node holds one part; it is in use: none that is alone.
    """
    room, full = with_blocks(np.array([[7, 10, 2, 9]], np.int64)), np.array([[8, 16, 2, 9]], np.int64)
    each = ((2, 3, 1, 0), (2, 3, 0, 0), (2, 3, 0, 5), (2, 3, 0, 0), (2, 3, 0, 0))
    kinds = ((0, 0), (0, 0), (0, 0), (1, 0), (0, 1))
    asks = np.array([(9, *need, 1, *kind) for need, kind in zip(each, kinds, strict=True)], ASK)
    assert [shared_nodes.holds(room, full, 0, ask) for ask in asks] == [2, 3, 1, 1, 0]


def test_holds_in_a_row_of_another_table():
    """A row has all 8 cores of a node, which will be free: 4 parts of 2 cores, or one that has the node to itself."""
    later, full = np.array([[0, 0, 0, 0], [8, 0, 0, 0]], np.int64), np.array([[8, 0, 0, 0]], np.int64)
    asks = np.array([(9, 2, 0, 0, 0, 1, 0, 0), (9, 2, 0, 0, 0, 1, 1, 1), (9, 9, 0, 0, 0, 1, 0, 0)], ASK)
    assert [shared_nodes.may_hold(later, 1, ask) for ask in asks] == [True, True, False]
    assert [shared_nodes.holds_in(later, 1, full, 0, ask) for ask in asks] == [4, 1, 0]
    assert shared_nodes.holds_in(later, 0, full, 0, asks[0]) == 0
