"""Sets of places by what is asked there: no job is struck out that asks for less, and most are that ask for more."""

import numpy as np
import pytest

from forebay.algorithms.queues.thresholds import (
    MOST,
    NOWHERE,
    WORD,
    choose_bounds,
    enter,
    leave,
    next_in,
    put_within,
    strike_out,
    thresholds_in,
)
from twins.thresholds import ask_for_as_much, ask_for_no_more

COLUMNS = np.array([2, 0, 1, 3])


def made(seed, n_places, n_amounts):
    """Rows of random demands, and their sets."""
    rng = np.random.default_rng(seed)
    rows = rng.choice([0, 1, 2, 5, 8, 100, 10**12], (n_places, MOST)) * rng.integers(1, 3, (n_places, MOST))
    sets = thresholds_in(np.full(100 * n_places, 7), n_places, n_amounts)
    choose_bounds(sets, rows[: n_places // 2], COLUMNS)
    for at in range(n_places):
        enter(sets, at, rows[at], COLUMNS)
    return rng, rows[:, COLUMNS[:n_amounts]], sets


def places(words):
    """The places of a set."""
    found, at = [], next_in(words, 0)
    while at < NOWHERE:
        found.append(int(at))
        at = next_in(words, at + 1)
    return found


@pytest.mark.small
@pytest.mark.parametrize(("seed", "n_amounts"), [(1, 1), (2, 2), (3, 3), (4, 4)])
def test_struck_out_are_some_of_those_who_ask_for_as_much(seed, n_amounts):
    rng, asked, sets = made(seed, 200, n_amounts)
    words = sets.rows[0].copy()
    assert places(words) == list(range(200))
    for _ in range(10):
        least, before = np.zeros(MOST, np.int64), places(words)
        least[:n_amounts] = asked[rng.integers(200)]
        strike_out(sets, words, 0, least)
        gone = set(before) - set(places(words))
        assert gone <= ask_for_as_much(asked, least[:n_amounts])
    strike_out(sets, words, WORD + 3, np.zeros(MOST, np.int64))
    assert set(places(words)) <= set(range(WORD))
    strike_out(sets, words, 0, np.zeros(MOST, np.int64))
    assert places(words) == []


@pytest.mark.small
@pytest.mark.parametrize("seed", range(4))
def test_nobody_who_fits_is_missing(seed):
    _, asked, sets = made(seed, 300, 3)
    free, words = np.array([5, 16]), np.empty(sets.rows.shape[1], np.int64)
    leave(sets, 7)
    put_within(sets, words, 1, free)
    assert ask_for_no_more(asked[:, 1:], free) - {7} <= set(places(words)) < set(range(300))


@pytest.mark.small
def test_without_room_there_are_no_sets():
    assert thresholds_in(np.zeros(10, np.int64), 2 * WORD, 2).rows.shape == (1, 0)
