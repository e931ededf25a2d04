"""The knapsack against every set there is, the paper's recursion, and OR-Tools."""

import random
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.chunks import chunks
from forebay.algorithms.search import knapsack
from twins import knapsack as naive

EXACT = {
    "ones": lambda rng, row: 1.0,
    "product": lambda rng, row: float(np.prod(row)),
    "few": lambda rng, row: 0.25 * rng.randint(0, 4),
}
"""Values whose sums are exact: ties are ties in whatever order they are added."""


def arrays(demands, values, capacity):
    table = np.array(demands, np.int64).reshape(len(values), len(capacity))
    return table, np.array(values, float), np.array(capacity, np.int64)


def by_table(demands, values, capacity, units):
    chosen = np.full(len(values), 7, np.int8)  # whatever was there before
    value = knapsack.choose_by_table(*arrays(demands, values, capacity), np.array(units, np.int64), chosen)
    return value, chosen.tolist()


def by_list(demands, values, capacity, limit=100_000):
    chosen = np.full(len(values), 7, np.int8)
    value = knapsack.choose_by_list(*arrays(demands, values, capacity), limit, chosen)
    return value, chosen.tolist()


def choose(demands, values, capacity, units, limit=1_000_000):
    chosen = np.full(len(values), 7, np.int8)
    value, exact = knapsack.choose(*arrays(demands, values, capacity), np.array(units, np.int64), limit, chosen)
    return value, chosen.tolist(), exact


def used(demands, chosen, r):
    return sum(row[r] for row, took in zip(demands, chosen, strict=True) if took)


