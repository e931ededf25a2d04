"""The genetic search against its twin, number by number, and against every selection there is."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases.chunks import chunks
from forebay.algorithms.search import genetic
from forebay.core.stopping import NO_CLOCK
from twins import genetic as naive
from twins.genetic import Window

PAPER = {
    "generations": 500, "population": 20, "pairs": 1.0, "mutation": 0.0005, "middle": 0, "flips": 0.0, "coded": 0,
}  # fmt: skip
CQSIM = {**PAPER, "generations": 50, "mutation": 0.0, "middle": 1, "flips": 0.05, "coded": 1}


def tables(window, settings):
    """A kernel's arguments up to the random numbers, and how many rows and columns its results have."""
    w, R = len(window.demands), len(window.room)
    arguments = (
        np.array(window.demands, np.int64).reshape(w, R),
        np.array(window.room, np.int64),
        np.array(window.waste, np.int64),
        np.array(window.small, np.int64),
        window.free_small,
        window.step,
        np.array([settings[name] for name in genetic.SETTINGS], float),
    )
    return arguments, max(settings["population"], 25), R - window.limits + (1 if window.waste else 0)


def rows(loads, sets, n):
    return [(tuple(point), bits) for point, bits in zip(loads[:n].tolist(), sets[:n].tolist(), strict=True)]


def evolve(window, settings, rng):
    arguments, m, K = tables(window, settings)
    loads, sets = np.full((m, K), 7, np.int64), np.full(m, 7, np.int64)  # whatever was there before
    return rows(loads, sets, genetic.evolve(*arguments, rng, loads, sets, NO_CLOCK))


def evolve_marked(window, settings, rng, marks):
    """The points after each of these generations, and the last front."""
    arguments, m, K = tables(window, settings)
    loads, sets = np.empty((m, K), np.int64), np.empty(m, np.int64)
    trace, counts = np.empty((len(marks), m, K), np.int64), np.zeros(len(marks), np.int64)
    n = genetic.evolve(*arguments, rng, loads, sets, NO_CLOCK, np.array(marks, np.int64), trace, counts)
    points = [[tuple(point) for point in trace[k, : counts[k]].tolist()] for k in range(len(marks))]
    return points, rows(loads, sets, n)


