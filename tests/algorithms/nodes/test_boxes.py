"""What nodes have free, as boxes, against plain lists."""

import itertools
import random

import numpy as np
import pytest

from forebay.algorithms.nodes import boxes, shared_nodes
from forebay.core.inside import DIMENSIONS
from twins import boxes as naive
from twins.forest import most_parts

pytestmark = pytest.mark.small


def machine(rng, n_kinds):
    """What is free in nodes of a few atoms, with bounds of blocks behind, and where atoms begin."""
    atoms = np.cumsum([0] + [rng.randint(0, 50) for _ in range(rng.randint(1, 3))])
    room = np.zeros((shared_nodes.n_rows(int(atoms[-1])), DIMENSIONS), np.int64)
    for node in range(atoms[-1]):
        room[node] = [rng.choice((0, 1, rng.randint(0, n_kinds))) for _ in range(DIMENSIONS)]
    for block in range(len(room) - atoms[-1]):
        shared_nodes.bound_block(room, atoms[-1], block)
    return room, atoms


def outlined(room, atoms):
    """The boxes of each atom, as lists."""
    table = np.full((boxes.MOST * (len(atoms) - 1), boxes.N_COLUMNS), -7, np.int64)
    found = table[: boxes.outline(room, atoms[-1], atoms, table)]
    return found, [[tuple(box[1:].tolist()) for box in found if box[0] == 1 << a] for a in range(len(atoms) - 1)]


@pytest.mark.parametrize("seed", range(40))
def test_few_boxes_are_those_of_the_twin(seed):
    """Of cores and memory, and with small numbers, there are never more than an atom may have: none is merged."""
    room, atoms = machine(random.Random(seed), 3)
    room[:, 2:] = 0
    expected = [naive.outline(room[atoms[a] : atoms[a + 1]].tolist()) for a in range(len(atoms) - 1)]
    for own, twin in zip(outlined(room, atoms)[1], expected, strict=True):
        assert sorted(own) == twin


@pytest.mark.parametrize("seed", range(40))
def test_whoever_finds_room_on_a_node_fits_into_a_box(seed):
    rng = random.Random(seed)
    room, atoms = machine(rng, rng.choice((3, 40)))
    found, _ = outlined(room, atoms)
    for _ in range(200):
        row = np.array(
            [rng.getrandbits(len(atoms) - 1), 9, *(rng.choice((0, 1, rng.randint(0, 40))) for _ in range(4))]
        )
        row[2] = max(row[2], 1)  # cores
        nodes = [n for a in range(len(atoms) - 1) if row[0] >> a & 1 for n in room[atoms[a] : atoms[a + 1]].tolist()]
        chosen = [box[1:] for box in found.tolist() if box[0] & row[0]]
        assert boxes.one_holds(found, row, 0, 2) == naive.one_holds(chosen, row[2:].tolist())
        if naive.one_holds(nodes, row[2:].tolist()):
            assert boxes.one_holds(found, row, 0, 2)


@pytest.mark.parametrize("seed", range(20))
def test_tally(seed):
    rng = random.Random(seed)
    room, atoms = machine(rng, 9)
    counts = np.full((len(atoms) - 1, 10), -7)
    boxes.tally(room, atoms, counts)
    assert counts.tolist() == [naive.tally(room[a:b].tolist(), 9) for a, b in itertools.pairwise(atoms)]
    for _ in range(50):
        where, cores, parts = rng.getrandbits(len(counts)), rng.randint(1, 12), rng.randint(1, 60)
        most = most_parts(counts.tolist(), where, cores)
        assert boxes.enough_nodes(counts, where, cores, parts) == (parts <= most)
