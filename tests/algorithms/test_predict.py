"""Keys, memories and corrections against dicts, lists and a table of steps."""

import math
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.algorithms import predict
from twins.predict import STEPS, mean

pytestmark = pytest.mark.small


def put(keys, key):
    """The place of a key, which is noted there."""
    row = predict.row_of(keys, *key)
    keys[:, row] = key
    return row


@pytest.mark.parametrize("seed", range(6))
def test_keys_against_a_dict(seed):
    """A table that is full but for one place, of keys that nearly all collide."""
    rng = random.Random(seed)
    n = rng.choice((2, 7, 30))
    keys, places = np.zeros((3, n), np.int64), {}
    for _ in range(200):
        known = list(places)
        if len(places) < n - 1 and rng.random() < 0.5:
            key = (rng.randint(1, 4), rng.choice((0, n, 2 * n, 10**15)), rng.choice((0, n, rng.randint(0, 3))))
        elif known:
            key = rng.choice(known)
        else:
            continue
        row = put(keys, key)
        assert places.setdefault(key, row) == row
    assert len(set(places.values())) == len(places) > 0


def test_keys_go_on_at_the_front():
    keys = np.zeros((3, 5), np.int64)
    # 31 x 31 is 1 more than a multiple of 5: the key (4, 0, 0) belongs in the last place, and so do those it meets
    rows = [put(keys, key) for key in ((4, 0, 0), (4, 0, 5), (4, 5, 0), (9, 0, 0))]
    assert rows == [4, 0, 1, 2]
    assert [predict.row_of(keys, *key) for key in ((9, 0, 0), (4, 0, 5))] == [2, 0]
    assert predict.row_of(keys, 4, 5, 5) == 3  # not there yet: the blank place behind them


def test_each_of_the_three_tells_keys_apart():
    keys = np.zeros((3, 16), np.int64)
    together = [(a, b, c) for a in (1, 2) for b in (0, 16) for c in (0, 16)]
    assert len({put(keys, key) for key in together}) == 8


@pytest.mark.parametrize("window", [1, 2, 8])
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0, 3.0])
def test_memory_against_lists(window, weight):
    """The last `window` of each row count, however many there were."""
    rng = random.Random(f"{window} {weight}")
    last, counts, noted = np.zeros((window, 3)), np.zeros(3, np.int64), defaultdict(list)
    for _ in range(60):
        row, seconds, asked = rng.randrange(2), rng.uniform(0, 1e5), rng.uniform(0, 1e5)
        found = predict.recall(last, counts, row, asked, weight)
        assert found == pytest.approx(mean(asked, weight, noted[row][-window:]), rel=1e-12)
        predict.remember(last, counts, row, seconds)
        noted[row].append(seconds)
    assert counts.tolist() == [len(noted[0]), len(noted[1]), 0]
    assert predict.recall(last, counts, 2, 77.0, weight) == 77.0  # nothing was ever noted there


def test_memory_by_hand():
    last, counts = np.zeros((2, 1)), np.zeros(1, np.int64)
    assert predict.recall(last, counts, 0, 90.0, 1.0) == 90.0
    for seconds, expected in (
        (10.0, 50.0),
        (20.0, 40.0),
        (40.0, 50.0),
    ):  # (90 + 10) / 2; (90 + 10 + 20) / 3; not the 10
        predict.remember(last, counts, 0, seconds)
        assert predict.recall(last, counts, 0, 90.0, 1.0) == expected


def test_a_walltime_without_end():
    last, counts = np.zeros((2, 1)), np.zeros(1, np.int64)
    assert predict.recall(last, counts, 0, math.inf, 0.0) == math.inf
    predict.remember(last, counts, 0, 30.0)
    assert predict.recall(last, counts, 0, math.inf, 0.0) == 30.0  # it does not count, so it is no 0 x inf
    assert predict.recall(last, counts, 0, math.inf, 0.5) == math.inf


@pytest.mark.parametrize(("place", "step"), list(enumerate(STEPS)))
def test_each_step_of_a_correction(place, step):
    """From where the step before has been used up, until just before its own end."""
    guess, before = 100.0, STEPS[place - 1] if place else 0.0
    for elapsed in (guess + before, guess + (before + step) / 2, math.nextafter(guess + step, 0.0)):
        assert predict.corrected(guess, elapsed) == guess + step


def test_beyond_the_last_step_it_goes_on_from_now():
    for elapsed in (100.0 + STEPS[-1], 1e9):
        assert predict.corrected(100.0, elapsed) == elapsed + STEPS[-1]


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_a_correction_lies_ahead(guess, beyond):
    elapsed = guess + beyond
    found = predict.corrected(guess, elapsed)
    assert found > elapsed
    ahead = [guess + step for step in STEPS if guess + step > elapsed]
    assert found == (min(ahead) if ahead else elapsed + STEPS[-1])
