"""The Pareto front against all sets of jobs; volumes against cubes counted."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.chunks import chunks
from forebay.algorithms.search import pareto
from forebay.core.stopping import NO_CLOCK
from twins import pareto as naive

PLENTY = 10**9


def table(rows, n_columns):
    return np.array(rows, np.int64).reshape(len(rows), n_columns)


def points_of(n, loads, sets):
    return n if n < 0 else [(tuple(loads[q].tolist()), int(sets[q])) for q in range(n)]


def front(demands, room, limit=PLENTY, rows=20_000, limits=0):
    loads, sets = np.full((rows, len(room) - limits), -7), np.full(rows, -7)
    n = pareto.front(table(demands, len(room)), np.array(room, np.int64), limit, loads, sets, NO_CLOCK)
    return points_of(n, loads, sets)


def front_with_waste(demands, room, waste, small, free_small, step, limit=PLENTY, rows=20_000, limits=0):
    loads, sets = np.full((rows, len(room) + 1 - limits), -7), np.full(rows, -7)
    each = np.array(waste, np.int64), np.array(small, np.int64)
    jobs = table(demands, len(room))
    n = pareto.front_with_waste(jobs, np.array(room, np.int64), (*each, free_small, step), limit, loads, sets, NO_CLOCK)
    return points_of(n, loads, sets)


def random_window(rng, R, most):
    """Few distinct demands or many, zeros among them, some larger than the room; room from none to enough for all."""
    w = rng.randint(rng.choice((0, most // 2)), most)
    top, asking = rng.choice((1, 3, 10, 1000, 10**6, 10**6)), rng.choice((0.5, 0.8, 1.0))
    demands = [tuple(rng.randint(1, top) if rng.random() < asking else 0 for _ in range(R)) for _ in range(w)]
    low, high = rng.choice(((0.0, 0.2), (0.2, 0.5), (0.2, 0.5), (0.3, 0.9), (0.9, 1.1)))
    return demands, [round(sum(row[r] for row in demands) * rng.uniform(low, high)) for r in range(R)]


def random_waste(rng, w):
    top = rng.choice((0, 1, 4, 50))
    waste, small = [rng.randint(0, top) for _ in range(w)], [rng.randint(0, 3) for _ in range(w)]
    return waste, small, rng.randint(0, 2 * w), rng.randint(0, 4)


def check_windows(seed, R, most, n_windows):
    rng = random.Random(seed)
    for _ in range(n_windows):
        window = random_window(rng, R, most)
        assert front(*window) == naive.front(*window), window


def check_windows_with_limits(seed, R, most, n_windows):
    """Some of the resources do not count; with and without waste."""
    rng = random.Random(f"limits {seed}")
    for _ in range(n_windows):
        window, limits = random_window(rng, R, most), rng.randint(1, R - 1)
        assert front(*window, limits=limits) == naive.front(*window, limits=limits), window
        window += random_waste(rng, len(window[0]))
        assert front_with_waste(*window, limits=limits) == naive.front(*window, limits=limits), window


def check_windows_with_waste(seed, R, most, n_windows):
    rng = random.Random(seed)
    for _ in range(n_windows):
        window = random_window(rng, R, most)
        window += random_waste(rng, len(window[0]))
        assert front_with_waste(*window) == naive.front(*window), window


@pytest.mark.small
@pytest.mark.parametrize("R", [1, 2, 3, 5, 8])
def test_few_jobs(R):
    check_windows(R, R, 6, 30)
    check_windows_with_waste(R, R, 5, 15)
    if R > 1:
        check_windows_with_limits(R, R, 5, 15)


@pytest.mark.parametrize("chunk", chunks(1, 5))
@pytest.mark.parametrize("R", [2, 3, 5])
def test_all_sets_of_up_to_sixteen(R, chunk):
    check_windows(10 * R + chunk, R, 16, 100)


@pytest.mark.parametrize("chunk", chunks(1, 5))
@pytest.mark.parametrize("R", [2, 3, 5])
def test_all_sets_of_up_to_sixteen_with_waste(R, chunk):
    check_windows_with_waste(10 * R + chunk, R, 16 if R < 5 else 14, 100)  # fronts of hundreds of points


@pytest.mark.parametrize("chunk", chunks(2, 5))
@pytest.mark.parametrize("R", [2, 4])
def test_all_sets_of_up_to_fourteen_with_mere_limits(R, chunk):
    check_windows_with_limits(10 * R + chunk, R, 14, 40)


@pytest.mark.small
def test_a_mere_limit_by_hand():
    """Of 4 nodes 2 are large. Jobs of 2 small, 2 large and 1 large: all nodes, but not 3 large ones.

    If large nodes counted, {1, 2} with three of them would be on the front too, were there room.
    """
    demands = [(2, 0), (2, 2), (1, 1)]
    assert front(demands, (4, 2), limits=1) == [((4,), 0b011)]
    assert front(demands, (4, 1), limits=1) == [((3,), 0b101)]
    # Equal use of nodes: that with the first job, whatever it takes of the limit.
    assert front([(2, 2), (2, 0)], (2, 2), limits=1) == [((2,), 0b01)]


@pytest.mark.small
def test_why_there_is_a_front():
    """A scheduler that fills nodes takes jobs 0 and 4 and leaves the buffer empty; four other jobs nearly fill both."""
    demands = [(80, 20), (10, 85), (40, 5), (10, 0), (20, 0)]
    assert front(demands, (100, 100)) == [((100, 20), 0b10001), ((80, 90), 0b11110)]


@pytest.mark.small
@pytest.mark.parametrize(
    ("demands", "room", "points"),
    [
        ([], (5, 5), [((0, 0), 0)]),
        ([(9,), (5,), (5,)], (10,), [((10,), 0b110)]),  # 9 alone dominates 5 alone, yet is in no best set
        ([(5,), (5,), (5,)], (10,), [((10,), 0b011)]),  # equal jobs: the first ones
        ([(1,), (1,), (2,)], (2,), [((2,), 0b011)]),
        ([(2,), (1,), (1,)], (2,), [((2,), 0b001)]),
        ([(1,), (3,), (2,), (2,)], (4,), [((4,), 0b0011)]),
        ([(0, 0), (3, 3), (0, 0)], (2, 9), [((0, 0), 0b101)]),  # who asks for nothing is in; who is too large is not
        ([(3, 0), (0, 3), (9, 9)], (3, 3), [((3, 3), 0b011)]),
        ([(1, 9), (9, 1)], (8, 8), [((0, 0), 0)]),
        ([(1, 2), (2, 1)], (2, 2), [((2, 1), 0b10), ((1, 2), 0b01)]),
        ([(1, 2), (2, 1)], (3, 3), [((3, 3), 0b11)]),
    ],
)
def test_by_hand(demands, room, points):
    assert front(demands, room) == points
    assert naive.front(demands, room) == points


@pytest.mark.small
def test_waste_by_hand():
    """Two jobs of 4 nodes; 4 small nodes are free, and each further job that wants them wastes 10 a node."""
    points = front_with_waste([(4,), (4,)], (8,), [0, 1], [4, 4], 4, 10)
    assert points == [((8, -41), 0b11), ((4, 0), 0b01)]
    assert front_with_waste([(4,), (4,)], (8,), [2, 1], [4, 4], 8, 10) == [
        ((8, -3), 0b11),
        ((4, -1), 0b10),
        ((0, 0), 0b00),
    ]


WINDOWS = st.integers(1, 4).flatmap(
    lambda R: st.tuples(st.lists(st.tuples(*[st.integers(0, 9)] * R), max_size=6), st.tuples(*[st.integers(0, 25)] * R))
)


@pytest.mark.small
@given(WINDOWS)
def test_any_window(window):
    assert front(*window) == naive.front(*window)


@pytest.mark.small
@given(WINDOWS)
def test_no_waste_is_no_objective(window):
    demands, room = window
    none = [0] * len(demands)
    with_waste = front_with_waste(demands, room, none, none, 0, 5)
    assert [(load[:-1], chosen) for load, chosen in with_waste] == front(demands, room)


@pytest.mark.parametrize("seed", chunks(12, 40))
def test_up_to_62_jobs(seed):
    """Too many sets to look at, but they have few different loads."""
    rng = random.Random(seed)
    w, R = rng.choice((25, 40, 62)), 1 + seed % 3
    demands = [tuple(rng.choice((0, 1, 2, 3, 7)) for _ in range(R)) for _ in range(w)]
    room = [rng.randint(5, (400, 60, 18)[R - 1]) for _ in range(R)]
    best = naive.sums(demands, [1 << (w - 1 - i) for i in range(w)], room)
    loads, keys = table(list(best), R), np.array(list(best.values()))
    assert front(demands, room) == naive.undominated(loads, keys[:, None] >> np.arange(w - 1, -1, -1) & 1)


@pytest.mark.small
def test_too_much_work():
    """Ten sizes with 1,024 sums."""
    demands, room = [(1 << k, 1025 - (1 << k)) for k in range(10)], (700, 5000)
    whole = naive.front(demands, room)
    fronts = [front(demands, room, limit) for limit in (0, 1, 100, 2000, 10**7)]
    assert fronts[:4] == [-1] * 4
    assert fronts[-1] == whole
    zeros = [0] * len(demands)
    assert front_with_waste(demands, room, zeros, zeros, 0, 0, 2000) == -1


@pytest.mark.small
def test_too_few_rows():
    demands = [(1, 2), (2, 1)]
    assert front(demands, (2, 2), rows=1) == -1
    assert len(front(demands, (2, 2), rows=2)) == 2
    assert front_with_waste(demands, (2, 2), [1, 1], [0, 0], 0, 0, rows=2) == -1


@pytest.mark.small
def test_all_fit():
    """Whatever the limit, and as many as there may be."""
    assert front([(1, 10**12)] * 62, (62, 10**14), limit=0) == [((62, 62 * 10**12), 2**62 - 1)]


@pytest.mark.small
def test_numbers_as_large_as_they_get():
    demands = [(2**61, 2**62 - 1), (2**62, 1), (2**61, 0), (2**61, 2**62)]
    assert front(demands, (2**62, 2**62)) == [
        ((2**62, 2**62), 0b1100),
    ]
    assert front(demands[:3], (2**62, 2**62)) == [((2**62, 2**62 - 1), 0b101)]


@pytest.mark.small
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4))
def test_dominates(pairs):
    a, b = zip(*pairs, strict=True)
    assert pareto.dominates(np.array(a), np.array(b)) == naive.dominates(a, b)


@pytest.mark.small
@given(
    st.integers(1, 4).flatmap(
        lambda R: st.tuples(
            st.lists(st.tuples(*[st.integers(0, 5)] * R), max_size=6), st.tuples(*[st.integers(0, 2)] * R)
        )
    )
)
def test_hypervolume(case):
    points, reference = case
    assert pareto.hypervolume(table(points, len(reference)), reference) == naive.hypervolume(points, reference)


@pytest.mark.small
def test_hypervolume_by_hand():
    assert pareto.hypervolume(np.array([(100, 20), (80, 90)]), (0, 0)) == 80 * 90 + 20 * 20
    assert pareto.hypervolume(np.array([(10**18,) * 5]), (0,) * 5) == 10**90
    assert pareto.hypervolume(np.array([(0.5, 1.0)]), (0.0, 0.5)) == 0.25
    assert pareto.hypervolume(np.empty((0, 3)), (0, 0, 0)) == 0
