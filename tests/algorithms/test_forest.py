"""The index over a long line against plain lists."""

import random

import numpy as np
import pytest

from forebay.algorithms import forest
from twins import forest as naive

pytestmark = pytest.mark.small


def test_rows():
    for n in (0, 1, 63, 64, 65, 4096, 100_000):
        assert forest.n_rows(n) == naive.n_rows(n)


def job(rng, n_resources):
    """Seconds and demands, with many ties, many of nothing, and now and then no end."""
    seconds = rng.choice((0.25, 1.0, 50.5, 3000.0, float("inf"))) * rng.randint(1, 9)
    return seconds, [rng.choice((0, 1, rng.randint(0, 9), rng.randint(0, 90))) for _ in range(n_resources)]


def stretches(rng, n_resources):
    """Two stretches side by side, as full as may be, in an index and its twin; and the line."""
    index = np.full((forest.n_rows(256), forest.N_COLUMNS + n_resources), 7, np.int64)
    twin, line, first = naive.Line(), np.full(1000, -1, np.int64), rng.randint(0, 700)
    for begin, most in ((0, 128), (128, 64)):
        places = sorted(rng.sample(range(first + begin, first + begin + most), rng.randint(0, most)))
        for at, place in enumerate(places, begin):
            seconds, demand = job(rng, n_resources)
            line[place] = at
            forest.put(index, at, place, seconds, np.array(demand))
            twin.put(at, place, seconds, demand)
        forest.grow(index, begin, len(places))
        twin.grow(begin, len(places))
    return index, twin, line, first


@pytest.mark.parametrize("n_resources", [1, 2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_as_the_twin(seed, n_resources):
    rng = random.Random(seed)
    index, twin, line, first = stretches(rng, n_resources)
    for _ in range(60):
        free = [rng.randint(0, 90) for _ in range(n_resources)]
        spare = [rng.randint(0, 30) for _ in range(rng.randint(1, n_resources))]
        longest = rng.choice((0.5, 9.0, 400.0, float("inf")))
        begin, place = rng.choice((0, 128)), first + rng.choice((0, rng.randint(0, 200)))
        expected = twin.find(begin, line, place, longest, free, spare)
        found = forest.find(index, begin, line, place, longest, np.array(free), np.array(spare))
        assert (found if found < len(line) else float("inf")) == expected
        if found < len(line):
            line[found] = rng.choice((-1, -1, -2 - line[found]))  # it leaves for good, or is held back
        held = np.flatnonzero(line < -1)
        if len(held) > 0 and rng.random() < 0.5:
            back = rng.choice(held.tolist())
            line[back] = -2 - line[back]
