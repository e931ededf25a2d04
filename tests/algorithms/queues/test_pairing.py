"""Pairing heaps against lists that are searched anew."""

import random

import numpy as np
import pytest

from forebay.algorithms.queues.pairing import MEMBER, push_member, remove_member
from twins import kernels as naive

pytestmark = pytest.mark.small


def members(pool, root):
    """Every row of a heap, with the bonds between rows checked on the way."""
    if root < 0:
        return []
    assert pool["prev"][root] == pool["next"][root] == -1
    found, open_rows = [], [root]
    while open_rows:
        row = open_rows.pop()
        found.append(row)
        before, child = row, int(pool["child"][row])
        while child >= 0:
            assert pool["prev"][child] == before
            assert (pool["key"][row], pool["seq"][row]) <= (pool["key"][child], pool["seq"][child])
            open_rows.append(child)
            before, child = child, int(pool["next"][child])
    return found


@pytest.mark.parametrize("seed", range(30))
def test_random_operations(seed):
    """Three heaps in one pool; few distinct keys, so that sequence numbers decide; removals from anywhere."""
    rng = random.Random(seed)
    pool = np.zeros(40, MEMBER)
    roots, twins, blank, seq = [-1] * 3, [naive.Timers() for _ in range(3)], list(range(40)), 0
    for _ in range(150):
        h = rng.randrange(3)
        inside = [slot for _, _, slot in twins[h].rows]
        if blank and (not inside or rng.random() < 0.55):
            row, key = blank.pop(rng.randrange(len(blank))), rng.choice((0.0, 0.5, 1.0, 2.0))
            pool["key"][row], pool["seq"][row] = key, seq
            roots[h] = push_member(pool, roots[h], row)
            twins[h].push(key, seq, row)
            seq += 1
        elif inside:
            row = roots[h] if rng.random() < 0.5 else rng.choice(inside)
            roots[h] = remove_member(pool, roots[h], row)
            twins[h].remove(row)
            blank.append(row)
        for root, twin in zip(roots, twins, strict=True):
            assert sorted(members(pool, root)) == sorted(slot for _, _, slot in twin.rows)
            assert root == (twin.first()[2] if twin.rows else -1)


def test_emptying_a_heap_sorts_it():
    rng = random.Random(1)
    pool = np.zeros(500, MEMBER)
    pool["key"], pool["seq"] = [rng.random() for _ in range(500)], range(500)
    root = -1
    for row in range(500):
        root = push_member(pool, root, row)
    order = []
    while root >= 0:
        order.append(root)
        root = remove_member(pool, root, root)
    assert order == np.argsort(pool["key"], kind="stable").tolist()
