"""Generators for compiled code. Numba holds each that it was handed for good, 3 kB a run, so they are used again."""

from functools import cache

import numpy as np

_spare: list[np.random.Generator] = []


@cache
def unused() -> np.random.Generator:
    """Handed where nothing is drawn."""
    return np.random.default_rng(0)


def twin_of(like: np.random.Generator, made: np.random.Generator | None = None) -> np.random.Generator:
    """A Generator, or one that was made before, that draws what `like` would."""
    made = np.random.default_rng(0) if made is None else made
    made.bit_generator.state = like.bit_generator.state
    return made


def lend(like: np.random.Generator) -> np.random.Generator:
    """One for compiled code that draws what `like` would; `take_back` has it when it is no longer needed."""
    try:
        return twin_of(like, _spare.pop())  # not tested before: another thread may take the last
    except IndexError:
        return twin_of(like)


def take_back(lent: np.random.Generator) -> None:
    """Nothing is drawn from it any more."""
    _spare.append(lent)
