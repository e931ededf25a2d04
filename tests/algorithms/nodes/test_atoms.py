"""How many nodes of each atom a job takes, against nodes counted one by one; and jobs laid into profiles of atoms."""

import random

import numpy as np
import pytest

from forebay.algorithms.availability import layout
from forebay.algorithms.nodes import atoms as kernels
from twins import kernels as naive

pytestmark = pytest.mark.small

NOTHING = np.zeros((0, 3), np.int64), np.zeros((1, 0), np.int64)
TWO_KINDS = np.array([(0, -1), (2, 1)], np.int64)
"""Two atoms of which the first has no column: what column 1 leaves of all nodes."""


def rows_of(sizes, blank):
    """Rows (first node, column) of atoms: columns are the last of one for nodes, one more, and one an atom.

    With `blank` the first has none.
    """
    first = np.cumsum([0, *sizes[:-1]])
    return np.array([(node, 2 + a - blank if a >= blank else -1) for a, node in enumerate(first)], np.int64)


def row_of(park, free, blank):
    counts = [park.free_in(free, a) for a in range(park.n_atoms)]
    return [len(free), 7, *counts[blank:]]


@pytest.mark.parametrize("blank", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_atom_by_atom_what_is_free_all_the_time(seed, blank):
    rng = random.Random(seed)
    for _ in range(50):
        sizes = [rng.randint(1, 4) for _ in range(rng.randint(2, 4))]
        park, nodes, table = naive.Park(sizes), range(sum(sizes)), rows_of(sizes, blank)
        moments = [rng.sample(nodes, rng.randint(0, len(nodes))) for _ in range(rng.randint(1, 3))]
        free = np.array([row_of(park, moment, blank) for moment in moments], np.int64)
        allowed, n = rng.choice((-1, rng.randrange(1, 2 ** len(sizes)))), rng.randint(0, len(nodes))
        for node in nodes:
            assert kernels.atom_of(table, node) == park.atom_of(node)
        for a in range(len(sizes)):
            assert kernels.free_in(free[0], table, a) == park.free_in(moments[0], a)
        assert kernels.may_choose(allowed) == naive.may_choose(allowed)
        share = np.full(len(sizes), -7, np.int64)
        for found, seen in (
            (kernels.share_for(free, 0, len(free), table, allowed, n, share), moments),
            (kernels.share_now(free[0], free[-1], table, allowed, n, share), [moments[0], moments[-1]]),
        ):
            expected = park.share(seen, allowed, n)
            assert found == (expected is not None)
        assert expected is None or share.tolist() == expected
        expected = park.share(moments, allowed, n)
        if kernels.share_for(free, 0, len(free), table, allowed, n, share):
            assert share.tolist() == expected
        assert kernels.has_room(free[0], table, allowed, n) == (park.share(moments[:1], allowed, n) is not None)


def lay(times, rows, demand, duration):
    """Lay a job into a profile of (small, large) nodes; where it begins, and the profile after it."""
    n, R = len(times), 2
    moments, free = np.zeros(n + 4), np.zeros((n + 4, R), np.int64)
    moments[:n] = times
    free[:n] = [(small + large, large) for small, large in rows]
    scratch = np.zeros(R, np.int64), np.zeros(R, np.int64)
    wanted, allowed = np.array(demand, np.int64), 0b10 if demand[1] > 0 else 0b11
    at, n = layout.lay(
        moments, free, n, wanted, duration, 0, 0, R, 0, 0, *NOTHING, *scratch, TWO_KINDS, allowed
    )  # fmt: skip
    after = [(float(moments[i]), int(free[i, 0] - free[i, 1]), int(free[i, 1])) for i in range(n)]
    return (float(moments[at]) if at >= 0 else None), after


def test_it_takes_small_nodes_that_are_free_for_its_whole_time():
    """2 small and 2 large ones are free now, but only 1 small one from 5 on, when somebody was promised the other.

    A job of 2 nodes for 10 s takes that one and a large one, though 2 small ones are free now.
    """
    assert lay([0.0, 5.0], [(2, 2), (1, 2)], (2, 0), 10.0) == (0.0, [(0, 1, 1), (5, 0, 1), (10, 1, 2)])


def test_it_waits_for_nodes_of_its_own():
    """A small node is free until 5 and a large one from 5 on: never fewer than one, but none of them for 10 s.

    At 5 the job can have the large one.
    """
    assert lay([0.0, 5.0], [(1, 0), (0, 1)], (1, 0), 10.0) == (5.0, [(0, 1, 0), (5, 0, 0), (15, 0, 1)])


def test_who_needs_large_ones_waits_for_them():
    """3 small ones are idle; 2 large ones come free at 4."""
    assert lay([0.0, 4.0], [(3, 1), (3, 2)], (2, 2), 1.0) == (4.0, [(0, 3, 1), (4, 3, 0), (5, 3, 2)])
    assert lay([0.0, 4.0], [(3, 1), (3, 2)], (3, 3), 1.0)[0] is None