def random_window(rng, most, R=None):
    """Few distinct demands, zeros among them, some larger than the room; some windows with waste."""
    w, R, top = rng.randint(0, most), R or rng.randint(1, 4), rng.choice((1, 2, 5, 12, 1000))
    demands = [tuple(rng.randint(0, top) for _ in range(R)) for _ in range(w)]
    room = tuple(rng.randint(0, max(1, top * w * 2 // 5)) for _ in range(R))
    if rng.random() < 0.6:
        return Window(demands, room)
    waste, small = (tuple(rng.randint(0, top) for _ in range(w)) for _ in range(2))
    return Window(demands, room, waste, small, rng.randint(0, top * w // 2), rng.randint(0, 3))


def random_settings(rng, generations):
    return {
        "generations": rng.randint(0, generations),
        "population": rng.choice((1, 2, 5, 8, 20)),
        "pairs": rng.choice((0.0, 0.5, 1.0, 1.0)),
        "mutation": rng.choice((0.0, 0.0005, 0.05, 0.3, 1.0)),
        "middle": rng.randint(0, 1),
        "flips": rng.choice((0.0, 0.05, 0.4)),
        "coded": int(rng.random() < 0.2),
    }


def check_twin(window, settings, seed):
    """Every generation's front, the last one's selections, and how many random numbers were drawn."""
    ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    marks = list(range(settings["generations"] + 2))
    points, last = evolve_marked(window, settings, ours, marks)
    fronts, expected = naive.evolve_marked(window, settings, theirs, marks)
    assert points == [[point for point, _ in front] for front in fronts]
    assert last == expected
    assert ours.random() == theirs.random()


def check_sound(window, found):
    """Selections that fit, with the objectives they have, none of which dominates another, largest first."""
    assert found
    for point, bits in found:
        chosen = tuple(bits >> i & 1 for i in range(len(window.demands)))
        assert bits < 1 << len(chosen)
        assert window.fits(chosen)
        assert window.point(chosen) == point
        assert not any(naive.dominates(other, point) for other, _ in found)
    points = [point for point, _ in found]
    assert points == sorted(set(points), reverse=True)


def fits_together(window):
    """Whether all jobs do that fit alone: then they are the answer, even if fewer would waste less."""
    alone = [i for i in range(len(window.demands)) if window.fits(window.only([i]))]
    return window.fits(window.only(alone))


def check_against_all(window, found):
    """Nothing better than there is."""
    if not fits_together(window):
        everything = naive.pareto(window)
        for point, _ in found:
            assert not any(naive.dominates(point, other) for other, _ in everything)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(20))
def test_as_the_twin(seed):
    rng = random.Random(seed)
    check_twin(random_window(rng, 9), random_settings(rng, 12), seed)


@pytest.mark.parametrize("seed", chunks(80, 420)[20:])
def test_as_the_twin_in_larger_windows(seed):
    rng = random.Random(seed)
    check_twin(random_window(rng, rng.choice((5, 12, 25, 62))), random_settings(rng, 40), seed)


@pytest.mark.parametrize("settings", [PAPER, CQSIM], ids=["paper", "cqsim"])
@pytest.mark.parametrize("seed", range(4))
def test_as_the_twin_with_all_generations(settings, seed):
    rng = random.Random(seed)
    demands = [(rng.randint(1, 1000), rng.randint(0, 5) * 10**12) for _ in range(20)]
    check_twin(Window(demands, (4000, 20 * 10**12)), settings, seed)


@pytest.mark.small
def test_the_papers_example():
    window = Window([(80, 20), (10, 85), (40, 5), (10, 0), (20, 0)], (100, 100))
    expected = [((100, 20), 0b10001), ((80, 90), 0b11110)]
    assert naive.pareto(window) == expected
    assert evolve(window, {**PAPER, "generations": 100}, np.random.default_rng(1)) == expected


@pytest.mark.small
@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (Window([], (3,)), [((0,), 0)]),
        (Window([(4,), (5,)], (3,)), [((0,), 0)]),  # none fits
        (Window([(4,), (3,), (5,)], (3,)), [((3,), 0b010)]),  # one does
        (Window([(3, 1)], (3, 3)), [((3, 1), 1)]),
        (Window([(1, 2), (9, 9), (2, 0), (0, 1)], (3, 3)), [((3, 3), 0b1101)]),  # all but one together
        (Window([(0, 0), (0, 0)], (0, 0)), [((0, 0), 0b11)]),
        (Window([(2,), (2,), (2,)], (4,)), [((4,), 0b011)]),  # equal jobs: the first ones
        (Window([(4,), (2,), (2,)], (4,)), [((4,), 0b001)]),
        (Window([(1,), (0,), (1,)], (1,)), [((1,), 0b011)]),  # what needs nothing makes no difference
        (Window([(1,), (1,)], (1,), (5, 3), (0, 0)), [((1, -3), 0b10), ((0, 0), 0)]),
        (Window([(1,), (1,)], (2,), (5, 3), (1, 1), 1, 10), [((2, -18), 0b11)]),  # together, whatever they waste
        (Window([(1,), (1,), (2,)], (2,), (0, 0, 0), (1, 1, 1), 1, 4), [((2, 0), 0b100)]),  # one small unit too few
    ],
)
def test_by_hand(window, expected):
    settings = {**PAPER, "generations": 30}
    assert evolve(window, settings, np.random.default_rng(2)) == expected
    assert naive.evolve(window, settings, np.random.default_rng(2)) == expected
    check_sound(window, expected)


@pytest.mark.small
def test_nothing_is_drawn_if_all_fit():
    rng = np.random.default_rng(5)
    evolve(Window([(1, 1), (2, 2), (9, 9)], (5, 5)), PAPER, rng)
    assert rng.random() == np.random.default_rng(5).random()


NUMBERS = st.integers(0, 12)
WINDOWS = st.integers(1, 3).flatmap(
    lambda R: st.builds(
        lambda jobs, room, wasteful, free, step: Window(
            [row for row, _, _ in jobs],
            room,
            tuple(waste for _, waste, _ in jobs) if wasteful else (),
            tuple(small for _, _, small in jobs) if wasteful else (),
            free,
            step,
        ),
        st.lists(st.tuples(st.tuples(*[NUMBERS] * R), NUMBERS, NUMBERS), max_size=6),
        st.tuples(*[st.integers(0, 30)] * R),
        st.booleans(),
        NUMBERS,
        st.integers(0, 3),
    )
)


@pytest.mark.small
@pytest.mark.parametrize("seed", range(12))
def test_mere_limits_do_not_count(seed):
    rng = random.Random(f"limits {seed}")
    window = random_window(rng, 8, rng.randint(2, 4))
    window = replace(window, limits=rng.randint(1, len(window.room) - 1))
    settings = random_settings(rng, 12)
    check_twin(window, settings, seed)
    check_sound(window, evolve(window, settings, np.random.default_rng(seed)))


@pytest.mark.small
@given(WINDOWS, st.integers(0, 2**32))
def test_what_is_found_is_there(window, seed):
    found = evolve(window, {**PAPER, "generations": 3, "population": 6, "mutation": 0.1}, np.random.default_rng(seed))
    check_sound(window, found)
    check_against_all(window, found)


@pytest.mark.parametrize("seed", chunks(15, 60))
def test_what_is_found_in_larger_windows_is_there(seed):
    rng = random.Random(seed)
    window = random_window(rng, 11)
    found = evolve(window, rng.choice((PAPER, CQSIM)), np.random.default_rng(seed))
    check_sound(window, found)
    check_against_all(window, found)


def test_tiny_windows_are_solved():
    """All of them, by chance: nothing says that a search must find everything."""
    rng, solved, n = random.Random(1), 0, 0
    while n < 300:
        window = random_window(rng, 5, rng.choice((2, 3)))
        if not fits_together(window):
            n += 1
            found = evolve(window, PAPER, np.random.default_rng(n))
            solved += [point for point, _ in found] == [point for point, _ in naive.pareto(window)]
    assert solved == n


@pytest.mark.small
def test_a_seed_decides():
    rng = random.Random(8)
    window = Window([(rng.randint(1, 99), rng.randint(1, 99)) for _ in range(20)], (300, 300))
    settings = {**PAPER, "generations": 20}
    fronts = [evolve(window, settings, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert fronts[0] == fronts[1] != fronts[2]


@pytest.mark.small
def test_more_jobs_than_places():
    """A population of two: one that is taken from the front at random, if it must be."""
    window = Window([(k, 62 - k) for k in range(62)], (62, 62))
    found = evolve(window, {**PAPER, "generations": 10, "population": 2}, np.random.default_rng(3))
    check_sound(window, found)
    assert len(found) <= 2


@pytest.mark.small
def test_numbers_as_large_as_they_get():
    """Sixty-two jobs, each of which alone takes nearly all there is; the last one has the highest bit."""
    top = 2**62 - 1
    window = Window([(top - 1, top - 1)] * 61 + [(top, top)], (top, top))
    found = evolve(window, {**PAPER, "generations": 5, "population": 62}, np.random.default_rng(4))
    assert found == [((top, top), 1 << 61)]


@pytest.mark.small
@pytest.mark.parametrize(
    ("genes", "expected"), [(1, (1, 10)), (5, (4, 10)), (9, (50, 11)), (10, (50, 21)), (62, (50, 25))]
)
def test_sizes_as_coded(genes, expected):
    settings = np.array([CQSIM[name] for name in genetic.SETTINGS], float)
    assert genetic.sizes(settings, genes) == naive.sizes(CQSIM, genes) == expected
    settings[genetic.CODED] = 0.0
    assert genetic.sizes(settings, genes) == naive.sizes({**CQSIM, "coded": 0}, genes) == (50, 20)


@pytest.mark.small
@pytest.mark.parametrize("chance", [0.0, 0.01, 0.2, 1.0])
def test_genes_mutate_by_chance(chance):
    """Every gene as often as every other: within five standard deviations of 500 coins."""
    rng, flips, gap = np.random.default_rng(6), np.zeros(8), genetic._gap(chance, np.random.default_rng(7))
    for _ in range(10):
        children = np.zeros(50, np.int64)
        gap = genetic._mutate(children, 50, 8, chance, gap, rng)
        flips += [(children >> k & 1).sum() for k in range(8)]
    assert np.abs(flips - 500 * chance).max() <= 5 * (500 * chance * (1 - chance)) ** 0.5


@pytest.mark.small
def test_marks():
    """Generation 0 is the first population; there is nothing new after the last one."""
    rng = random.Random(8)
    window = Window([(rng.randint(1, 99), rng.randint(1, 99)) for _ in range(20)], (300, 300))
    settings = {**PAPER, "generations": 15}
    points, last = evolve_marked(window, settings, np.random.default_rng(1), [0, 0, 5, 15, 99])
    assert (
        points[0]
        == points[1]
        == [point for point, _ in naive.evolve(window, {**settings, "generations": 0}, np.random.default_rng(1))]
    )
    assert points[3] == points[4] == [point for point, _ in last]
    assert last == evolve(window, settings, np.random.default_rng(1))
