"""Windows of a site against what they say, one by one."""

import math
import random

import numpy as np
import pytest

from forebay.algorithms.availability.site_windows import keeps_out, left_open, next_edge
from forebay.core.tables import PLANNED
from twins import windows as slow

pytestmark = pytest.mark.small


def test_by_hand():
    """From 100 to 150. Who ends at 100, or begins at 150, is not in its way; whose it is may begin from 100 on."""
    planned = np.array([(100.0, 150.0, 0b110)], PLANNED)
    window = planned[0]
    told = {
        (time, mine): bool(keeps_out(window, time, 50.0, mine)) for time in (50, 51, 100, 149, 150) for mine in (0, 1)
    }
    assert {who for who, out in told.items() if out} == {(51, 0), (51, 1), (100, 0), (149, 0)}
    assert not keeps_out(window, 50.0 + 1e-12, 50.0, 0)  # one instant
    assert left_open(planned, 0b1011, 0, 60.0, 50.0) == 0b1001
    assert left_open(planned, 0b1011, 1, 100.0, 50.0) == 0b1011
    assert [next_edge(planned, passed) for passed in (0.0, 100.0, 150.0)] == [100.0, 150.0, math.inf]


def bits(places):
    return sum(1 << place for place in places)


@pytest.mark.parametrize("seed", range(20))
def test_as_the_twin(seed):
    rng = random.Random(seed)

    def some(n):
        return {place for place in range(n) if rng.random() < 0.5}

    rows = [(start := float(rng.randint(0, 20)), start + rng.randint(1, 9), some(6)) for _ in range(4)]
    planned = np.array([(start, end, bits(atoms)) for start, end, atoms in rows], PLANNED)
    for time in map(float, range(25)):
        walltime, mine, atoms = float(rng.choice((1, 3, 9, math.inf))), some(4), some(6)
        twin = slow.left_open(rows, atoms, mine, time, walltime)
        assert left_open(planned, bits(atoms), bits(mine), time, walltime) == bits(twin)
        assert next_edge(planned, time) == slow.next_edge(rows, time)
