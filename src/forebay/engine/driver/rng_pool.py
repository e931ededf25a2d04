"""Generators for compiled code. Numba holds each that it was handed for good, 3 kB a run, so they are used again."""

from functools import cache

import numpy as np

_spare: list[np.random.Generator] = []


@cache
def unused() -> np.random.Generator:
    """Handed where nothing is drawn."""
    return np.random.default_rng(0)


def lend(like: np.random.Generator) -> np.random.Generator:
    """A Generator for compiled code that draws what `like` would; whoever is done with it calls `take_back`."""
    try:
        lent = _spare.pop()  # not tested before: another thread may take the last
    except IndexError:
        lent = np.random.default_rng(0)
    lent.bit_generator.state = like.bit_generator.state
    return lent


def take_back(lent: np.random.Generator) -> None:
    """Nobody draws from it any more."""
    _spare.append(lent)
