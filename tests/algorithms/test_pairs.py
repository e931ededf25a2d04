"""What is kept for pairs, against a dictionary."""

import random

import pytest

from forebay.algorithms.pairs import place_of, room_for


@pytest.mark.small
@pytest.mark.parametrize("n", [1, 2, 5, 63, 64, 10_000, 3_000_000_000])
def test_it_holds_what_a_dictionary_does(n):
    rng, known = random.Random(n), {}
    keys, numbers = room_for(40)
    for number in range(1, 200):
        step = number * (n + 1) % (n * n) + 1  # as neighbours in an order come
        key = rng.choice([step, rng.randrange(1, n * n + 1), *known])
        at = place_of(keys, key)
        assert (keys[at] == key, numbers[at]) == (key in known, known.get(key, 0))
        if key in known or len(known) < 40:
            keys[at], numbers[at], known[key] = key, number, number
    assert len(keys) >= 2 * len(known)
