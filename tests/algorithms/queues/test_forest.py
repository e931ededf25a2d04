"""The index over a long line against plain lists."""

import random

import numpy as np
import pytest

from forebay.algorithms.nodes import boxes
from forebay.algorithms.queues import forest
from forebay.core.inside import ASK, DIMENSIONS
from twins import forest as naive

pytestmark = pytest.mark.small


def test_rows():
    for n in (0, 1, 63, 64, 65, 4096, 100_000):
        assert forest.n_rows(n) == naive.n_rows(n)


def job(rng, n_resources):
    """Seconds and demands, with many ties, many of nothing, and now and then no end."""
    seconds = rng.choice((0.25, 1.0, 50.5, 3000.0, float("inf"))) * rng.randint(1, 9)
    return seconds, [rng.choice((0, 1, rng.randint(0, 9), rng.randint(0, 90))) for _ in range(n_resources)]


def ask_of(rng, index, at, twin):
    """The job in a row asks for something of a node, too, of some of three atoms."""
    ask, atoms = np.zeros(1, ASK), rng.randint(0, 7)
    amounts = [rng.choice((1, 2, rng.randint(0, 9))) for _ in range(DIMENSIONS)]
    amounts[0], parts = max(amounts[0], 1), rng.choice((1, 1, rng.randint(1, 9)))
    ask["cores"], ask["memory"], ask["gpus"], ask["local"] = amounts
    ask["parts"] = parts
    forest.put_inside(index, at, ask[0], atoms, index.shape[1] - forest.N_INSIDE)
    twin.put_inside(at, amounts, atoms, parts)


def some_boxes(rng):
    """A few, of three atoms."""
    rows = [[1 << rng.randint(0, 2), *(rng.randint(0, 9) for _ in range(DIMENSIONS))] for _ in range(rng.randint(0, 5))]
    return np.array(rows, np.int64).reshape(len(rows), boxes.N_COLUMNS)


def a_tally(rng):
    """Of three atoms: how many nodes have 0, 1, ... 9 cores, or more."""
    return np.array([sorted((rng.randint(0, 3) for _ in range(10)), reverse=True) for _ in range(3)])


def stretches(rng, n_resources, shared):
    """Two stretches side by side, as full as may be, in an index and its twin; and the line."""
    n_columns = forest.N_COLUMNS + n_resources + (forest.N_INSIDE if shared else 0)
    index = np.full((forest.n_rows(256), n_columns), 7, np.int64)
    twin, line, first = naive.Line(), np.full(1000, -1, np.int64), rng.randint(0, 700)
    for begin, most in ((0, 128), (128, 64)):
        places = sorted(rng.sample(range(first + begin, first + begin + most), rng.randint(0, most)))
        for at, place in enumerate(places, begin):
            seconds, demand = job(rng, n_resources)
            line[place] = at
            forest.put(index, at, place, seconds, np.array(demand))
            twin.put(at, place, seconds, demand)
            if shared:
                ask_of(rng, index, at, twin)
        parts = n_columns - forest.N_INSIDE if shared else forest.N_COLUMNS
        classes = rng.choice((0, parts))  # of those that have as much of the first
        forest.grow(index, begin, len(places), forest.Parting(parts, n_columns, classes))
        twin.grow(begin, len(places))
    return index, twin, line, first


@pytest.mark.parametrize("n_resources", [1, 2, 3])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_as_the_twin(seed, shared, n_resources):
    rng = random.Random(seed)
    index, twin, line, first = stretches(rng, n_resources, shared)
    for _ in range(60):
        free = [rng.randint(0, 90) for _ in range(n_resources)]
        spare = [rng.randint(0, 30) for _ in range(rng.randint(1, n_resources))]
        longest = rng.choice((0.5, 9.0, 400.0, float("inf")))
        begin, place = rng.choice((0, 128)), first + rng.choice((0, rng.randint(0, 200)))
        inside = index.shape[1] - forest.N_INSIDE if shared else 0
        of_nodes = some_boxes(rng), some_boxes(rng), a_tally(rng), a_tally(rng)
        sought = forest.Sought(longest, np.array(free), np.array(spare), inside, *of_nodes)
        expected = twin.find(begin, line, place, sought)
        found = forest.find(index, begin, line, place, sought)
        assert (found if found < len(line) else float("inf")) == expected
        if found < len(line):
            line[found] = rng.choice((-1, -1, -2 - line[found]))  # it leaves for good, or is held back
        held = np.flatnonzero(line < -1)
        if len(held) > 0 and rng.random() < 0.5:
            back = rng.choice(held.tolist())
            line[back] = -2 - line[back]