def random_case(rng, most, kind):
    """Few distinct demands, zeros among them, some larger than the room; room from none to nearly enough."""
    n, R, top = rng.randint(0, most), rng.choice((1, 2)), rng.choice((1, 2, 5, 12))
    demands = [tuple(rng.randint(0, top) for _ in range(R)) for _ in range(n)]
    capacity = [rng.randint(0, max(1, top * n * 2 // 3)) for _ in range(R)]
    return demands, [EXACT[kind](rng, row) for row in demands], capacity


def check_all_ways(demands, values, capacity):
    """Value and set, ties too."""
    expected, ones = naive.by_enumeration(demands, values, capacity), [1] * len(capacity)
    assert by_table(demands, values, capacity, ones) == expected
    assert by_list(demands, values, capacity) == expected
    assert choose(demands, values, capacity, ones) == (*expected, True)
    assert naive.by_recursion(demands, values, capacity, ones) == expected


@pytest.mark.small
@pytest.mark.parametrize("kind", EXACT)
def test_few_sets(kind):
    rng = random.Random(3)
    for _ in range(40):
        check_all_ways(*random_case(rng, 6, kind))


def test_all_sets_of_up_to_twelve():
    rng = random.Random(5)
    for k in range(2000):
        check_all_ways(*random_case(rng, 12, list(EXACT)[k % len(EXACT)]))


@pytest.mark.small
@pytest.mark.parametrize(
    ("demands", "values", "capacity", "chosen"),
    [
        ([], [], [3], []),
        ([(2,), (2,), (2,)], [1, 1, 1], [4], [0, 1, 1]),  # equal items: the last ones
        ([(4,), (2,), (2,)], [2, 1, 1], [4], [0, 1, 1]),  # one or two: the one that has the last item
        ([(2,), (2,), (4,)], [1, 1, 2], [4], [0, 0, 1]),
        ([(1,), (3,), (2,), (2,)], [1, 3, 2, 2], [4], [0, 0, 1, 1]),
        ([(3,), (3,)], [0, 0], [3], [0, 1]),  # worth nothing, and taken all the same
        ([(0,), (1,), (0,)], [0, 5, 1], [0], [1, 0, 1]),  # no room
        ([(9,), (1,)], [100, 1], [8], [0, 1]),  # larger than the room
        ([(1, 9), (1, 1), (9, 1)], [5, 1, 5], [8, 8], [0, 1, 0]),
        ([(2, 1), (1, 2), (2, 2)], [3, 3, 5], [3, 3], [1, 1, 0]),
        ([(0, 3), (3, 0), (3, 3)], [2, 2, 4], [3, 3], [0, 0, 1]),
        ([(3, 9), (3, 9)], [1, 1], [3, 100], [0, 1]),  # one dimension is no obstacle
    ],
)
def test_by_hand(demands, values, capacity, chosen):
    assert by_table(demands, values, capacity, [1] * len(capacity))[1] == chosen
    check_all_ways(demands, values, capacity)


@pytest.mark.small
@given(st.integers(0, 10**15), st.integers(1, 10**12))
def test_units(demand, unit):
    assert knapsack.in_units(demand, unit) == naive.in_units(demand, unit)


@pytest.mark.small
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5), st.integers(0, 60), st.integers(1, 9))
def test_common_units(demands, room, scale):
    demands, capacity = [(scale * a, scale * b) for a, b in demands], [scale * room, scale * 60]
    table, _, capacity = arrays(demands, [0] * len(demands), capacity)
    for r in range(2):
        assert knapsack.common_unit(table, capacity, r) == naive.common_unit(demands, capacity.tolist(), r)


CASES = st.integers(1, 2).flatmap(
    lambda R: st.tuples(
        st.lists(st.tuples(st.tuples(*[st.integers(0, 30)] * R), st.floats(0, 1e6)), max_size=6),
        st.tuples(*[st.integers(0, 60)] * R),
        st.tuples(*[st.integers(1, 7)] * R),
    )
)


@pytest.mark.small
@given(CASES)
def test_rounding_never_takes_too_much(case):
    """In units as in the paper's recursion, to the last bit, and within what there really is."""
    items, capacity, units = case
    demands, values = [row for row, _ in items], [value for _, value in items]
    value, chosen = by_table(demands, values, capacity, units)
    assert (value, chosen) == naive.by_recursion(demands, values, capacity, units)
    for r, have in enumerate(capacity):
        assert used(demands, chosen, r) <= have
    assert value <= naive.by_enumeration(demands, values, capacity)[0]


@pytest.mark.small
@given(CASES)
def test_table_and_list_choose_the_same(case):
    """Whatever the values: sums that differ in their last bits only are told apart alike."""
    items, capacity, _ = case
    demands, values = [row for row, _ in items], [value for _, value in items]
    table = by_table(demands, values, capacity, [1] * len(capacity))
    assert by_list(demands, values, capacity) == table
    assert naive.by_recursion(demands, values, capacity, [1] * len(capacity)) == table
    assert table[0] == naive.by_enumeration(demands, values, capacity)[0]


@pytest.mark.parametrize("seed", chunks(20, 60))
def test_many_items(seed):
    """Sums of 0.1 and 0.3 round differently in every order. More items than bits in a word."""
    rng = random.Random(seed)
    R, n = 1 + seed % 2, rng.randint(13, 80)
    demands = [tuple(rng.randint(0, 20) for _ in range(R)) for _ in range(n)]
    values = [rng.choice((0.1, 0.3, 0.7, rng.random())) for _ in range(n)]
    capacity = [rng.randint(5, 60) for _ in range(R)]
    expected = naive.by_recursion(demands, values, capacity, [1] * R)
    assert by_table(demands, values, capacity, [1] * R) == expected
    assert by_list(demands, values, capacity, 1_000_000) == expected
    assert choose(demands, values, capacity, [1] * R) == (*expected, True)


@pytest.mark.small
def test_lists_stop_at_their_limit():
    """Values equal to demands: no bound rules anything out, and 2**12 sets have as many sums."""
    demands = [(1 << k,) for k in range(12)]
    values = [float(row[0]) for row in demands]
    assert by_list(demands, values, [4000], 100) == (-1.0, [0] * 12)
    assert by_list(demands, values, [4000], 0) == (-1.0, [0] * 12)
    assert by_list(demands, values, [5000], 0) == (4095.0, [1] * 12)  # room for all: no list


@pytest.mark.small
def test_choose_goes_over_to_tables():
    """Too many states for lists, then a table without rounding; past the limit one in the units given."""
    demands = [(3 * k,) for k in range(5, 17)]
    values = [float(row[0]) for row in demands]
    expected = naive.by_recursion(demands, values, [200], [3])
    assert choose(demands, values, [200], [50], limit=3000) == (*expected, True)
    rough = naive.by_recursion(demands, values, [200], [50])
    assert choose(demands, values, [200], [50], limit=10) == (*rough, False)
    assert rough[0] < expected[0]


@pytest.mark.small
def test_numbers_as_large_as_they_get():
    demands = [(2**61, 2**62 - 1), (2**62, 1), (2**61, 0), (2**61, 2**62)]
    values, capacity = [1.0] * 4, [2**62, 2**62]
    expected = naive.by_enumeration(demands, values, capacity)
    assert by_list(demands, values, capacity) == expected
    assert choose(demands, values, capacity, [2**60] * 2) == (*expected, True)


@pytest.mark.parametrize("n", [15, 25, 40])
@pytest.mark.parametrize("kind", ["product", "random"])
def test_raw_bytes_as_or_tools_solves_them(n, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its bindings warn of themselves
        solver = pytest.importorskip(
            "ortools.algorithms.python.knapsack_solver", reason="OR-Tools is not installed: a second opinion only"
        )
    rng = random.Random(n)
    demands = [(rng.randint(1, 4096), rng.randint(10**9, 10**12)) for _ in range(n)]
    values = [a * (b // 10**9) if kind == "product" else rng.randint(1, 10**6) for a, b in demands]
    capacity = [sum(row[r] for row in demands) * 2 // 5 for r in range(2)]
    other = solver.KnapsackSolver(solver.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER, "twin")
    other.init(values, [list(column) for column in zip(*demands, strict=True)], capacity)
    values = [float(value) for value in values]
    value, chosen = by_list(demands, values, capacity)
    assert value == other.solve()
    assert choose(demands, values, capacity, [64, 10**10], 10_000_000) == (value, chosen, True)
    assert all(used(demands, chosen, r) <= capacity[r] for r in range(2))
