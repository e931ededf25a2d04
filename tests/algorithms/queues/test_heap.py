"""The heap against a plain list: pushes, pops, and removals from anywhere."""

import random

import numpy as np
import pytest

from forebay.algorithms.queues import heap
from twins import kernels as naive

pytestmark = pytest.mark.small

SLOTS = 60


class Pair:
    """A heap and its twin, fed alike."""

    def __init__(self):
        self.rows, self.where, self.n = np.zeros(SLOTS, heap.TIMER), np.full(SLOTS, -1), 0
        self.twin = naive.Timers()

    def push(self, time, seq, slot):
        self.n = heap.push(self.rows, self.where, self.n, time, seq, slot)
        self.twin.push(time, seq, slot)

    def remove(self, slot):
        self.n = heap.remove(self.rows, self.where, self.n, slot)
        self.twin.remove(slot)

    def check(self):
        """The first is the first, and every slot knows its place."""
        assert self.n == len(self.twin.rows)
        assert sorted(tuple(row) for row in self.rows[: self.n]) == sorted(self.twin.rows)
        if self.n:
            assert tuple(self.rows[0]) == self.twin.first()
        for slot in range(SLOTS):
            at = self.where[slot]
            assert at == -1 or self.rows[at]["slot"] == slot
        assert np.count_nonzero(self.where >= 0) == self.n


@pytest.mark.parametrize("seed", range(10))
def test_random_operations(seed):
    """Few distinct times, so most comparisons are ties; a third of the removals take the first, the others any."""
    rng = random.Random(seed)
    pair, absent = Pair(), list(range(SLOTS))
    for seq in range(200):
        present = [slot for _, _, slot in pair.twin.rows]
        if absent and (not present or rng.random() < 0.6):
            pair.push(float(rng.randint(0, 5)), seq, absent.pop(rng.randrange(len(absent))))
        else:
            slot = pair.twin.first()[2] if rng.random() < 0.3 else rng.choice(present)
            pair.remove(slot)
            absent.append(slot)
        pair.check()


def test_comes_out_sorted():
    rng = random.Random(1)
    pair = Pair()
    for slot in range(SLOTS):
        pair.push(float(rng.randint(0, 9)), rng.randrange(1000) * SLOTS + slot, slot)
    expected, out = sorted(pair.twin.rows), []
    while pair.n:
        out.append(tuple(pair.rows[0]))
        pair.remove(out[-1][2])
    assert out == expected


def test_removal_can_lift_the_last():
    """The last row fills the hole; here it is smaller than the hole's parent and must rise, not sink.

          0                slots by place:  0 | 10, 1 | 11, 12, 2, 3
      10      1            Taking out 11 (place 3, under 10) puts 3 there: 3 < 10, so it changes places with 10.
    11  12  2   3
    """
    pair = Pair()
    for slot in (0, 10, 1, 11, 12, 2, 3):
        pair.push(float(slot), slot, slot)
    assert [int(row["slot"]) for row in pair.rows[: pair.n]] == [0, 10, 1, 11, 12, 2, 3]
    pair.remove(11)
    pair.check()
    assert [int(row["slot"]) for row in pair.rows[: pair.n]] == [0, 3, 1, 10, 12, 2]
