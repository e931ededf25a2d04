"""The index over a long line against plain lists, and against who can really start."""

import random

import numpy as np
import pytest

from forebay.algorithms import blocks
from twins import blocks as naive

pytestmark = pytest.mark.small


def test_rows_and_classes():
    for n in (0, 1, 63, 64, 4095, 4096, 4097, 100_000):
        assert blocks.n_rows(n) == naive.n_rows(n)
    for seconds in (0.0, 1e-12, 1.0, 1.0000001, 2.0, 3.9, 4.0, 2.0**30, 2.0**30 + 1, 1e300, float("inf")):
        assert blocks.walltime_class(seconds) == naive.walltime_class(seconds)


def drawn(seed, n, first):
    """A line from `first` on, some places of it empty, in an index and in its twin."""
    rng = random.Random(seed)
    index, twin = np.zeros((blocks.n_rows(first + n), 3), np.int64), naive.Line()
    blocks.begin_group(index, first)
    twin.begin_group(first)
    jobs = {}
    for place in range(first, first + n):
        if place % blocks.PLACES == 0:
            blocks.begin_block(index, place)
            twin.begin_block(place)
        if rng.random() < 0.8:
            demand = [rng.randint(1, 60) + 40 * (place // 64 % 3), rng.randint(0, 90)]
            jobs[place] = rng.choice((1.0, 50.0, 3000.0)) * rng.randint(1, 9), demand
            blocks.add(index, place, jobs[place][0], np.array(demand))
            twin.add(place, *jobs[place])
    return rng, index, twin, jobs


@pytest.mark.parametrize("seed", range(20))
def test_as_the_twin(seed):
    first = random.Random(-seed).choice((0, 5, 64, 4000, 4096))
    rng, index, twin, jobs = drawn(seed, 400, first)
    end = first + 400
    for _ in range(30):
        free, spare = [rng.randint(0, 80), rng.randint(0, 90)], [rng.randint(0, 20)]
        longest = rng.choice((0.5, 9.0, 400.0, float("inf")))
        begin = -(-first // 64) * 64 + 64 * rng.randint(0, 3)
        asked = begin, end, blocks.walltime_class(longest)
        found = blocks.following(index, *asked, np.array(free), np.array(spare))
        assert found == twin.following(*asked, free, spare)
        able = [
            place
            for place, (seconds, demand) in jobs.items()
            if place >= begin
            and all(a <= b for a, b in zip(demand, free, strict=True))
            and (seconds <= longest or demand[0] <= spare[0])
        ]
        assert not able or found <= min(able)
        gone = rng.choice(sorted(jobs))
        del jobs[gone]
        block = gone // 64 * 64
        if block >= first and block + 64 <= end:  # count it again
            assert blocks.n_counted(index, gone) == twin.n_counted(gone)
            blocks.begin_block(index, block)
            twin.begin_block(block)
            for place in range(block, block + 64):
                if place in jobs:
                    blocks.add(index, place, jobs[place][0], np.array(jobs[place][1]))
                    twin.add(place, *jobs[place])
            blocks.sum_up(index, block, first, end)
            twin.sum_up(block, first, end)
